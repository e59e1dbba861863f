"""Rooms of classes: predictions that the readers of a lesson make together, kept for a day next to the results.

Whoever opens a room gets its code, which the class enters, and a secret. Without the secret no one sees predictions
before they are revealed. A prediction is stored as the step, the choice and an id of the browser, which is random and
another in every room. All processes of a server share the rooms through the database, and keep none in memory.

`lessons` knows the subject of a room.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from cachetools import cached
from streamlit.logger import get_logger

from pages.shared.server.limits import LIMITS, ServerLimits
from pages.shared.server.room_codes import ALPHABET, CODE_LENGTH, LIFETIME, Room, RoomEndedError, shown
from rff_engine.studies.running.store import Database, StoreError, default_store, insert

_log = get_logger(__name__)

#: The most steps of a lesson, and answers of a step.
MAX_STEPS, MAX_ANSWERS = 20, 10
_SECRET_BYTES, _ID_BYTES = 24, 16
_MINUTE, _HOUR = 60, 3600
_OPENED, _WRONG = "rooms opened", "wrong codes"

_tables = sa.MetaData()
_rooms = sa.Table(
    "rff_rooms",
    _tables,
    sa.Column("code", sa.String(CODE_LENGTH), primary_key=True),
    sa.Column("lesson", sa.String(60), nullable=False),
    sa.Column("step", sa.Integer, nullable=False),
    sa.Column("opened", sa.Double, nullable=False, index=True),
    sa.Column("salt", sa.LargeBinary(_ID_BYTES), nullable=False),
    sa.Column("secret", sa.LargeBinary(32), nullable=False),
)


def _room_column() -> sa.Column:
    """Return the column for the room of a row; the row is deleted with its room."""
    room = sa.ForeignKey(_rooms.c.code, ondelete="CASCADE")
    return sa.Column("room", sa.String(CODE_LENGTH), room, primary_key=True)


_reveals = sa.Table(
    "rff_room_reveals",
    _tables,
    _room_column(),
    sa.Column("step", sa.Integer, primary_key=True),
)
_predictions = sa.Table(
    "rff_room_predictions",
    _tables,
    _room_column(),
    sa.Column("step", sa.Integer, primary_key=True),
    sa.Column("member", sa.LargeBinary(_ID_BYTES), primary_key=True),
    sa.Column("answer", sa.Integer, nullable=False),
)
_rates = sa.Table(
    "rff_room_rates",
    _tables,
    sa.Column("kind", sa.String(20), primary_key=True),
    sa.Column("span", sa.BigInteger, primary_key=True),
    sa.Column("ends", sa.Double, nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
)


class Rooms(Database):
    """The rooms in a database; see `rff_engine.studies.running.store.Database` for its errors.

    Parameters
    ----------
    url : str or Path
        Of the store of results.
    clock : callable, optional
        Seconds since 1970.
    """

    tables = _tables

    def __init__(self, url: str | Path, limits: ServerLimits = LIMITS, clock: Callable[[], float] = time.time):
        self._limits, self._clock = limits, clock
        super().__init__(url)

    def open(self, lesson: str) -> tuple[str, str]:
        """Open a room for a lesson, and return its code and the secret of whoever opened it.

        Raises
        ------
        ValueError
            If there are too many rooms, or too many have been opened in this hour.
        """
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        room = {"lesson": lesson, "step": 1, "salt": secrets.token_bytes(_ID_BYTES), "secret": _digest(secret)}
        return self.write(lambda connection: self._insert_room(connection, room)), secret

    def enter(self, code: str) -> Room:
        """Return the room with a code that someone has entered.

        Raises
        ------
        ValueError
            If there is no such room, or too many wrong codes have been entered in this minute. Then even a right code
            is refused, or guesses would cost nothing.
        """
        room = self.write(lambda connection: self._guess(connection, code))
        if room is None:
            raise ValueError(f"There is no room {shown(code)}; it may have been closed, and a room lasts a day.")
        return room

    def room(self, code: str) -> Room:
        """Return the room of a member, who has entered it before.

        Raises
        ------
        RoomEndedError
            If the room has ended.
        """
        return self.read(lambda connection: self._existing(connection, code))

    def predict(self, code: str, step: int, visitor: str, answer: int) -> bool:
        """Store a visitor's prediction, and return whether it counts.

        The first prediction of a visitor for a step counts, and only before the step is revealed.

        Raises
        ------
        RoomEndedError
            If there is no such room any more.
        ValueError
            If there is no such step or answer, or the room has the most predictions for the step.
        """
        _check("step", step, 1, MAX_STEPS)
        _check("answer", answer, 0, MAX_ANSWERS - 1)
        return self.write(lambda connection: self._insert_prediction(connection, code, step, visitor, answer))

    def counts(self, code: str, step: int, secret: str | None = None) -> dict[int, int] | None:
        """Count how often each answer was predicted; None before the step is revealed, except with the room's secret.

        Raises
        ------
        RoomEndedError
            If there is no such room any more.
        """
        of_step = _predictions.c.room == code, _predictions.c.step == step
        query = sa.select(_predictions.c.answer, sa.func.count()).where(*of_step).group_by(_predictions.c.answer)

        def counted(connection) -> dict[int, int] | None:
            room = self._existing(connection, code)
            if step not in room.revealed and not self._admits(connection, code, secret):
                return None
            return dict(connection.execute(query).all())

        return self.read(counted)

    def admits(self, code: str, secret: str | None) -> bool:
        """Return whether the secret is the room's."""
        return self.read(lambda connection: self._admits(connection, code, secret))

    def reveal(self, code: str, secret: str, step: int) -> None:
        """Show the predictions of a step to the class; raises as `predict`, and for another's secret."""
        _check("step", step, 1, MAX_STEPS)
        self._lead(code, secret, lambda connection: insert(connection, _reveals, [{"room": code, "step": step}]))

    def move(self, code: str, secret: str, step: int) -> None:
        """Store the step where the lecturer is, for those who enter later; raises as `reveal`."""
        _check("step", step, 1, MAX_STEPS)
        change = sa.update(_rooms).where(_rooms.c.code == code).values(step=step)
        self._lead(code, secret, lambda connection: connection.execute(change))

    def delete(self, code: str, secret: str) -> None:
        """Delete a room with all its predictions; raises as `reveal`."""
        self._lead(code, secret, lambda connection: connection.execute(sa.delete(_rooms).where(_rooms.c.code == code)))

    def delete_expired(self) -> None:
        """Delete all rooms older than a day."""
        self.write(self._delete_expired)

    def _delete_expired(self, connection) -> None:
        now = self._clock()
        connection.execute(sa.delete(_rooms).where(_rooms.c.opened <= now - LIFETIME))
        connection.execute(sa.delete(_rates).where(_rates.c.ends <= now))

    def _insert_room(self, connection, room: dict) -> str:
        """Insert a room under a free code, and return the code."""
        self._delete_expired(connection)
        if not self._limits.rooms:
            raise ValueError("This server has no rooms for classes.")
        # Counting locks the hour's row: if two open at once, one waits, so neither limit is exceeded.
        if not self._within_rate(connection, _OPENED, _HOUR, self._limits.rooms_per_hour):
            most = self._limits.rooms_per_hour
            raise ValueError(
                f"{most} rooms have been opened in this hour, the most allowed; try again in the next one."
            )
        known = set(connection.scalars(sa.select(_rooms.c.code)))
        if len(known) >= self._limits.rooms:
            raise ValueError(f"{len(known)} rooms are open, the most allowed here; try again when one has been closed.")
        code = next(code for code in iter(_new_code, None) if code not in known)
        connection.execute(sa.insert(_rooms), room | {"code": code, "opened": self._clock()})
        return code

    def _guess(self, connection, code: str) -> Room | None:
        """Return the room with a code, or `None`; count a code without a room as wrong."""
        most = self._limits.wrong_codes
        # Count first, which locks the minute's row: codes entered at the same time wait for each other.
        counted = connection.begin_nested()
        if not self._within_rate(connection, _WRONG, _MINUTE, most):
            raise ValueError(f"{most} wrong codes have been entered in this minute; try again in the next one.")
        room = self._find(connection, code)
        if room is not None:
            counted.rollback()
        return room

    def _insert_prediction(self, connection, code: str, step: int, visitor: str, answer: int) -> bool:
        room = self._existing(connection, code, lock=True)
        if step in room.revealed:
            return False
        member = self._member(connection, code, visitor)
        of_step = _predictions.c.room == code, _predictions.c.step == step
        if connection.scalar(sa.select(sa.literal(1)).where(*of_step, _predictions.c.member == member)):
            return False
        most = self._limits.room_predictions
        if connection.scalar(sa.select(sa.func.count()).where(*of_step)) >= most:
            raise ValueError(f"The room has {most} predictions for this step, the most allowed; yours is not counted.")
        entry = {"room": code, "step": step, "member": member, "answer": answer}
        connection.execute(sa.insert(_predictions), entry)
        return True

    def _member(self, connection, code: str, visitor: str) -> bytes:
        """Return the id of a visitor in a room; it hides who the visitor is, and is another in every room."""
        salt = connection.scalar(sa.select(_rooms.c.salt).where(_rooms.c.code == code))
        return hashlib.sha256(salt + visitor.encode()).digest()[:_ID_BYTES]

    def _find(self, connection, code: str, lock: bool = False) -> Room | None:
        """Return the room with a code, locked for the transaction if asked."""
        kept = _rooms.c.code == code, _rooms.c.opened > self._clock() - LIFETIME
        query = sa.select(_rooms.c.lesson, _rooms.c.step).where(*kept)
        row = connection.execute(query.with_for_update() if lock else query).one_or_none()
        if row is None:
            return None
        revealed = connection.scalars(sa.select(_reveals.c.step).where(_reveals.c.room == code))
        return Room(code, row.lesson, row.step, frozenset(revealed))

    def _existing(self, connection, code: str, lock: bool = False) -> Room:
        room = self._find(connection, code, lock)
        if room is None:
            raise RoomEndedError(f"The room {shown(code)} has ended; its predictions are deleted.")
        return room

    def _admits(self, connection, code: str, secret: str | None) -> bool:
        if secret is None:
            return False
        stored = connection.scalar(sa.select(_rooms.c.secret).where(_rooms.c.code == code))
        return stored is not None and hmac.compare_digest(stored, _digest(secret))

    def _lead(self, code: str, secret: str, work: Callable[[sa.Connection], object]) -> None:
        """Do `work` if the secret is that of whoever opened the room."""

        def checked(connection) -> None:
            self._existing(connection, code, lock=True)
            if not self._admits(connection, code, secret):
                raise ValueError(f"Only the browser that opened the room {shown(code)} may do this.")
            work(connection)

        self.write(checked)

    def _within_rate(self, connection, kind: str, seconds: int, most: int) -> bool:
        """Count an event, and return whether it is one of the first `most` in its span of seconds."""
        span = int(self._clock() // seconds)
        insert(connection, _rates, [{"kind": kind, "span": span, "ends": (span + 1) * seconds, "count": 0}])
        one_more = sa.update(_rates).where(_rates.c.kind == kind, _rates.c.span == span, _rates.c.count < most)
        return connection.execute(one_more.values(count=_rates.c.count + 1)).rowcount == 1


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))


def _digest(secret: str) -> bytes:
    # A random secret of 192 bits needs no slow hash.
    return hashlib.sha256(secret.encode()).digest()


def _check(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}; it must be from {low} to {high}.")


@cached({}, condition=threading.Condition())
def rooms() -> Rooms:
    """Return the rooms of this server, whose expired ones are deleted every hour."""
    opened = Rooms(default_store())
    threading.Thread(target=_delete_hourly, args=(opened,), daemon=True).start()
    return opened


def _delete_hourly(opened: Rooms) -> None:
    while True:
        try:
            opened.delete_expired()
        except StoreError as error:
            _log.warning("expired rooms are not deleted: %s", error)
        time.sleep(_HOUR)
