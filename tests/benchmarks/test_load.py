"""The load benchmark: its tabs read messages as a browser does, and it computes growth and times correctly."""

import os
import random
import shutil

import numpy as np
import psutil
import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import load
from benchmarks.tab import LostError, Tab, widget
from tests import loops

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def element(kind: str, **fields) -> Element:
    shown = Element()
    getattr(shown, kind).SetInParent()
    proto = getattr(shown, kind)
    for name, value in ({"id": "$$ID-0123abc-its key"} | fields).items():
        if isinstance(value, list):
            getattr(proto, name).extend(value)
        else:
            setattr(proto, name, value)
    return shown


CONTROLS = {
    "slider": element("slider", min=1, max=8, step=1, default=[5.0], query_param_key="landmarks"),
    "scale": element("slider", type=2, min=0, max=2, step=1, default=[1.0], options=["0.1", "1", "10"]),
    "one": element("selectbox", default=0, options=["moons", "circles"]),
    "pills": element("multiselect", default=[0, 1], options=["SVM", "RFF", "PBRFF"]),
    "switch": element("checkbox", default=True),
    "number": element("number_input", has_min=True, has_max=True, min=0, max=0.3, step=0.1, default=0.1),
}


def message(path=None, run="", fragment="", **content) -> ForwardMsg:
    made = ForwardMsg(**content)
    made.metadata.delta_path.extend(path or [])
    if run:
        made.metadata.run.script_run_id = run
        made.metadata.run.fragment_ids.extend([fragment] if fragment else [])
    return made


def show(path, shown: Element, fragment="") -> ForwardMsg:
    return message(path, delta={"new_element": shown, "fragment_id": fragment})


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_control_changes_to_another_allowed_value(kind):
    control, choices = widget(CONTROLS[kind]), random.Random(0)
    value = control.default
    seen = set()
    for _ in range(50):
        before, value = value, control.another(value, choices)
        assert value != before
        assert set(value) <= set(control.allowed) and value if control.several else value in control.allowed
        assert control.state(value).id == "$$ID-0123abc-its key"
        seen.add(value)
    assert control.several or seen == set(control.allowed)
    assert control.name == "its key"


def test_ends_of_a_slider_are_among_its_values():
    assert [value for (value,) in widget(CONTROLS["slider"]).allowed] == list(range(1, 9))
    assert widget(CONTROLS["number"]).allowed == (0.0, 0.1, 0.2, 0.3)
    assert widget(CONTROLS["scale"]).default == ("1",)


def test_an_element_without_another_value_is_no_control():
    assert widget(element("checkbox", disabled=True)) is None
    assert widget(element("number_input", step=1)) is None
    assert widget(Element(markdown={"body": "text"})) is None
    alone = widget(element("selectbox", default=0, options=["moons"]))
    assert alone.another("moons", random.Random(0)) is None


@pytest.fixture
def tab():
    return Tab("http://nowhere", "kernel?D=5", random.Random(0))


def test_a_tab_caches_messages_that_the_server_refers_to(tab):
    shown = show([0, 0], CONTROLS["one"])
    shown.hash, shown.metadata.cacheable = "abc", True
    tab.take(message(run="1", new_session={"config": {"max_cached_message_age": 2}}))
    tab.take(shown)
    tab.take(message([0, 1], ref_hash="abc"))
    tab.take(message(script_finished=0))
    assert [one.default for one in tab.widgets] == ["moons", "moons"]
    assert list(tab._request().rerun_script.cached_message_hashes) == ["abc"]
    assert not tab.faults
    for number in "2345":  # runs without the message
        tab.take(message(run=number, new_session={"config": {"max_cached_message_age": 2}}))
        tab.take(message(script_finished=0))
    assert not tab.widgets and not tab.values
    tab.take(message([0, 0], ref_hash="abc"))
    assert tab.faults


def test_a_run_of_a_fragment_keeps_the_rest_of_the_page(tab):
    tab.take(message(run="1", new_session={}))
    tab.take(show([0, 0], CONTROLS["one"]))
    tab.take(show([0, 1], CONTROLS["switch"], fragment="f"))
    tab.take(message(script_finished=0))
    tab.take(message(run="2", fragment="f", new_session={}))
    tab.take(message(script_finished=3))
    assert [one.field for one in tab.widgets] == ["string_value"]


def test_faults_are_distinguished_from_refusals(tab):
    tab.take(message(run="1", new_session={}))
    tab.take(show([0, 0], Element(alert={"body": "No such data set.", "format": 1})))
    tab.take(show([0, 1], Element(alert={"body": "Look for the minimum.", "format": 3})))
    assert not tab.faults and tab.refusals.total() == 1
    tab.take(show([0, 2], Element(alert={"body": "Internal error; see abc in the server's log.", "format": 1})))
    tab.take(show([0, 3], Element(exception={"type": "KeyError", "message": "x"})))
    tab.take(message(script_finished=1))
    assert len(tab.faults) == 3


def test_a_value_set_by_the_server_replaces_the_tabs(tab):
    tab.take(message(run="1", new_session={}))
    tab.take(show([0, 0], CONTROLS["slider"]))
    dictated = element("slider", min=1, max=8, step=1, default=[5.0], value=[3.0], set_value=True)
    tab.take(show([0, 0], dictated))
    assert list(tab.values.values()) == [(3.0,)]
    assert tab._request().rerun_script.query_string == "D=5"


def opened(*shown: str) -> Tab:
    """A tab whose page shows controls, by their names in the address."""
    tab = Tab("http://nowhere", "kernel", random.Random(0))
    tab.take(message(run="1", new_session={}))
    for place, name in enumerate(shown):
        fields = {"id": f"$$ID-0-{name}", "query_param_key": name, "default": 0, "options": ["a", "b"]}
        tab.take(show([0, place], element("selectbox", **fields)))
    tab.take(message(script_finished=0))
    tab.answered = tab.settings
    return tab


def test_a_setting_that_differs_after_reopening_is_named():
    lost, again = opened("data", "seed"), opened("data", "seed")
    assert load.changed_settings(lost, again) == []
    again.answered["seed"] = "b"
    (found,) = load.changed_settings(lost, again)
    assert found == {"setting": "seed", "before": "a", "after": "b", "while moving": []}
    assert [one["setting"] for one in load.changed_settings(lost, opened("data"))] == ["seed"]


def test_a_move_without_an_answer_counts_as_made_and_may_bring_controls():
    lost, again = opened("data", "seed"), opened("data", "nu")
    lost.moving = {"data": "b"}
    (found,) = load.changed_settings(lost, again)  # the move is in the link, and was not taken
    assert (found["setting"], found["before"], found["after"]) == ("data", "b", "a")
    again.answered["data"] = "b"
    assert load.changed_settings(lost, again) == []
    lost.answered = None  # its page has never been complete
    assert load.changed_settings(lost, again) == []


def test_growth_is_the_slope_of_the_second_half():
    minutes = np.arange(120) / 4
    grown = np.where(minutes < 15, 300 + 10 * minutes, 450 + (minutes - 15) * 2)
    slope, low, high = load.growth(minutes, grown)
    assert slope == pytest.approx(120) and low == pytest.approx(120) and high == pytest.approx(120)
    noisy = 300 + np.random.default_rng(0).normal(size=len(minutes))
    _, low, high = load.growth(minutes, noisy)
    assert low < 0 < high
    assert load.growth(minutes[:8], noisy[:8]) is None


def test_times_are_in_milliseconds():
    found = load.times([0.001 * i for i in range(101)])
    assert found == {"moves": 101, "median": 50, "p95": 95, "max": 100}
    assert load.times([]) == {"moves": 0}


class Reopened:
    """In place of a tab: it opens, and counts how many were made."""

    made = 0

    def __init__(self, server, page, choices):
        type(self).made += 1
        self.number, self.address, self.choices, self.answered = self.made, page, choices, None
        self.faults, self.refusals, self.polls, self.moving = [], {}, 0, {}

    async def __aenter__(self):
        self.answered = {}
        return self

    async def __aexit__(self, *_):
        pass


def test_a_session_that_loses_its_next_process_too_is_opened_again(monkeypatch):
    """As when processes are replaced one after the other: its time begins again with each loss."""
    monkeypatch.setattr(load, "Tab", Reopened)
    monkeypatch.setattr(load, "LONGEST_LOSS", 0.0)
    monkeypatch.setattr(Reopened, "made", 0)

    async def work(tab):
        if tab.number < 3:
            raise LostError("closed by the server")

    found = load.Load("http://127.0.0.1", psutil.Process(), load.parser().parse_args([]))
    found.killed = True
    loops.run(found.visit("kernel", random.Random(0), work))
    assert not found.record.errors and len(found.record.reopened) == 2


@pytest.mark.skipif(NGINX is None, reason="no nginx on this machine")
@pytest.mark.second("runs the load benchmark for about 20 seconds")
def test_sessions_of_a_killed_process_go_on_with_another_one(tmp_path):
    words = ["--sessions", "4", "--minutes", "0.2", "--soak", "0", "--warm-up", "0", "--processes", "2", "--kill"]
    asked = load.parser().parse_args(words)
    asked.pages, asked.kept, asked.output = ["kernel?width=2"], 1, tmp_path / "load.json"
    results = loops.apart(load.run, asked)
    found = results["load"]
    assert found["errors"] == {} and 1 <= found["reopened"]["moves"] <= 3
    assert found["reopened"]["with other settings"] == 0


@pytest.mark.browser
@pytest.mark.second("runs the load benchmark with two pages of a browser for about 20 seconds")
def test_sessions_and_browsers_have_no_error_and_leave_no_process(tmp_path):
    if shutil.which("chromium") is None:
        if "browser" in os.environ.get("RFF_TEST_REQUIRE", ""):
            pytest.fail("no Chromium on this machine")
        pytest.skip("no Chromium on this machine")
    words = ["--sessions", "2", "--minutes", "0.2", "--soak", "0.1", "--warm-up", "1", "--browsers", "2"]
    asked = load.parser().parse_args(words)
    asked.pages, asked.kept, asked.output = ["kernel", "your_data"], 1, tmp_path / "load.json"
    before = set(psutil.Process().children(recursive=True))
    results = loops.apart(load.run, asked)
    assert set(psutil.Process().children(recursive=True)) <= before  # a run of another test may have ended meanwhile
    for phase in ("warm-up", "load", "soak"):
        assert results[phase]["errors"] == {}
    assert results["load"]["moves"] > 0 and results["load"]["sessions"] == 2
    assert set(results["load"]["pages"]) == {"kernel", "your_data"}
    assert results["browsers"]["moves"] > 0 and 0 < results["browsers"]["median"] <= results["browsers"]["p95"]
    assert results["tracebacks in the log"] == 0
    assert all(results["memory in MB"][when]["rss"] > 0 for when in ("start", "peak", "end of load", "after"))
    assert (tmp_path / "load.csv").read_text().startswith("seconds,rss")
