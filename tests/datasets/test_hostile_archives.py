"""Hostile archives: reading takes bounded memory, and no name from outside becomes a path."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import socket
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from test_fetch import CONTENT, NAME, offer, run, server, zipped  # noqa: F401

import datasets

ROOT = Path(datasets.__file__).parent.parent
ZEROS = bytes(1 << 20)
EXPANDED = 400  # MB


def gz() -> bytes:
    return gzip.compress(ZEROS, 1) * EXPANDED  # members of a gzip file are concatenated


def xz() -> bytes:
    return lzma.compress(ZEROS, preset=0) * EXPANDED


def in_zip(name: str, content: bytes | None = None) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as member,
    ):
        for _ in range(EXPANDED if content is None else 1):
            member.write(ZEROS if content is None else content)
    return buffer.getvalue()


def with_false_size() -> bytes:
    """A zip whose directory declares 20 bytes."""
    data = bytearray(in_zip("table.csv"))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = struct.pack("<I", 20)
    return bytes(data)


def window_of_4_gib() -> bytes:
    return bytes([0x5D]) + struct.pack("<IQ", 0xFFFFFFFF, 1 << 40) + bytes(1000)


BOMBS = {
    "table.csv.gz": gz,
    "table.csv.xz": xz,
    "table.csv.zip": lambda: in_zip("table.csv"),
    "gz.zip": lambda: in_zip("table.csv.gz", gz()),
    "zip.zip": lambda: in_zip("a.zip", in_zip("table.csv")),
    "other member.zip": lambda: in_zip("other.csv"),
    "other inner zip.zip": lambda: in_zip("a.zip"),
    "deep.zip": lambda: in_zip("a.zip", in_zip("a.zip", in_zip("a.zip", in_zip("a.zip", in_zip("table.csv"))))),
    "false size.zip": with_false_size,
    "window.xz": window_of_4_gib,
    "many.zip": lambda: zipped(**{f"f{i}": b"" for i in range(20_000)}),
}
READ = """
import json, resource, sys, traceback
from pathlib import Path
from datasets.papers import catalogue, files
raw = catalogue.RawFile(folder="x", name="table.csv", size=1000, sha256="0" * 64, address="http://127.0.0.1/x")
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
for path in map(Path, sys.argv[1:]):
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, said = kilobytes("VmRSS"), "nothing"
    try:
        for piece in files.chunks(path, raw):
            assert len(piece) <= 1001
    except files.DamagedFileError as error:
        said = str(error)
    except Exception:
        said = traceback.format_exc()
    print(json.dumps([kilobytes("VmHWM") - before, said]), flush=True)
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory) -> dict[str, tuple[Path, int, str]]:
    """The file of each bomb, the most kilobytes that reading it took, and what was said; one process reads all."""
    folder = tmp_path_factory.mktemp("bombs")
    paths = [folder / bomb for bomb in BOMBS]
    for path in paths:
        path.write_bytes(BOMBS[path.name]())
    command = [sys.executable, "-c", READ, *paths]
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)
    lines = map(json.loads, said.stdout.splitlines())
    assert said.returncode == 0 and said.stderr == "", (said.stdout, said.stderr)
    return {path.name: (path, *line) for path, line in zip(paths, lines, strict=True)}


@pytest.mark.second
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.parametrize("bomb", BOMBS)
def test_decompression_bomb_is_refused_in_little_memory(bomb, refused):
    path, kilobytes, said = refused[bomb]
    assert said.startswith(str(path)) and "\n" not in said
    assert kilobytes < 60_000, f"{EXPANDED} MB must not be expanded"


@pytest.mark.parametrize(
    "member", ["../../table.csv", "/table.csv", "/etc/table.csv", "..\\..\\table.csv", "a/../../table.csv"]
)
def test_member_names_never_become_paths(member, offer, cache, capsys, tmp_path):  # noqa: F811
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, CONTENT)
        link = zipfile.ZipInfo("link.csv")
        link.external_attr = 0o120777 << 16  # a symbolic link when extracted
        archive.writestr(link, "/etc/passwd")
    target = offer(buffer.getvalue())
    code, _, said = run(capsys, "fetch", NAME)
    there = {path for path in tmp_path.rglob("*") if not path.is_dir()}
    assert there == ({target} if code == 0 else set())
    assert code == 0 or "no member" in said


@pytest.mark.parametrize(
    "name", ["../ads", "ads/../../x", "/etc/passwd", "..", "ads\0", "ads\n", "C:\\x", "a" * 300, ""], ids=ascii
)
def test_unknown_names_never_reach_the_disk(name, cache, capsys, tmp_path):
    for ask in (datasets.load, datasets.describe, datasets.fetch, datasets.status, datasets.published_split):
        with pytest.raises(ValueError, match=r"\w"):
            ask(name)
    with pytest.raises(SystemExit):
        run(capsys, "fetch", name)
    out, said = capsys.readouterr()
    assert not out and "invalid choice" in said.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_catalogue_names_are_plain_file_names():
    for name in datasets.names():
        for raw in datasets.describe(name).files:
            for place in (raw.folder, *raw.local_names):
                assert place == os.path.basename(place) and place not in ("", ".", "..") and "\\" not in place


@pytest.mark.slow
def test_missing_network_is_reported_in_one_sentence_and_bundled_data_load(cache, capsys, monkeypatch):
    """No host name resolves, for every address of the catalogue."""

    def no_network(*_, **__):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    missing = [name for name in datasets.names() if datasets.status(name) == "to fetch"]
    assert len(missing) >= 5
    for name in missing:
        code, out, said = run(capsys, "fetch", name)
        (line,) = [one for one in said.splitlines() if not one.startswith(("downloading", "  "))]
        assert code == 1 and not out and "cannot be read" in line and "by hand" in line
        with pytest.raises(datasets.DataNotFoundError, match="fetch"):
            datasets.load(name)
    assert not any(cache.iterdir())
    assert datasets.load("breast").n_samples == 569
