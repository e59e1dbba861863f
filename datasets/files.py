"""Where data files are looked for, and how their bytes are read, compressed or not.

Every read is checked against the size and sha256 of the catalogue and never goes beyond that size, so a
damaged download or a malicious archive is told by name instead of being parsed. Nothing is written here.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from datasets.catalogue import DatasetInfo, RawFile, describe, names

BUNDLED = Path(__file__).parent / "data"
MAX_ARCHIVE = 30_000_000  # bytes; the largest archive of the catalogue has 11 million
_CHUNK = 1 << 18
_NOT_READABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,  # gzip's own error, or an offset that the system refuses
    NotImplementedError,  # a zip method that Python does not know
    RuntimeError,  # an encrypted zip
    ValueError,  # offsets that point nowhere
    MemoryError,  # a window or a directory as large as a header likes to say
)


class DataNotFoundError(FileNotFoundError):
    """The file of a data set lies in none of the places where it is looked for."""


class DamagedFileError(ValueError):
    """A file is there, but is not the one that the catalogue describes."""


def cache_folder() -> Path:
    """Folder of this user for what `python -m datasets fetch` downloads; it need not exist."""
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    configured = os.environ.get(variable, "")
    if os.path.isabs(configured):  # the XDG specification says to ignore relative paths
        return Path(configured) / "rff"
    try:
        return Path.home() / ".cache" / "rff"
    except RuntimeError:  # a container's user may have no home
        return Path(tempfile.gettempdir()) / "rff"


def search_folders() -> tuple[Path, ...]:
    """Folders below which data files are looked for, in order.

    They are this package's data, the folder that the environment variable RFF_DATA names, and the cache.
    """
    configured = os.environ.get("RFF_DATA", "")
    extra = (Path(os.path.expanduser(configured)),) if configured else ()
    return (BUNDLED, *extra, cache_folder())


def find(raw: RawFile) -> Path | None:
    """First place where a file, compressed or not, exists; None if there is none."""
    candidates = (folder / raw.folder / name for folder in search_folders() for name in raw.local_names)
    # Not Path.is_file: that one raises where a folder may not be looked into.
    return next((path for path in candidates if os.path.isfile(path)), None)


def status(name: str) -> str:
    """Say where a data set is, without opening a file.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    {"bundled", "found", "to fetch"}
        "bundled" if it comes with this package or with scikit-learn, "found" if it is below RFF_DATA or in
        the cache.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    paths = [find(raw) for raw in describe(name).files]
    if None in paths:
        return "to fetch"
    return "bundled" if all(path.is_relative_to(BUNDLED) for path in paths) else "found"


def available() -> tuple[str, ...]:
    """Names of the data sets that can be loaded here and now. Opens no file."""
    return tuple(name for name in names() if status(name) != "to fetch")


def by_hand(raw: RawFile) -> str:
    """How to do without `fetch`: what to download, and where to put it."""
    place = cache_folder() / raw.folder
    return f"download {raw.address} by hand and put it, as it is, in {place} or $RFF_DATA/{raw.folder}"


def read(info: DatasetInfo) -> Iterator[bytes]:
    """Uncompressed content of each file of a data set, in the catalogue's order.

    Raises
    ------
    DataNotFoundError
        If a file is nowhere.
    DamagedFileError
        If a file is not the one expected; it is a ValueError.
    """
    for raw in info.files:
        path = find(raw)
        if path is None:
            places = ", ".join(str(folder / raw.folder) for folder in search_folders())
            raise DataNotFoundError(
                f"{raw.name} of the data set {info.name} is not in {places}: "
                f"run `python -m datasets fetch {info.name}`, or {by_hand(raw)}"
            )
        yield b"".join(chunks(path, raw))


def chunks(path: Path, raw: RawFile, label: str | None = None) -> Iterator[bytes]:
    """Uncompressed content of a file, piece by piece; it is the right one only if this comes to its end.

    Parameters
    ----------
    path : Path
        The file itself, or a .gz, .xz or .zip with it.
    raw : RawFile
        What must be in it.
    label : str, optional
        What errors call it instead of its path.

    Raises
    ------
    DamagedFileError
        If it cannot be uncompressed, or has another size or sha256.
    OSError
        If it cannot be opened.
    """
    label = label or str(path)
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file, ExitStack() as stack:
        try:
            stream = _uncompressed(file, path.name, raw.name, stack)
            # One byte more than expected is enough to know that it is too long.
            while piece := stream.read(min(_CHUNK, raw.size + 1 - size)):
                size += len(piece)
                digest.update(piece)
                yield piece
        except _MemberNotFound:
            raise DamagedFileError(f"{label} has no member {raw.name}") from None
        except _NOT_READABLE as error:
            kind = path.suffix.lstrip(".") or "data"
            raise DamagedFileError(f"{label} is not a readable {kind} file ({error})") from error
    if size != raw.size:
        amount = f"more than {raw.size}" if size > raw.size else f"only {size}"
        raise DamagedFileError(f"{label} has {amount} bytes of {raw.name}, where {raw.size} are expected")
    if digest.hexdigest() != raw.sha256:
        raise DamagedFileError(f"{label} has another content than {raw.name} should have (sha256 differs)")


class _MemberNotFound(Exception):
    """An archive lacks the file wanted."""


def _uncompressed(stream: BinaryIO, name: str, wanted: str, stack: ExitStack) -> BinaryIO:
    """Take off the compression that a file's name tells."""
    match PurePosixPath(name).suffix:
        case ".gz":
            return stack.enter_context(gzip.GzipFile(fileobj=stream))
        case ".xz":
            return stack.enter_context(lzma.LZMAFile(stream))
        case ".zip":
            return _member(stack.enter_context(zipfile.ZipFile(stream)), wanted, stack)
        case _:
            return stream


def _member(archive: zipfile.ZipFile, wanted: str, stack: ExitStack, depth: int = 0) -> BinaryIO:
    """Open the member of an archive by its base name, whichever folder it is in.

    Paths of the archive are compared, never used on the disk. Publishers repack their archives: the member
    may be compressed once more, or be in an archive within.
    """
    members = {PurePosixPath(info.filename).name: info for info in archive.infolist() if not info.is_dir()}
    for name in (wanted, f"{wanted}.gz", f"{wanted}.xz"):
        if name in members:
            return _uncompressed(stack.enter_context(archive.open(members[name])), name, wanted, stack)
    for name, info in members.items():
        if name.endswith(".zip") and info.file_size <= MAX_ARCHIVE and depth < 2:
            inner = stack.enter_context(zipfile.ZipFile(stack.enter_context(archive.open(info))))
            try:
                return _member(inner, wanted, stack, depth + 1)
            except _MemberNotFound:
                continue
    raise _MemberNotFound
