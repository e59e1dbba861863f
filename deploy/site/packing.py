"""Files of data: scripts that hand over JSON, compressed.

JSON has arrays of numbers as base64. In a file these are bytes after the text, laid out by place: the first bytes of
all numbers, then the second ones, and so on. Neighbours are alike then, and gzip makes them smaller. `packing.js` reads
the files.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from typing import Any

import numpy as np

_BASE64 = re.compile(r"[A-Za-z0-9+/]{80,}={0,2}")
#: Bytes of a number that may be laid out by place.
_WIDTHS = (1, 2, 4, 8)


def packed(name: str, content: bytes) -> str:
    """Return a script that hands over a content, compressed by gzip, as base64."""
    return f'takeExported("{name}","{b64encode(_compressed(content)).decode("ascii")}")\n'


def packed_file(name: str, data: Any) -> str:
    """Return a script that hands over JSON."""
    arrays: list[bytes] = []

    def take(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: take(part) for key, part in value.items()}
        if isinstance(value, list):
            return [take(part) for part in value]
        if not (isinstance(value, str) and len(value) % 4 == 0 and _BASE64.fullmatch(value)):
            return value
        width, laid_out = _laid_out(b64decode(value))
        place = sum(map(len, arrays))
        arrays.append(laid_out)
        return {"$bytes": [place, len(laid_out), width]}

    return packed(name, b"\n".join([as_json(take(data)), b"".join(arrays)]))


def as_json(data: Any) -> bytes:
    """Return JSON in one line."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def _laid_out(content: bytes) -> tuple[int, bytes]:
    """Return the number of bytes of a number that compresses best, and all numbers laid out by place."""
    possible = {width: _by_place(content, width) for width in _WIDTHS if len(content) % width == 0}
    width = min(possible, key=lambda width: len(_compressed(possible[width])))
    return width, possible[width]


def _by_place(content: bytes, width: int) -> bytes:
    return np.frombuffer(content, "u1").reshape(-1, width).T.tobytes()


def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)
