"""The trial of the containers: its log in the documentation, and what it asks of compose.yaml; no test starts one."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess

import pytest
import yaml

from deploy import compose, trial
from tests import loops


def logged() -> list[trial.Event]:
    """The events of the log in docs/deployment.md."""
    text = trial.PAGE.read_text("utf-8").split(trial.MARKS[0])[1].split(trial.MARKS[1])[0].strip()
    found = [re.fullmatch(r"\| (\d+) s \| (.+?) \| (.+) \|", line) for line in text.splitlines()[len(trial.HEAD) :]]
    events = [trial.Event(int(one[1]), one[2], one[3]) for one in found if one]
    assert trial.table(events) == text, "python -m deploy.trial --write"
    return events


def test_the_log_in_the_documentation_is_one_of_this_program_and_lost_no_row():
    events = logged()
    assert [one.seconds for one in events] == sorted(one.seconds for one in events)
    counted = [found for one in events for found in re.findall(r"(\d+)(?: of \d+)? lost", one.seen)]
    assert len(counted) == len(events) - 2 and set(counted) == {"0"}  # the first and the refusal count none
    assert all(re.search(rf"(\d+) of \1 rows{what}", "\n".join(one.seen for one in events)) for what in (" equal", ","))
    assert "disk is full or broken" in events[-2].seen and "errors" not in "".join(one.seen for one in events)


def test_a_table_has_one_line_for_each_event():
    events = [trial.Event(3, "started", "healthy"), trial.Event(70, "app1: killed", "9 rows, 0 lost")]
    assert trial.table(events).splitlines() == [
        *trial.HEAD,
        "| 3 s | started | healthy |",
        "| 70 s | app1: killed | 9 rows, 0 lost |",
    ]


def test_what_the_trial_adds_is_for_services_and_volumes_of_the_file():
    described = yaml.safe_load(compose.compose())
    assert set(trial.SHARE["services"]) == {name for name in described["services"] if name.startswith("app")}
    assert "results" in described["volumes"]
    assert trial.FILL.startswith(described["services"]["store"]["volumes"][0].partition(":")[2])
    (owner,) = re.findall(r"/var/run/postgresql:(uid=\d+,gid=\d+)", json.dumps(described["services"]["store"]["tmpfs"]))
    assert trial.SMALL_VOLUME["o"].endswith(owner)


class Undisturbed(trial.Project):
    """A project whose states have all come; it runs no command, and refuses to block the load."""

    planned = 9

    def ask(self, *words):
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        self.well = "kill -9 -1" not in words
        rows = "\n".join(map(str, range(self.planned)))
        return subprocess.CompletedProcess(words, 0, "app1 store" if words[0] == "ps" else rows)

    def healthy(self, service):
        before, self.well = self.well, True
        return before


def test_no_command_of_docker_pauses_the_load(tmp_path):
    found = trial.Trial(Undisturbed("rff-none", tmp_path / "more.yaml"))
    loops.run(found._disturb(Undisturbed.planned))
    assert [one.seen.removeprefix("healthy again by itself; ") for one in found.events] == ["9 rows, 0 lost"] * 5


def test_rows_are_compared_without_their_seconds():
    first, second = ("run,D,test_error,seconds\na,3,0.25," + late + "\n" for late in ("0.1", "0.2"))
    assert trial.rows_of(first) == trial.rows_of(second) == [{"run": "a", "D": "3", "test_error": "0.25"}]
