"""Download of files that are not bundled: they are checked, then stored in the user's cache.

An interrupted or failed download leaves nothing behind. Addresses and checksums are the catalogue's; every read is
bounded in size and time, and no name from outside ever becomes a path.
Not pooch: it checks the hash of the downloaded file, but publishers repack archives and only the hash of the content is
stable; and it bounds neither size nor time.
"""

from __future__ import annotations

import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from . import files
from .catalogue import RawFile, describe

TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 16

Report = Callable[[str, int, int | None], None]


class FetchError(RuntimeError):
    """A data set could not be fetched; the message is one sentence with the reason and what to do by hand."""


def fetch(name: str, report: Report | None = None) -> str:
    """Download the files of a data set that are missing or damaged.

    Parameters
    ----------
    name : str
        One of `names()`.
    report : callable, optional
        Called during a download as report(address, bytes received, bytes expected or None).

    Returns
    -------
    str
        One sentence: where the files are, and whether they are new.

    Raises
    ------
    ValueError
        For an unknown name.
    FetchError
        If it fails for any reason.
    """
    info = describe(name)
    if not info.files:
        return f"{name} comes with scikit-learn: nothing to fetch"
    try:
        missing = [raw for raw in info.files if not _is_stored(raw)]
        for address in dict.fromkeys(raw.address for raw in missing):
            _fetch_from(address, [raw for raw in missing if raw.address == address], report)
    except (files.DamagedFileError, _DownloadError) as error:
        reason = str(error)
    except OSError as error:
        reason = f"{error.filename or files.cache_folder()} cannot be used ({error.strerror or error})"
    else:
        places = ", ".join(str(files.find(raw)) for raw in info.files)
        return f"{name} is stored in {places}" if missing else f"{name} is already there: {places}"
    hint = "; ".join(dict.fromkeys(files.by_hand(raw) for raw in info.files))
    raise FetchError(f"{name} was not fetched because {reason}: {hint}")


class _DownloadError(Exception):
    """The connection failed, or sent something else than the file."""


def _is_stored(raw: RawFile) -> bool:
    """Return whether a good copy exists. A damaged one outside the cache raises, since it would hide the new one."""
    path = files.find(raw)
    if path is None:
        return False
    try:
        for _ in files.chunks(path, raw):
            pass
    except files.DamagedFileError:
        if not path.is_relative_to(files.cache_folder()):
            raise
        return False
    return True


def _fetch_from(address: str, wanted: list[RawFile], report: Report | None) -> None:
    """Download one address and store the wanted files from it, once all of them are checked."""
    cache = files.cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # On the same disk, so that moving files out of it is atomic.
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as workspace:
        # The catalogue's name, not the server's; its suffix tells the compression.
        archive = Path(workspace) / wanted[0].download_name
        plain = archive.name == wanted[0].name
        _download(address, archive, wanted[0].size if plain else files.MAX_ARCHIVE, report)
        checked = {Path(workspace) / f"checked-{number}": raw for number, raw in enumerate(wanted)}
        for content, raw in checked.items():
            with content.open("wb") as out:
                out.writelines(files.chunks(archive, raw, label=f"the file that {address} sent"))
        for content, raw in checked.items():
            (cache / raw.folder).mkdir(exist_ok=True)
            os.replace(content, cache / raw.folder / raw.name)


def _download(address: str, target: Path, limit: int, report: Report | None) -> None:
    """Write the response of an address to a file, at most `limit` bytes."""
    received = 0
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "rff-datasets (python-urllib)"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response, target.open("wb") as out:
            expected = response.length
            while received <= limit and (piece := response.read(_CHUNK)):
                received += len(piece)
                out.write(piece)
                if report is not None:
                    report(address, received, expected)
    except (OSError, http.client.HTTPException) as error:  # an HTTPError is an OSError
        reason = " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__
        status = f"HTTP status {error.code}, " if isinstance(error, urllib.error.HTTPError) else ""
        raise _DownloadError(f"{address} cannot be read ({status}{reason})") from error
    if received > limit:
        raise _DownloadError(f"{address} sends more than the {limit} bytes expected")
    if expected is not None and received < expected:
        raise _DownloadError(f"the connection to {address} ended after {received} of {expected} bytes")
