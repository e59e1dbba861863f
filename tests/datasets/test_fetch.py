"""Downloads from a local server: good ones, every known failure, and interruption."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import datasets
from datasets import FetchError
from datasets.__main__ import main
from datasets.papers import catalogue, download, files

CONTENT = b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000))
NAME = "farm"  # any data set; its catalogue entry is replaced
ROOT = Path(datasets.__file__).parent.parent


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(path.replace("__", "/").replace("_dot_", "."), content)
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Serves `pages` by path and records the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, dict] = {}
        self.requests: list[str] = []
        self.released = threading.Event()

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        page = self.server.pages.get(self.path.lstrip("/"))
        if page is None:
            self.send_error(404)
            return
        body, announced = page["body"], page.get("announced", len(page["body"]))
        self.send_response(page.get("status", 200))
        if announced is not None:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        self.wfile.write(body)
        if page.get("stall"):
            self.wfile.flush()
            self.server.released.wait(30)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.released.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def offer(server, cache, monkeypatch):
    """Serve a body for the data set NAME and register it in the catalogue."""

    def register(body: bytes | None, path: str = "table.zip", member: str = "table.csv", **page) -> Path:
        if body is not None:
            server.pages[path] = {"body": body, **page}
        raw = catalogue.RawFile(
            folder="somewhere",
            name=member,
            size=len(CONTENT),
            sha256=hashlib.sha256(CONTENT).hexdigest(),
            address=server.address(path),
        )
        monkeypatch.setitem(catalogue.CATALOGUE, NAME, replace(catalogue.CATALOGUE[NAME], files=(raw,)))
        return cache / "somewhere" / member

    return register


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    return code, *capsys.readouterr()


def assert_failed(capsys, cache: Path, server: Server, *says: str) -> str:
    """Check that `fetch NAME` fails with one helpful sentence and leaves no files."""
    code, out, err = run(capsys, "fetch", NAME)
    sentences = [line for line in err.splitlines() if not line.startswith(("downloading", "  "))]
    assert code == 1 and out == "" and len(sentences) == 1
    raw = catalogue.describe(NAME).files[0]
    for part in (NAME, raw.address, "by hand", str(cache / "somewhere"), *says):
        assert part in sentences[0]
    assert "Traceback" not in err
    assert not [path for path in cache.parent.rglob("*") if path.name.startswith(".fetch")]
    return sentences[0]


GOOD = {
    "zip": (zipped(readme=b"hello", table_dot_csv=CONTENT), "table.zip"),
    "deep in a zip": (zipped(a__b__table_dot_csv=CONTENT), "table.zip"),
    "climbing in a zip": (zipped(**{"..__..__table_dot_csv": CONTENT}), "table.zip"),
    "gz in a zip": (zipped(table_dot_csv_dot_gz=gzip.compress(CONTENT)), "table.zip"),
    "zip in a zip": (zipped(inner_dot_zip=zipped(table_dot_csv=CONTENT)), "table.zip"),
    "gz": (gzip.compress(CONTENT), "table.csv.gz"),
    "plain": (CONTENT, "table.csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("announced", ["length", "no length"])
@pytest.mark.parametrize("form", GOOD)
def test_good_download_is_stored_and_found(form, announced, offer, server, cache, capsys):
    body, path = GOOD[form]
    page = {} if announced == "length" else {"announced": None}
    target = offer(body, path, **page)
    assert datasets.status(NAME) == "to fetch"
    code, out, err = run(capsys, "fetch", NAME)
    assert code == 0
    assert str(target) in out and out.count("\n") == 1
    assert f"downloading {server.address(path)}" in err
    assert target.read_bytes() == CONTENT
    assert [p for p in cache.rglob("*") if p.is_file()] == [target]
    assert datasets.status(NAME) == "found"
    assert b"".join(files.read(catalogue.describe(NAME))) == CONTENT


def test_stored_files_are_not_fetched_again(offer, server, cache, capsys):
    target = offer(GOOD["zip"][0])
    run(capsys, "fetch", NAME)
    before = target.stat().st_mtime_ns
    code, out, err = run(capsys, "fetch", NAME, NAME)
    assert code == 0 and err == ""
    assert "already there" in out and str(target) in out and out.count("\n") == 1
    assert len(server.requests) == 1 and target.stat().st_mtime_ns == before


def test_damaged_copy_in_the_cache_is_replaced(offer, cache, capsys):
    target = offer(GOOD["zip"][0])
    target.parent.mkdir(parents=True)
    target.write_bytes(CONTENT[:100])
    assert run(capsys, "fetch", NAME)[0] == 0
    assert target.read_bytes() == CONTENT


def test_damaged_copy_outside_the_cache_is_reported(offer, server, cache, capsys, tmp_path, monkeypatch):
    offer(GOOD["zip"][0])
    monkeypatch.setenv("RFF_DATA", str(tmp_path / "mine"))
    mine = tmp_path / "mine" / "somewhere" / "table.csv"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(CONTENT[:100])
    assert_failed(capsys, cache, server, str(mine), "only 100 bytes")
    assert not server.requests


@pytest.mark.parametrize("name", ["breast", "adult", pytest.param("mnist49", marks=pytest.mark.slow), "wine"])
def test_bundled_sets_need_no_network(name, cache, capsys):
    code, out, _ = run(capsys, "fetch", name)
    assert code == 0 and ("already there" in out or "nothing to fetch" in out)
    assert not cache.exists()


def test_archive_of_several_files_is_fetched_once(server, cache, monkeypatch, capsys):
    second = CONTENT[::-1]
    server.pages["both.zip"] = {"body": zipped(one=CONTENT, two=second)}
    address = server.address("both.zip")
    raws = tuple(
        catalogue.RawFile("pair", name, len(content), hashlib.sha256(content).hexdigest(), address)
        for name, content in (("one", CONTENT), ("two", second))
    )
    monkeypatch.setitem(catalogue.CATALOGUE, NAME, replace(catalogue.CATALOGUE[NAME], files=raws))
    assert run(capsys, "fetch", NAME)[0] == 0
    assert server.requests == ["/both.zip"]
    assert list(files.read(catalogue.describe(NAME))) == [CONTENT, second]


# --- failures ---


HALF = len(GOOD["zip"][0]) // 2


@pytest.mark.parametrize(
    ("body", "path", "page", "says"),
    [
        (b"<html>Please sign in</html>", "table.zip", {}, "not a readable zip file"),
        (zipped(other=CONTENT), "table.zip", {}, "has no member table.csv"),
        (zipped(table_dot_csv=CONTENT[:-1] + b"!"), "table.zip", {}, "sha256 differs"),
        (CONTENT[:-1], "table.csv", {}, f"only {len(CONTENT) - 1} bytes"),
        (CONTENT + b"!", "table.csv", {}, "more than the"),
        (GOOD["zip"][0][:HALF], "table.zip", {"announced": 2 * HALF}, f"ended after {HALF} of {2 * HALF} bytes"),
        (CONTENT * 3, "table.csv", {"announced": None}, f"more than the {len(CONTENT)} bytes"),
    ],
)
def test_wrong_content_is_reported(body, path, page, says, offer, server, cache, capsys):
    target = offer(body, path, **page)
    assert_failed(capsys, cache, server, says)
    assert not target.exists()


def test_silent_server_is_reported(offer, server, cache, capsys, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    offer(CONTENT[:1000], "table.csv", announced=len(CONTENT), stall=True)
    assert_failed(capsys, cache, server, "timed out")


def test_full_disk_while_storing_is_reported(offer, server, cache, capsys, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    offer(GOOD["zip"][0])
    monkeypatch.setattr(download.os, "replace", full)
    assert_failed(capsys, cache, server, "No space left on device")


def test_one_failure_does_not_stop_the_others(offer, cache, capsys):
    offer(None)
    code, out, err = run(capsys, "fetch", NAME, "wine")
    assert code == 1 and "wine is already there" in out and f"{NAME} was not fetched" in err


def test_fetch_raises_or_reports_progress(offer, cache):
    offer(None)
    with pytest.raises(FetchError, match="HTTP status 404"):
        datasets.fetch(NAME)
    offer(GOOD["zip"][0])
    seen = []
    assert "is stored in" in datasets.fetch(NAME, lambda *progress: seen.append(progress))
    size = len(GOOD["zip"][0])
    assert seen[-1][1:] == (size, size)
    with pytest.raises(ValueError, match="'iris'"):
        datasets.fetch("iris")


def test_list_shows_every_data_set(cache, capsys):
    code, out, _ = run(capsys, "list")
    rows = [line.split(maxsplit=4) for line in out.splitlines()[1:]]
    assert code == 0 and [row[0] for row in rows] == list(datasets.names())
    for name, n, d, task, where in rows:
        info = datasets.describe(name)
        assert (int(n), int(d), task) == (info.n_samples, info.n_features, info.task)
        assert where == datasets.status(name)


@pytest.mark.parametrize("arguments", [[], ["fetch"], ["fetch", "iris"], ["burn", "adult"]])
def test_invalid_usage_prints_the_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m datasets" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_line_every_tenth_without_a_terminal(offer, server, capsys):
    offer(bytes(range(256)) * 8000)  # refused at the end; only the progress matters here
    _, _, err = run(capsys, "fetch", NAME)
    shares = [line.split("(")[1].rstrip("%)") for line in err.splitlines() if line.startswith("  ")]
    assert len(shares) <= 11 and shares == sorted(shares, key=int) and shares[-1] == "100"
