"""Rooms: each browser counts once, nothing is seen before it is revealed, and rooms keep to their day and limits."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from pages.shared.server import rooms as module
from pages.shared.server.limits import LIMITS
from pages.shared.server.room_codes import ALPHABET, CODE_LENGTH, LIFETIME, RoomEndedError, clean_code, shown
from pages.shared.server.rooms import Rooms
from tests import databases

ROOT = Path(__file__).parents[2]
url = databases.url


class Clock:
    """Seconds since 1970 that a test sets."""

    def __init__(self):
        self.now = 1.7e9

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def limits():
    return replace(LIMITS, rooms=3, rooms_per_hour=4, room_predictions=5, wrong_codes=2)


@pytest.fixture
def rooms(url, limits, clock):
    with Rooms(url, limits, clock) as rooms:
        yield rooms


def stored(rooms) -> dict[str, int]:
    """Number of rows of each table."""
    counts = {name: sa.select(sa.func.count()).select_from(table) for name, table in module._tables.tables.items()}
    return rooms.read(lambda connection: {name: connection.scalar(count) for name, count in counts.items()})


def another(code: str) -> str:
    """A code that differs from the given one."""
    return ALPHABET[ALPHABET.index(code[0]) - 1] + code[1:]


# --- one room -----------------------------------------------------------------------------------------------------


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_predictions_are_counted_and_shown_to_the_class_once_revealed(rooms):
    code, secret = rooms.open("prior-to-cosine")
    assert rooms.enter(code).lesson == "prior-to-cosine"
    assert [rooms.predict(code, 1, name, answer) for name, answer in zip("abcd", (2, 0, 2, 1), strict=True)] == [
        True
    ] * 4
    assert rooms.predict(code, 2, "a", 0)
    assert rooms.counts(code, 1) is None and rooms.room(code).revealed == frozenset()
    assert rooms.counts(code, 1, secret) == {0: 1, 1: 1, 2: 2}
    rooms.reveal(code, secret, 1)
    rooms.reveal(code, secret, 1)
    assert rooms.room(code).revealed == {1}
    assert rooms.counts(code, 1) == {0: 1, 1: 1, 2: 2}
    assert rooms.counts(code, 2) is None and rooms.counts(code, 3, secret) == {}


@pytest.mark.slow
def test_the_first_prediction_of_a_browser_counts_and_none_after_the_reveal(rooms):
    code, secret = rooms.open("prior-to-cosine")
    assert rooms.predict(code, 1, "a", 2)
    assert not rooms.predict(code, 1, "a", 0)
    rooms.reveal(code, secret, 1)
    assert not rooms.predict(code, 1, "b", 0)
    assert rooms.counts(code, 1) == {2: 1}


@pytest.mark.slow
def test_a_closed_room_is_deleted_with_all_that_it_holds(rooms):
    code, secret = rooms.open("prior-to-cosine")
    kept, _ = rooms.open("power-spectrum")
    rooms.predict(code, 1, "a", 2)
    rooms.predict(kept, 1, "a", 2)
    rooms.reveal(code, secret, 1)
    rooms.delete(code, secret)
    counts = stored(rooms)
    assert [counts[name] for name in ("rff_rooms", "rff_room_reveals", "rff_room_predictions")] == [1, 0, 1]
    for asked in (
        lambda: rooms.room(code),
        lambda: rooms.counts(code, 1, secret),
        lambda: rooms.predict(code, 1, "a", 0),
        lambda: rooms.reveal(code, secret, 1),
        lambda: rooms.delete(code, secret),
    ):
        with pytest.raises(RoomEndedError, match=f"^The room {shown(code)} has ended; its predictions are deleted.$"):
            asked()


@pytest.mark.slow
def test_only_the_secret_of_the_room_opens_its_count_and_leads_it(rooms):
    code, secret = rooms.open("prior-to-cosine")
    _, other = rooms.open("prior-to-cosine")
    rooms.predict(code, 1, "a", 2)
    assert rooms.admits(code, secret)
    for wrong in (other, "", code, None, secret[:-1], secret.swapcase()):
        assert not rooms.admits(code, wrong)
        assert rooms.counts(code, 1, wrong) is None
    for asked in (
        lambda: rooms.reveal(code, other, 1),
        lambda: rooms.move(code, other, 2),
        lambda: rooms.delete(code, other),
    ):
        with pytest.raises(ValueError, match=f"^Only the browser that opened the room {shown(code)} may do this.$"):
            asked()
    assert rooms.room(code).revealed == frozenset() and rooms.room(code).step == 1


@pytest.mark.slow
def test_nothing_is_stored_but_the_choice_and_an_id_that_differs_between_rooms(rooms):
    visitor = "a digest of a cookie"
    opened = [rooms.open("prior-to-cosine") for _ in range(2)]
    for code, _ in opened:
        rooms.predict(code, 1, visitor, 2)
    rows = rooms.read(lambda connection: connection.execute(sa.select(module._predictions)).mappings().all())
    secrets = rooms.read(lambda connection: connection.scalars(sa.select(module._rooms.c.secret)).all())
    assert [set(row) for row in rows] == [{"room", "step", "member", "answer"}] * 2
    assert len({bytes(row["member"]) for row in rows}) == 2
    kept = repr([dict(row) for row in rows]) + repr(secrets)
    assert visitor not in kept and not any(secret in kept for _, secret in opened)


def test_the_last_step_and_the_last_answer_count(tmp_path):
    with Rooms(tmp_path / "results.sqlite") as rooms:
        code, secret = rooms.open("prior-to-cosine")
        assert rooms.predict(code, 20, "a", 9) and rooms.counts(code, 20, secret) == {9: 1}


@pytest.mark.parametrize(("step", "answer"), [(0, 0), (21, 0), (1, -1), (1, 10)])
def test_a_step_or_answer_that_no_lesson_has_is_refused(tmp_path, step, answer):
    with Rooms(tmp_path / "results.sqlite") as rooms:
        code, secret = rooms.open("prior-to-cosine")
        with pytest.raises(ValueError, match=r"^(step|answer) is -?\d+; it must be from \d to \d+.$"):
            rooms.predict(code, step, "a", answer)
        assert rooms.counts(code, 1, secret) == {}


# --- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_few_rooms_are_open_and_few_are_opened_in_an_hour(rooms, clock, limits):
    opened = [rooms.open("prior-to-cosine") for _ in range(3)]
    with pytest.raises(ValueError, match=r"^3 rooms are open, the most allowed here; try again when one has been"):
        rooms.open("prior-to-cosine")
    rooms.delete(*opened[0])
    rooms.open("prior-to-cosine")
    rooms.delete(*opened[1])
    with pytest.raises(ValueError, match=r"^4 rooms have been opened in this hour, the most allowed; try again in"):
        rooms.open("prior-to-cosine")
    clock.now += 3600
    rooms.open("prior-to-cosine")


def test_a_server_without_rooms_opens_none(tmp_path):
    with (
        Rooms(tmp_path / "results.sqlite", replace(LIMITS, rooms=0)) as rooms,
        pytest.raises(ValueError, match=r"^This server has no rooms for classes.$"),
    ):
        rooms.open("prior-to-cosine")


@pytest.mark.slow
def test_a_flood_of_predictions_ends_at_the_limit_of_its_step(rooms):
    code, secret = rooms.open("prior-to-cosine")
    refused = []
    for number in range(40):
        try:
            rooms.predict(code, 1, f"browser {number}", number % 3)
        except ValueError as error:
            refused.append(str(error))
    assert set(refused) == {"The room has 5 predictions for this step, the most allowed; yours is not counted."}
    assert len(refused) == 35 and sum(rooms.counts(code, 1, secret).values()) == 5
    assert not rooms.predict(code, 1, "browser 0", 0)  # is counted already, so nothing is refused
    assert rooms.predict(code, 2, "browser 39", 0)
    assert stored(rooms)["rff_room_predictions"] == 6


@pytest.mark.slow
def test_guesses_of_codes_are_limited_for_all_and_a_right_one_does_not_help(rooms, clock):
    code, _ = rooms.open("prior-to-cosine")
    clock.now = 60 * (clock.now // 60) + 1
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^There is no room {shown(another(code))}; it may have been closed"):
            rooms.enter(another(code))
    for asked in (another(code), code):
        with pytest.raises(ValueError, match=r"^2 wrong codes have been entered in this minute; try again in the next"):
            rooms.enter(asked)
    assert rooms.room(code).code == code  # members are there already
    clock.now += 60
    assert rooms.enter(code).code == code


def test_codes_are_random_and_too_many_to_guess():
    codes = {module._new_code() for _ in range(2000)}
    assert len(codes) > 1990 and all(clean_code(code) == code for code in codes)
    assert set("".join(codes)) == set(ALPHABET) and not set("AEIOU01L") & set(ALPHABET)
    # The chance per day that guesses at the highest rate find one of as many rooms as are allowed.
    assert LIMITS.wrong_codes * 24 * 60 * LIMITS.rooms / len(ALPHABET) ** CODE_LENGTH < 0.02


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("K7PQ2M", "K7PQ2M"),
        (" k7p q2m ", "K7PQ2M"),
        ("k7p-q2m", "K7PQ2M"),
        ("K7PQ2", None),
        ("K7PQ2MX", None),
        ("K7PQ2A", None),
        ("K7PQ2M'; DROP", None),
        ("", None),
        (" " * 10**6 + "K7PQ2M", None),
    ],
)
def test_a_code_is_read_as_people_write_it(text, code):
    assert clean_code(text) == code


# --- a day --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_room_ends_after_a_day_and_is_deleted(rooms, clock):
    code, secret = rooms.open("prior-to-cosine")
    rooms.predict(code, 1, "a", 2)
    rooms.reveal(code, secret, 1)
    clock.now += LIFETIME - 1
    assert rooms.counts(code, 1) == {2: 1}
    clock.now += 1
    with pytest.raises(RoomEndedError):
        rooms.counts(code, 1, secret)
    with pytest.raises(ValueError, match="There is no room"):
        rooms.enter(code)
    assert stored(rooms)["rff_rooms"] == 1
    rooms.delete_expired()
    assert {name: count for name, count in stored(rooms).items() if name != "rff_room_rates"} == {
        "rff_rooms": 0,
        "rff_room_reveals": 0,
        "rff_room_predictions": 0,
    }
    clock.now += 3600
    rooms.delete_expired()
    assert stored(rooms)["rff_room_rates"] == 0


@pytest.mark.slow
def test_opening_a_room_deletes_expired_ones(rooms, clock):
    for _ in range(3):
        rooms.open("prior-to-cosine")
    clock.now += LIFETIME
    rooms.open("prior-to-cosine")
    assert stored(rooms)["rff_rooms"] == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_expired_rooms_are_deleted_while_the_server_runs(tmp_path, monkeypatch):
    with Rooms(tmp_path / "results.sqlite") as rooms:
        rooms.open("prior-to-cosine")
        rooms._clock = lambda: 1e12
        slept = threading.Event()

        def sleep(seconds):
            assert seconds == 3600
            slept.set()
            raise SystemExit  # ends the thread

        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep))
        monkeypatch.setattr(module, "default_store", lambda: tmp_path / "results.sqlite")
        monkeypatch.setattr(module, "Rooms", lambda _: rooms)
        module.rooms.cache_clear()
        try:
            assert module.rooms() is rooms and slept.wait(30)
        finally:
            module.rooms.cache_clear()
        assert stored(rooms)["rff_rooms"] == 0


# --- the database -------------------------------------------------------------------------------------------------


# --- several processes --------------------------------------------------------------------------------------------

#: Predicts as the sessions whose numbers it reads, line by line, and answers each when its prediction is stored.
PROCESS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pages.shared.server.rooms import Rooms
rooms = Rooms(sys.argv[1])
def predict(number):
    rooms.predict(sys.argv[2], 1, f"browser {number}", number % 3)
    sys.stdout.write(f"{number}\\n")  # in one piece; `print` ends the line separately
    sys.stdout.flush()
with ThreadPoolExecutor(8) as threads:
    list(threads.map(predict, map(int, sys.stdin)))
"""


def begin(url: str, code: str) -> subprocess.Popen:
    command = [sys.executable, "-c", PROCESS, url, code]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(process: subprocess.Popen, numbers) -> None:
    process.stdin.write("".join(f"{number}\n" for number in numbers))
    process.stdin.flush()


@pytest.mark.second("starts three processes")
def test_sixty_sessions_count_once_each_though_a_process_is_killed(url):
    """The sessions of the killed process ask another one again, all of them, whether they were answered or not."""
    with Rooms(url) as rooms:
        code, secret = rooms.open("prior-to-cosine")
        with begin(url, code) as dying, begin(url, code) as other:
            ask(dying, range(30))
            ask(other, range(30, 60))
            answered = [int(dying.stdout.readline()) for _ in range(7)]
            os.kill(dying.pid, signal.SIGKILL)
            dying.communicate()
            counted = rooms.counts(code, 1, secret)
            assert sum(counted.values()) >= len(set(answered)) == 7  # what was answered is stored
            ask(other, range(30))
            other.stdin.close()
            assert sorted(int(line) for line in other.stdout) == list(range(60))
            assert other.wait(60) == 0
        assert rooms.counts(code, 1, secret) == Counter(number % 3 for number in range(60))


@pytest.mark.more(after=1)
@pytest.mark.slow
def test_the_same_browser_at_the_same_time_counts_once_and_limits_hold(url):
    limits = replace(LIMITS, rooms=4, room_predictions=10)
    with Rooms(url, limits) as rooms, Rooms(url, limits) as others, ThreadPoolExecutor(8) as threads:
        code, secret = rooms.open("prior-to-cosine")

        def predict(number: int) -> bool:
            return (rooms, others)[number % 2].predict(code, 1, "one browser", number % 3)

        assert sum(threads.map(predict, range(24))) == 1
        assert sum(rooms.counts(code, 1, secret).values()) == 1

        def flood(number: int) -> str:
            try:
                return str((rooms, others)[number % 2].predict(code, 2, f"browser {number}", 0))
            except ValueError as error:
                return re.sub(r"\d+", "n", str(error))

        refusal = "The room has n predictions for this step, the most allowed; yours is not counted."
        assert Counter(threads.map(flood, range(30))) == {"True": 10, refusal: 20}

        def open_one(number: int) -> bool:
            try:
                (rooms, others)[number % 2].open("power-spectrum")
                return True
            except ValueError:
                return False

        assert sum(threads.map(open_one, range(12))) == 3
        assert stored(rooms)["rff_rooms"] == 4


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("right", [False, True])
def test_codes_tried_at_the_same_time_are_answered_up_to_the_limit(url, right):
    """A right code among them does not count, and is as refused as a wrong one once the limit is reached."""
    limits = replace(LIMITS, wrong_codes=10)
    clock = Clock()
    with Rooms(url, limits, clock) as rooms, Rooms(url, limits, clock) as others, ThreadPoolExecutor(16) as threads:
        code, _ = rooms.open("prior-to-cosine")
        together = threading.Barrier(16)

        def guess(number: int) -> str:
            together.wait(60)
            try:
                (rooms, others)[number % 2].enter(code if right and number % 4 == 0 else another(code))
            except ValueError as error:
                return str(error).split(" ", 2)[1]
            return "entered"

        answers = Counter(threads.map(guess, range(64)))
        assert answers["is"] == 10 and answers["wrong"] == 54 - answers["entered"], answers
        assert right or not answers["entered"]
        with pytest.raises(ValueError, match=r"^10 wrong codes"):
            rooms.enter(code)
        clock.now += 60
        for _ in range(11):
            assert rooms.enter(code).code == code
