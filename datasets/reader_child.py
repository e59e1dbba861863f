"""The program that reads one file for `uploads`, under limits of time and memory; nobody imports it.

Its input is a line of JSON, with what to read and the limits, then the file. Its output is packed by `transport`; its
exit status is ENOMEM where memory did not suffice. It looks at no variable, and at no folder but those of the
interpreter and of our readers. Of this package it loads the readers alone: the rest takes seconds.
"""

import contextlib
import errno
import json
import sys
import traceback
import types
from pathlib import Path


def _be_small(seconds: int, memory_bytes: int) -> None:
    """End, rather than take the memory or the time of others; where the system knows such limits."""
    try:
        import resource
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_CPU: (seconds, seconds + 1),  # first a signal that says so, then the end
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),  # it writes no file
    }
    for what, both in wanted.items():
        most = resource.getrlimit(what)[1]  # which cannot be raised
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit of addresses
            resource.setrlimit(what, both if most == resource.RLIM_INFINITY else tuple(min(one, most) for one in both))


def _package_without_its_init() -> None:
    package = types.ModuleType("datasets")
    package.__path__ = [str(Path(__file__).parent)]
    sys.modules["datasets"] = package


def _answer(asked: dict, data: bytes) -> bytes:
    from datasets import readers, transport
    from datasets.tables import Limits, UploadError

    try:
        source = data.decode("utf-8", "surrogatepass") if asked["is_text"] else data
        return transport.packed(readers.read(source, asked["name"], Limits(**asked["limits"])))
    except UploadError as error:
        return transport.packed_refusal(str(error))
    except MemoryError:
        raise
    except Exception as error:  # its message may have words of the file, which belong into no log
        last = traceback.extract_tb(error.__traceback__)[-1]
        return transport.packed_fault(f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}")


def _main() -> None:
    asked = json.loads(sys.stdin.buffer.readline())
    _be_small(asked["seconds"], asked["memory_bytes"])
    sys.path += asked["folders"]
    _package_without_its_init()
    sys.stdout.buffer.write(_answer(asked, sys.stdin.buffer.read()))


if __name__ == "__main__":
    try:
        _main()
    except MemoryError:  # to say more would take more
        sys.exit(errno.ENOMEM)
