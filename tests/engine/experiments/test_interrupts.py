"""Interrupts that Python or a library drops."""

import gc
import signal
import sys
import threading

import pytest

from rff_engine.experiments.running.interrupts import Interrupts


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.mark.slow
def test_an_interrupt_in_a_callback_of_the_garbage_collector_is_noted(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)

    def interrupt(phase, info):
        gc.callbacks.remove(interrupt)
        signal.raise_signal(signal.SIGINT)

    with Interrupts() as interrupts:
        interrupts.check()
        gc.callbacks.append(interrupt)
        gc.collect()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert not reported


def test_an_error_in_place_of_an_interrupt_leaves_as_an_interrupt():
    with pytest.raises(KeyboardInterrupt), Interrupts():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("a library's own") from None


def test_errors_pass_without_an_interrupt():
    with pytest.raises(RuntimeError, match=r"^other$"), Interrupts():
        raise RuntimeError("other")


def test_other_dropped_exceptions_are_reported(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: reported.append(dropped.exc_type))

    class Broken:
        def __del__(self):
            raise ValueError("broken")

    with Interrupts():
        del (broken := [Broken()])[0]
    assert not broken and reported == [ValueError]


def test_an_ignored_signal_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        interrupts.check()
    assert signal.signal(signal.SIGINT, signal.default_int_handler) is signal.SIG_IGN


def test_threads_set_no_handlers():
    handlers = []

    def enter():
        with Interrupts():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
