"""Number of characters that a regular expression compares until it matches or fails.

The counter walks through the parsed pattern in the order of Python's engine, backtracking included, so that counts are
the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from re import _constants as op, _parser

_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
_ONE_CHARACTER = {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}
_REPEATS = {op.MAX_REPEAT, op.POSSESSIVE_REPEAT}
_SAMPLES = "1a.:-+e xyzinftT\0“é"


class TooMany(Exception):
    """More characters were compared than allowed."""


class Steps:
    """One attempt to match a whole text: `matches` is the result, `count` the number of characters compared."""

    def __init__(self, pattern: re.Pattern, text: str, most: float = float("inf")):
        self._text, self._most, self._flags, self._known, self.count = text, most, pattern.flags, {}, 0
        self.matches = self._run(_items(pattern), 0, lambda at: at == len(text))

    def _run(self, items: list, at: int, then: Callable[[int], bool]) -> bool:
        if not items:
            return then(at)
        (kind, about), rest = items[0], items[1:]

        def go_on(end: int) -> bool:
            return self._run(rest, end, then)

        if kind in _ONE_CHARACTER:
            return self._one(kind, about, at) and go_on(at + 1)
        if kind is op.SUBPATTERN:
            return self._run(list(about[-1]), at, go_on)
        if kind is op.BRANCH:
            return any(self._run(list(branch), at, go_on) for branch in about[1])
        if kind is op.ATOMIC_GROUP:
            ends = self._ends(list(about), at)
            return bool(ends) and go_on(ends[0])
        if kind in _REPEATS:
            fewest, most, body = about
            repeat = self._repeat(list(body), fewest, most, at)
            return any(map(go_on, islice(repeat, 1) if kind is op.POSSESSIVE_REPEAT else repeat))
        raise NotImplementedError(f"{kind} is in a pattern, and not in this counter")

    def _repeat(self, body: list, fewest: int, most: int, at: int) -> Iterator[int]:
        """Positions where the repeats may end, the longest first."""
        if most > 0:
            for end in self._ends(body, at):
                if end > at:
                    yield from self._repeat_after(body, fewest, most, end)
        if fewest <= 0:
            yield at

    def _repeat_after(self, body, fewest, most, end):
        if len(body) == 1 and body[0][0] in _ONE_CHARACTER:  # without recursion: there may be thousands
            last = end
            while last - end + 1 < most and self._one(*body[0], last):
                last += 1
            yield from range(last, end + max(fewest - 1, 0) - 1, -1)
        else:
            yield from self._repeat(body, fewest - 1, most - 1, end)

    def _ends(self, items: list, at: int) -> list[int]:
        """Positions where the items may end, in the order of attempts."""
        found = []
        self._run(items, at, lambda end: bool(found.append(end)))
        return found

    def _one(self, kind, about, at: int) -> bool:
        self.count += 1
        if self.count > self._most:
            raise TooMany
        if at == len(self._text):
            return False
        asked = kind, about if isinstance(about, int) else id(about), self._text[at]
        if asked not in self._known:
            self._known[asked] = accepts(kind, about, self._text[at], self._flags)
        return self._known[asked]


@cache
def _items(pattern: re.Pattern) -> list:
    return list(_parser.parse(pattern.pattern, pattern.flags))


def accepts(kind, about, sign: str, flags: int) -> bool:
    """Whether an item of a pattern matches a character."""
    if kind is op.ANY:
        return sign != "\n" or bool(flags & re.DOTALL)
    if kind is op.NOT_LITERAL:
        return not accepts(op.LITERAL, about, sign, flags)
    if kind is op.LITERAL:
        return bool(re.fullmatch(re.escape(chr(about)), sign, flags & (re.ASCII | re.IGNORECASE)))
    found = False
    for inner, what in about:
        if inner is op.LITERAL:
            found |= accepts(inner, what, sign, flags)
        elif inner is op.RANGE:
            found |= what[0] <= ord(sign) <= what[1]
        elif inner is op.CATEGORY:
            found |= bool(re.fullmatch(_CATEGORIES[what], sign, flags & re.ASCII))
        elif inner is not op.NEGATE:
            raise NotImplementedError(f"{inner} is in a pattern, and not in this counter")
    return found != (about[0][0] is op.NEGATE)


def hostile_cells(pattern: re.Pattern, n: int) -> Iterator[str]:
    """Cells that match one repeat of a pattern n times, or two repeats n times each, and then fail."""
    pumped = list(_pumps(_items(pattern), pattern.flags))
    others = sorted({"", *(other for _, other, _ in pumped)})
    for (before, more, after), wrong in product(pumped, ("", *_SAMPLES)):
        yield before + more * n + wrong + after
        yield from (before + more * n + middle * n + after + wrong for middle in others)


def _pumps(items: list, flags: int) -> Iterator[tuple[str, str, str]]:
    """Texts before, in and after each repeat within these items."""
    for i, (kind, about) in enumerate(items):
        before, after = _example(items[:i], flags), _example(items[i + 1 :], flags)
        if kind in _REPEATS and about[1] > 1:
            yield before, _example(list(about[-1]), flags), after
        for inner in _inside(kind, about):
            yield from ((before + a, more, b + after) for a, more, b in _pumps(inner, flags))


def _inside(kind, about) -> list[list]:
    if kind is op.BRANCH:
        return [list(branch) for branch in about[1]]
    if kind is op.SUBPATTERN or kind in _REPEATS:
        return [list(about[-1])]
    return [list(about)] if kind is op.ATOMIC_GROUP else []


def _example(items: list, flags: int) -> str:
    """A short text that these items match."""
    text = ""
    for kind, about in items:
        if kind in _ONE_CHARACTER:
            own = chr(about) if kind is op.LITERAL else ""
            text += next(sign for sign in own + _SAMPLES if accepts(kind, about, sign, flags))
        else:
            repeats = about[0] if kind in _REPEATS else 1
            text += repeats * _example(_inside(kind, about)[0], flags)
    return text
