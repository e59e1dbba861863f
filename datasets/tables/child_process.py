"""Program that reads one file for `uploads`, under limits of time and memory; nothing imports it.

Input: a line of JSON with the request and its limits, then the file. Output: what `Table.encoded` gives, or a line of
JSON with the reason why there is no table. Exit status: ENOMEM if memory did not suffice. It uses no environment
variable, and no folder but those of the interpreter and of the readers. Of this package it loads the readers only,
since the rest takes seconds.
"""

import contextlib
import errno
import gc
import json
import sys
import traceback
import types
from importlib import import_module
from pathlib import Path

#: Name of this package, also where it is installed as `rff_datasets`.
_PACKAGE = Path(__file__).parents[1].name


def _limit_resources(seconds: int, memory_bytes: int) -> None:
    """Limit processor time, memory and file size, where the system has such limits."""
    try:
        import resource
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_CPU: (seconds, seconds + 1),  # SIGXCPU first, which the parent can explain, then SIGKILL
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),  # no file can be written
    }
    for kind, limits in wanted.items():
        hard = resource.getrlimit(kind)[1]  # a hard limit cannot be raised
        if hard != resource.RLIM_INFINITY:
            limits = (min(limits[0], hard), min(limits[1], hard))
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit on addresses
            resource.setrlimit(kind, limits)


def _skip_package_init() -> None:
    """Make the subpackages importable without running the `__init__` of the package."""
    package = types.ModuleType(_PACKAGE)
    package.__path__ = [str(Path(__file__).parents[1])]
    sys.modules[_PACKAGE] = package


def _reply(request: dict, data: bytes) -> bytes:
    """Return the encoded table, or the reason why there is none."""
    readers, table = (import_module(f"{_PACKAGE}.tables.{name}") for name in ("readers", "table"))
    try:
        source = data.decode("utf-8", "surrogatepass") if request["is_text"] else data
        return readers.read(source, request["name"], table.Limits(**request["limits"]), request["choices"]).encoded()
    except table.UploadError as error:
        return json.dumps({"refusal": str(error)}).encode()
    except MemoryError:
        raise
    except Exception as error:  # its message may quote the file, whose content is not logged
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
        return json.dumps({"reader_error": place}).encode()


def _main() -> None:
    request = json.loads(sys.stdin.buffer.readline())
    _limit_resources(request["seconds"], request["memory_bytes"])
    sys.path += request["folders"]
    _skip_package_init()
    gc.disable()  # else it scans millions of rows again and again; the process ends soon
    sys.stdout.buffer.write(_reply(request, sys.stdin.buffer.read()))


if __name__ == "__main__":
    try:
        _main()
    except MemoryError:  # a traceback would take more
        sys.exit(errno.ENOMEM)
