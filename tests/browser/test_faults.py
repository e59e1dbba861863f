"""A server that is killed and restarted: pages reconnect, links open the same experiment, a run resumes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pandas as pd
import pytest
from conftest import settle, show_all, wait_until
from playwright.sync_api import expect

from pages.shared.server.runs import RunSettings
from rff_engine.studies.running.run import run_stored
from rff_engine.studies.running.store import Store

RUN = RunSettings("features", "breast", "quick", "published", 31, 2, ("svm", "rff", "pbrff", "okrff"))
RUN_PAGE = "real_data?preset=quick&split=published&repeats=2&seed=31"
VIEW_PAGE = "landmarks?data=xor&beta=2.51&D=37&landmarks=3&sigma=0.794&seed=5"


def experiment(page) -> dict:
    """The address, the value of every control, and the numbers of every figure."""
    show_all(page)
    return page.evaluate(
        """() => ({
            query: [...new URL(location).searchParams].map((one) => one.join('=')).sort(),
            controls: [...document.querySelectorAll('.st-key-controls :is(input, [role=slider])')].map((one) =>
                [one.ariaLabel, one.value ?? '', one.getAttribute('aria-valuenow'), one.checked]
            ),
            chosen: [...document.querySelectorAll('.st-key-controls [aria-checked=true]')].map((one) =>
                one.innerText
            ),
            figures: [...document.querySelectorAll('.js-plotly-plot')].map((one) => JSON.stringify(one.data)),
        })"""
    )


def connected(page, is_so: bool) -> None:
    state = "stApp][data-test-connection-state=CONNECTED"
    page.locator(f"[data-testid={state}]").wait_for(state="attached" if is_so else "detached", timeout=90_000)


def rows(store: Store) -> pd.DataFrame:
    return pd.DataFrame(store.rows(RUN.spec)).drop(columns="seconds")


@pytest.mark.slow("starts a server twice and computes a run twice")
def test_a_run_loses_no_row_when_its_server_is_killed_and_restarted(open_page, start_server, tmp_path):
    address = start_server(folder=tmp_path)
    watching = open_page(RUN_PAGE, address=address)
    looking = open_page(VIEW_PAGE, address=address)
    before = experiment(looking)
    assert len(before["figures"]) >= 1 and "beta=2.5" in before["query"]
    watching.get_by_role("button", name="Run").click()
    with Store(tmp_path / "results.sqlite") as store:
        wait_until(lambda: len(store.rows(RUN.spec)) > 20, 120)
        server = start_server.processes[address]
        server.kill()
        server.wait()
        for page in (watching, looking):
            connected(page, False)
        assert start_server(urlsplit(address).port, tmp_path) == address

        # Pages reconnect without a reload.
        for page in (watching, looking):
            connected(page, True)
        known = len(store.rows(RUN.spec))  # the run's process ends up to a second after its server
        stopped = watching.get_by_text(re.compile(r"\d+ % of the results are known from earlier runs"))
        expect(stopped).to_be_visible(timeout=60_000)
        done = int(re.search(r"(\d+) %", stopped.inner_text())[1])
        assert 0 < done < 100
        # At first the page may show what the earlier server sent.
        wait_until(lambda: experiment(looking) == before, 120)
        looking.reload()
        looking.wait_for_selector("h1")
        assert experiment(looking) == before
        link = urlsplit(looking.url)
        assert experiment(open_page(f"{link.path[1:]}?{link.query}", address=address)) == before

        resume = open_page(RUN_PAGE, address=address).get_by_role("button", name="Resume")
        expect(resume).to_be_visible()
        assert len(store.rows(RUN.spec)) == known
        settle(watching)
        watching.get_by_role("button", name="Resume").click()
        watching.wait_for_selector("[role=progressbar]")
        watching.wait_for_selector("[role=progressbar]", state="detached", timeout=300_000)
        assert watching.locator("[data-testid=stAlert]").count() == 0
        after = rows(store)
    with Store(tmp_path / "never stopped.sqlite") as store:
        for _ in run_stored(store, RUN.spec):
            pass
        pd.testing.assert_frame_equal(after, rows(store), check_exact=True)
    for page in (watching, looking):
        assert page.complaints == []
    assert "Traceback" not in (tmp_path / "log.txt").read_text()
