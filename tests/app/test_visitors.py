"""Uploads stay in memory, and tables of them are safe to download."""

from __future__ import annotations

import pytest
from starlette.formparsers import MultiPartParser
from starlette.requests import Request

from datasets.tables.uploads import read_table
from pages.data.your_data import upload
from pages.data.your_data.upload import LIMITS
from tests import programs

FORMULAS = ("=cmd|' /C calc'!A0", "+1+cmd", "@SUM(A1)", "-2+3")


def received(n_bytes: int):
    """The file of a form as Streamlit's server receives it, in pieces."""
    body = (
        b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n' + b"1" * n_bytes + b"\r\n--x--\r\n"
    )
    pieces = [body[i : i + 65536] for i in range(0, len(body), 65536)]

    async def receive():
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    scope = {"type": "http", "method": "PUT", "headers": [(b"content-type", b"multipart/form-data; boundary=x")]}

    async def form():
        found = (await Request(scope, receive).form())["f"]
        assert found.size == n_bytes
        return found

    return programs.run_coroutine(form())


def test_an_upload_is_never_written_to_a_temporary_file(monkeypatch):
    assert received(LIMITS.bytes)._in_memory
    monkeypatch.setattr(MultiPartParser, "spool_max_size", 1 << 20)  # the server's own
    assert not received(LIMITS.bytes)._in_memory


@pytest.mark.slow
def test_texts_that_look_like_formulas_are_escaped():
    lines = [",".join([*FORMULAS, "n"]), *(",".join([*FORMULAS, f"-{i}.5"]) for i in range(20))]
    table = read_table("\n".join(lines), "x.csv")
    shown = upload.first_rows(table)
    text = shown.to_csv(index=False)
    for formula in FORMULAS:
        assert f"'{formula}" in text and f",{formula}" not in text and f"\n{formula}" not in text
    assert list(shown["n"]) == [f"-{i}.5" for i in range(20)]  # numbers stay numbers


@pytest.mark.parametrize("text", ["a=b", "x", "", "1-2", "’", "'=1"])
def test_other_texts_are_unchanged(text):
    assert upload.escaping.cell(text) == text
