"""Downloads the files that are not bundled into the user's cache, checked before they count as there.

An interrupted or failed download leaves nothing behind. Addresses and checksums are the catalogue's; what is
read from the network or out of an archive is bounded, and no name from outside ever becomes a path.
"""

from __future__ import annotations

import http.client
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from datasets import files
from datasets.catalogue import RawFile, describe

TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 16

Report = Callable[[str, int, int | None], None]


class FetchError(RuntimeError):
    """A data set could not be fetched; the message is one sentence that says why, and what to do by hand."""


def fetch(name: str, report: Report | None = None) -> str:
    """Download the files of a data set that are missing or damaged.

    Parameters
    ----------
    name : str
        One of `names()`.
    report : callable, optional
        Called as report(address, bytes received, bytes expected or None) while a download goes on.

    Returns
    -------
    str
        One sentence: what was stored where, or that nothing had to be done.

    Raises
    ------
    ValueError
        For an unknown name.
    FetchError
        If it fails, for whatever reason.
    """
    info = describe(name)
    if not info.files:
        return f"{name} comes with scikit-learn: nothing to fetch"
    try:
        missing = [raw for raw in info.files if not _is_there(raw)]
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
    """The network did not give what was asked for."""


def _is_there(raw: RawFile) -> bool:
    """Whether a good copy is found; a bad one outside the cache raises, as it would hide the new one."""
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
    """Download one address and store the files wanted from it, once all of them are good."""
    with _workspace() as workspace:
        # The catalogue's name, not the server's: its suffix tells how to open it.
        archive = workspace / wanted[0].download_name
        plain = archive.name == wanted[0].name
        _download(address, archive, wanted[0].size if plain else files.MAX_ARCHIVE, report)
        checked = []
        for number, raw in enumerate(wanted):
            content = workspace / f"checked-{number}"
            with content.open("wb") as out:
                for piece in files.chunks(archive, raw, label=f"what {address} sent"):
                    out.write(piece)
            checked.append(content)
        for raw, content in zip(wanted, checked, strict=True):
            folder = files.cache_folder() / raw.folder
            folder.mkdir(exist_ok=True)
            try:
                os.replace(content, folder / raw.name)
            finally:
                with suppress(OSError):  # goes only if it is empty, so if that failed
                    folder.rmdir()


@contextmanager
def _workspace() -> Iterator[Path]:
    """A temporary folder in the cache: on the same disk, so that files can be moved out of it in one step."""
    cache = files.cache_folder()
    is_new = not cache.exists()
    cache.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache) as folder:
            yield Path(folder)
    finally:
        if is_new:
            with suppress(OSError):  # something was stored in it: then it stays
                cache.rmdir()


def _download(address: str, target: Path, limit: int, report: Report | None) -> None:
    """Write what an address gives to a file, at most `limit` bytes of it."""
    received = 0
    with _open(address) as response, target.open("wb") as out:
        expected = response.length
        if expected is not None and expected > limit:
            raise _DownloadError(f"{address} announces {expected} bytes, where at most {limit} are expected")
        while piece := _receive(response, address):
            received += len(piece)
            if received > limit:
                raise _DownloadError(f"{address} sends more than the {limit} bytes that are expected")
            out.write(piece)
            if report is not None:
                report(address, received, expected)
    if expected is not None and received < expected:
        raise _DownloadError(f"the connection to {address} ended after {received} of {expected} bytes")


def _open(address: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(address, headers={"User-Agent": "rff-datasets (python-urllib)"})
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        raise _DownloadError(f"{address} answers with HTTP status {error.code} ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise _DownloadError(_unreachable(address, getattr(error, "reason", error))) from error


def _receive(response: http.client.HTTPResponse, address: str) -> bytes:
    # Apart from the writing, so that the network's OSErrors are not taken for the disk's.
    try:
        return response.read(_CHUNK)
    except (OSError, http.client.HTTPException) as error:
        raise _DownloadError(_unreachable(address, error)) from error


def _unreachable(address: str, reason: object) -> str:
    if isinstance(reason, TimeoutError):
        return f"{address} did not answer for {TIMEOUT:g} seconds"
    text = " ".join(str(reason).split()) or type(reason).__name__
    return f"{address} cannot be reached ({text})"
