"""A class in a lesson: the room of this session, as its lecturer or as a student.

The room's code is in the link. The secret of the lecturer is in the session and in the storage of the browser that
opened the room, never in a link. An error of a room becomes a sentence on the card, and the lesson goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from pages.shared import escaping
from pages.shared.server.limits import LIMITS
from pages.shared.server.room_codes import CODE_LENGTH, LIFETIME, Room, RoomEndedError, clean_code, shown
from pages.shared.server.visits import current_visitor
from pages.shared.sharing import codes

_SEAT, _PROBLEM, _LINK = "room of the class", "problem with the room", "link of the room"
_PARAMETER = "room"


@dataclass(frozen=True)
class Seat:
    """This session's place in a room."""

    code: str
    lesson: str
    secret: str | None = None
    """Of the lecturer"""


@dataclass(frozen=True)
class RoomCode:
    """The code of a room in the URL."""

    key = _PARAMETER

    def sanitize(self, raw: list[str]) -> tuple[str | None, str | None]:
        """Return the code in capitals without blanks, or None with a note."""
        code = clean_code(raw[-1])
        if code is not None:
            return code, None
        asked = escaping.value_as_code(", ".join(raw)[:40])
        return None, f"The link asked for {_PARAMETER} = {asked}; {CODE_RULE}, so it is ignored."


CODE_RULE = f"a code has {CODE_LENGTH} letters and digits, without vowels, 0, 1 and L"


def rooms():
    """Return the rooms of this server. They need a database; pages can be imported without one."""
    from pages.shared.server.rooms import rooms as of_this_server

    return of_this_server()


def offered() -> bool:
    """Return whether this server has rooms."""
    return LIMITS.rooms > 0


def seat() -> Seat | None:
    """Return this session's place in a room, if it has one."""
    return st.session_state.get(_SEAT)


def leads() -> bool:
    """Return whether this session is the lecturer's."""
    here = seat()
    return here is not None and here.secret is not None


def problem() -> str:
    """Return what went wrong last, in one sentence, or ""."""
    return st.session_state.get(_PROBLEM, "")


def report(error: Exception | None) -> None:
    """Show an error on the card until something else happens there."""
    st.session_state[_PROBLEM] = "" if error is None else str(error)


def take_seat(lesson: str) -> None:
    """Enter the room that the link names; leave a room that it does not name."""
    code = st.query_params.get(_PARAMETER)
    here = seat()
    if here is not None and (here.code, here.lesson) == (code, lesson):
        return
    st.session_state.pop(_SEAT, None)
    if code is None:
        return
    try:
        room = rooms().enter(code)
        if room.lesson != lesson:
            raise ValueError(f"The room {shown(code)} is for another lesson; enter its code on Start.")
        st.session_state[_SEAT] = Seat(code, lesson)
    except OSError as error:
        report(error)  # the link keeps its room, and the next run tries again
    except ValueError as error:
        leave(error)


def leave(error: Exception | None = None) -> None:
    """Leave the room, and show why."""
    st.session_state.pop(_SEAT, None)
    st.query_params.pop(_PARAMETER, None)
    if error is not None:
        report(error)


def open_room(lesson: str) -> bool:
    """Open a room for the lesson and lead it; return whether there is one now."""
    try:
        code, secret = rooms().open(lesson)
    except (ValueError, OSError) as error:
        report(error)
        return False
    st.session_state[_SEAT] = Seat(code, lesson, secret)
    st.query_params[_PARAMETER] = code
    return True


def lead(secret: object) -> bool:
    """Take the lecturer's place with the secret that the browser has kept; return whether the secret is right."""
    here = seat()
    if here is None or not isinstance(secret, str) or not _try(lambda: rooms().admits(here.code, secret)):
        return False
    st.session_state[_SEAT] = replace(here, secret=secret)
    return True


def close_room() -> None:
    """Delete the lecturer's room."""
    if leads():
        _as_lecturer(lambda code, secret: rooms().delete(code, secret))
        if not problem():
            leave()


def reveal(step: int) -> None:
    """Show the predictions of a step to the class."""
    _as_lecturer(lambda code, secret: rooms().reveal(code, secret, step))


def arrive(lesson: str, step: int) -> None:
    """Record the lecturer's step. If this session's room is for another lesson, leave it."""
    here = seat()
    if here is not None and here.lesson != lesson:
        leave()
    _as_lecturer(lambda code, secret: rooms().move(code, secret, step))


def _as_lecturer(work: Callable[[str, str], object]) -> None:
    """Do something with the code and the secret of the room, if this session is the lecturer's."""
    here = seat()
    if here is not None and (secret := here.secret) is not None:
        _try(lambda: work(here.code, secret))


def predict(step: int, answer: int) -> bool:
    """Send a prediction to the room; return False if the database cannot be used and it has to be sent again."""
    here = seat()
    if here is None:
        return True
    try:
        rooms().predict(here.code, step, current_visitor(), answer)
    except OSError as error:
        report(error)
        return False
    except RoomEndedError as error:
        leave(error)
    except ValueError as error:  # a full room: it does not count, and the lesson goes on
        report(error)
    return True


def step_of_class(step: int) -> int:
    """Return the lecturer's step, or `step` if it is not known."""
    here = seat()
    room = None if here is None else _try(lambda: rooms().room(here.code))
    return room.step if isinstance(room, Room) else step


def is_revealed(step: int) -> bool:
    """Return whether the class may see the predictions of a step; without a class it may."""
    here = seat()
    if here is None:
        return True
    room = _try(lambda: rooms().room(here.code))
    return step in room.revealed if isinstance(room, Room) else seat() is None


def join(text: str) -> Room:
    """Return the room whose code someone has written.

    Raises
    ------
    ValueError, OSError
        If there is no such room, or the rooms cannot be read.
    """
    code = clean_code(text)
    if code is None:
        raise ValueError(f"The code is {escaping.value_as_code(text[:40])}; {CODE_RULE}.")
    return rooms().enter(code)


def paint_code(link: object) -> None:
    """Store the link of the room, so that the next run makes its QR code."""
    st.session_state[_LINK] = link


def seen(step: int, n_answers: int) -> dict | None:
    """Return what the card shows of the room at a step; None if the room has ended meanwhile."""
    here = seat()
    if here is None:
        return None
    try:
        room = rooms().room(here.code)
        counts = rooms().counts(here.code, step, here.secret)
    except (ValueError, OSError) as error:
        report(error)
        if isinstance(error, RoomEndedError):
            leave(error)
            return None
        room, counts = Room(here.code, here.lesson, step, frozenset()), None
    return {
        "code": shown(here.code),
        "name": here.code,
        "step": room.step,
        "revealed": step in room.revealed,
        "counts": None if counts is None else [counts.get(answer, 0) for answer in range(n_answers)],
        "secret": here.secret,
        "lifetime": LIFETIME,
        "picture": codes.picture_of(st.session_state.get(_LINK)),
    }


def right_at(step: int, right: int) -> str:
    """Say how many of the class have given the right answer at a step, as far as that may be seen."""
    here = seat()
    counts = None if here is None else _try(lambda: rooms().counts(here.code, step, here.secret))
    return f"{counts.get(right, 0)} of {sum(counts.values())} right" if counts and isinstance(counts, dict) else ""


def _try(work: Callable[[], object]) -> object:
    """Return the result of `work`; None after an error, which the card shows. Leave a room that has ended."""
    try:
        return work()
    except RoomEndedError as error:
        leave(error)
    except (ValueError, OSError) as error:
        report(error)
    return None
