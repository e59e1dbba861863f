"""Search for data files, and checked reading of their bytes, compressed or not.

Every read is checked against the size and sha256 of the catalogue and stops at that size, so a damaged download or a
malicious archive is reported by name instead of being parsed. Nothing is written here.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO

from .catalogue import DatasetInfo, RawFile, describe, names


def _bundled() -> Path:
    """Return the folder of the shipped files: `data` in the repository, else the package `rff_data`."""
    here = Path(__file__).parents[1] / "data"
    installed = None if here.is_dir() else find_spec("rff_data")
    return Path(installed.origin).parent if installed and installed.origin else here


#: Folder of shipped data sets, and of the rows of reruns; it need not exist.
BUNDLED = _bundled()
MAX_ARCHIVE = 30_000_000  # bytes; the largest archive of the catalogue has 11 million
_CHUNK = 1 << 18
#: By system: the variable that names the folder of caches, and the folder below the user's home if it is not set.
_CACHES = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("XDG_CACHE_HOME", "Library/Caches")}
_Stream = IO[bytes] | io.BufferedIOBase
_NOT_READABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,  # gzip's own error, or an invalid offset
    NotImplementedError,  # an unknown zip method
    RuntimeError,  # an encrypted zip
    ValueError,  # an offset outside the file
    MemoryError,  # a window or a directory of any size that a header claims
)


class DataNotFoundError(FileNotFoundError):
    """No folder that is searched has a file of the data set."""


class DamagedFileError(ValueError):
    """A file exists, but is not the one that the catalogue describes."""


def program() -> str:
    """Return the command that fetches data, as typed. `python -m rff_engine` works wherever this is imported."""
    return "rff-engine" if Path(sys.argv[0]).stem == "rff-engine" else "python -m rff_engine"


def cache_folder() -> Path:
    """Return this user's folder for downloaded data sets. It need not exist."""
    # As in platformdirs, which the engine alone does not install.
    variable, usual = _CACHES.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    named = Path(os.environ.get(variable, ""))
    try:
        return (named if named.is_absolute() else Path.home() / usual) / "rff"
    except RuntimeError:  # a container's user may have no home
        return Path(tempfile.gettempdir()) / "rff"


def search_folders() -> tuple[Path, ...]:
    """Return the folders to search, in order: this package's data, the folder in RFF_DATA if set, and the cache."""
    configured = os.environ.get("RFF_DATA", "")
    extra = (Path(os.path.expanduser(configured)),) if configured else ()
    return (BUNDLED, *extra, cache_folder())


def find(raw: RawFile) -> Path | None:
    """Return the path of the first copy of a file, compressed or not; None if there is none."""
    candidates = (folder / raw.folder / name for folder in search_folders() for name in raw.local_names)
    # Not Path.is_file, which raises where a folder cannot be read.
    return next((path for path in candidates if os.path.isfile(path)), None)


def found_files(name: str) -> list[Path]:
    """Return the files of a data set that are on this machine, without those of scikit-learn."""
    return [path for raw in describe(name).files if (path := find(raw)) is not None]


def status(name: str) -> str:
    """Return where a data set is. No file is opened.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    {"bundled", "found", "to fetch"}
        "bundled": part of this package or of scikit-learn; "found": below RFF_DATA or in the cache.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    raw_files = describe(name).files
    paths = [path for raw in raw_files if (path := find(raw)) is not None]
    if len(paths) < len(raw_files):
        return "to fetch"
    return "bundled" if all(path.is_relative_to(BUNDLED) for path in paths) else "found"


def available() -> tuple[str, ...]:
    """Return the names of the data sets whose files are on this machine. No file is opened."""
    return tuple(name for name in names() if status(name) != "to fetch")


def by_hand(raw: RawFile) -> str:
    """Return instructions for a download by hand: the address, and the folder for the file."""
    place = cache_folder() / raw.folder
    return f"download {raw.address} by hand and put it, unchanged, in {place} or $RFF_DATA/{raw.folder}"


def read(info: DatasetInfo) -> Iterator[bytes]:
    """Yield the uncompressed content of each file of a data set, in the catalogue's order.

    Raises
    ------
    DataNotFoundError
        If a file is missing.
    DamagedFileError
        If a file is not the expected one.
    """
    for raw in info.files:
        path = find(raw)
        if path is None:
            places = ", ".join(str(folder / raw.folder) for folder in search_folders())
            raise DataNotFoundError(
                f"{raw.name} of the data set {info.name} is not in {places}: "
                f"run `{program()} fetch {info.name}`, or {by_hand(raw)}"
            )
        yield b"".join(chunks(path, raw))


def chunks(path: Path, raw: RawFile, label: str | None = None) -> Iterator[bytes]:
    """Yield the uncompressed content of a file in pieces. It is correct only if the iteration ends without an error.

    Parameters
    ----------
    path : Path
        The file itself, or a .gz, .xz or .zip that contains it.
    raw : RawFile
        The expected content.
    label : str, optional
        Its name in errors; its path by default.

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
            # One byte more than expected shows that it is too long.
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
        raise DamagedFileError(f"{label} has {amount} bytes of {raw.name}; {raw.size} are expected")
    if digest.hexdigest() != raw.sha256:
        raise DamagedFileError(f"{label} is not the expected {raw.name} (its sha256 differs)")


class _MemberNotFound(Exception):
    """An archive lacks the requested file."""


def _uncompressed(stream: IO[bytes], name: str, wanted: str, stack: ExitStack) -> _Stream:
    """Return a stream of the uncompressed bytes. The suffix of the name gives the compression."""
    match PurePosixPath(name).suffix:
        case ".gz":
            return stack.enter_context(gzip.GzipFile(fileobj=stream))
        case ".xz":
            return stack.enter_context(lzma.LZMAFile(stream))
        case ".zip":
            return _member(stack.enter_context(zipfile.ZipFile(stream)), wanted, stack)
        case _:
            return stream


def _member(archive: zipfile.ZipFile, wanted: str, stack: ExitStack, depth: int = 0) -> _Stream:
    """Open a member of an archive by its base name, in any folder of it.

    Paths of the archive are compared, never used on the disk. Publishers repack their archives: the member may be
    compressed again, or be in an inner archive.
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
