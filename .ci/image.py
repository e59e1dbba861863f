"""The Dockerfile's steps by hand, where no container engine is: an empty tree of folders, chroot, an ordinary user.

    python .ci/image.py                # with the packages of this very environment
    python .ci/image.py --install      # with those that the Dockerfile's own pip line installs, with hashes, from PyPI

Everything that can be is read from the Dockerfile and .dockerignore: what is copied, the environment, user, command and
health check. The system is this machine's, and so is its Python; all of it, and the app, is mounted read-only, /data
alone is not, and there is no network. Linux only, as root, for it needs namespaces of its own, which end with it.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path

with contextlib.suppress(ImportError):  # Windows has none; the tests of what the files say run there too
    import fcntl

ROOT = Path(__file__).parents[1]
USER = 10001
_LIBRARIES = ("/usr", "/etc", "/lib", "/lib64", "/bin", "/sbin")
# Of Linux's sched.h, sockios.h and if.h.
_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS = 0x8914
_IFF_UP, _IFF_RUNNING = 0x1, 0x40
_PATH = "/usr/local/bin:/usr/bin:/bin"


# --- what the files say ----------------------------------------------------------------------------------------------


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Name and argument of each instruction, continued lines joined, comments left out."""
    lines = [line for line in dockerfile.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [
        (name.upper(), rest.strip()) for name, _, rest in (line.strip().partition(" ") for line in joined.split("\n"))
    ]


def final_stage(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    last = max(i for i, (name, _) in enumerate(found) if name == "FROM")
    return found[last:]


def environment(stage: list[tuple[str, str]]) -> dict[str, str]:
    """What ENV sets, on top of the base image's PATH."""
    known = {"PATH": _PATH}
    for name, rest in stage:
        if name == "ENV":
            for word in shlex.split(rest):
                variable, _, value = word.partition("=")
                known[variable] = value.replace("$PATH", _PATH)
    return known


def argument(stage: list[tuple[str, str]], name: str) -> str:
    """Of the last instruction of this name."""
    return [rest for found, rest in stage if found == name][-1]


def exec_form(text: str) -> list[str]:
    """The words of a CMD in exec form; a ValueError if it is in shell form."""
    return json.loads(text[text.index("[") :])


def context_files(root: Path, ignore: str) -> list[Path]:
    """What a build of this repository gets to see of the files that git knows, relative to its root.

    The last pattern of .dockerignore that matches a file or a folder above it decides, as in Docker.
    """
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    patterns = [line.strip() for line in ignore.splitlines() if line.strip() and not line.startswith("#")]
    kept = []
    for name in sorted(filter(None, listed.stdout.decode().split("\0"))):
        path, ignored = Path(name), False
        for pattern in patterns:
            bare = pattern.removeprefix("!")
            if any(_matches(part.as_posix(), bare) for part in (path, *path.parents[:-1])):
                ignored = not pattern.startswith("!")
        if not ignored and (root / path).is_file():
            kept.append(path)
    return kept


def _matches(path: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatchcase(path, pattern[3:]) or fnmatchcase(path, f"*/{pattern[3:]}")
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


# --- the tree --------------------------------------------------------------------------------------------------------


def _run(*command, **how) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], check=True, **how)


def _mount(source: Path | str, target: Path) -> None:
    """The same folder or file at another place, which cannot be written through that one."""
    if Path(source).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _run("mount", "--bind", source, target)
    _run("mount", "-o", "remount,bind,ro", target)


def build(tree: Path, install: bool, keep_data: Path) -> None:
    """What the Dockerfile makes: system, /opt/venv, /app and /data, all but the last read-only."""
    _run("mount", "--make-rprivate", "/")
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", tree)
    for name in _LIBRARIES:
        if Path(name).is_symlink():
            (tree / name[1:]).symlink_to(os.readlink(name))
        elif Path(name).is_dir():
            _mount(name, tree / name[1:])
    base = Path(sys.base_prefix).resolve()
    if not base.is_relative_to("/usr"):
        _mount(base, tree / base.relative_to("/"))
    for name in ("null", "zero", "urandom", "random"):
        device = tree / "dev" / name
        device.parent.mkdir(exist_ok=True)
        device.touch()
        _run("mount", "--bind", f"/dev/{name}", device)
    # As every engine gives it, on a read-only root as well: the locks between processes are there.
    (tree / "dev" / "shm").mkdir()
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", tree / "dev" / "shm")
    (tree / "proc").mkdir()
    _run("mount", "-t", "proc", "proc", tree / "proc")
    (tree / "tmp").mkdir()  # read-only like the rest: no tmpfs is taken for granted

    if install:
        _install(tree)
    else:
        _mount(sys.prefix, tree / "opt" / "venv")
    for path in context_files(ROOT, (ROOT / ".dockerignore").read_text()):
        target = tree / "app" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)
        target.chmod(0o644)
    (tree / "data").mkdir()
    _run("mount", "--bind", keep_data, tree / "data")
    os.chown(tree / "data", USER, USER)
    (tree / "data").chmod(0o750)
    _run("mount", "-o", "remount,bind,ro", tree)


def _install(tree: Path) -> None:
    """The pip line of the first stage, word for word, but for where it puts things."""
    found = instructions((ROOT / "Dockerfile").read_text())
    line = next(rest for name, rest in found if name == "RUN" and "--require-hashes" in rest)
    venv = tree / "opt" / "venv"
    line = line.replace("/opt/venv", str(venv)).replace("/build/requirements.lock", str(ROOT / "requirements.lock"))
    base = Path(sys.base_prefix) / "bin" / "python3"
    _run("sh", "-ec", line.replace("python -m", f"{base} -m"))
    # The environment was made outside of its tree: its programs are started through its python, whose path is right.


# --- what is tried in it ---------------------------------------------------------------------------------------------


def inside(tree: Path, command: list[str], variables: dict[str, str]) -> list[str]:
    """The command as a container would run it: this root, this user without any privilege, this environment alone."""
    words = [f"{name}={value}" for name, value in variables.items()]
    drop = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs", "--bounding-set=-all"]
    shell = 'cd /app && exec "$@"'
    return ["chroot", str(tree), *drop, "env", "-i", *words, "sh", "-c", shell, "sh", *command]


def _say(line: str) -> None:
    print(line, flush=True)


def check(tree: Path, log: Path) -> None:
    """Start the app, ask for its health, run an experiment, write where nothing may be written."""
    stage = final_stage(instructions((ROOT / "Dockerfile").read_text()))
    variables = environment(stage)
    command, health = exec_form(argument(stage, "CMD")), exec_form(argument(stage, "HEALTHCHECK"))

    for place in ("/", "/app", "/opt/venv", "/tmp", "/usr", "/etc"):
        refused = _try_to_write(tree, place, variables)
        assert refused, f"{place} can be written"
    assert not _try_to_write(tree, "/data", variables), "/data cannot be written"
    _say("read-only: / /app /opt/venv /tmp /usr /etc; writable: /data")

    with log.open("w") as output, contextlib.ExitStack() as stack:
        server = subprocess.Popen(inside(tree, command, variables), stdout=output, stderr=subprocess.STDOUT)
        stack.callback(_end, server)
        start = time.monotonic()
        while subprocess.run(inside(tree, health, variables), capture_output=True).returncode:
            assert server.poll() is None, f"the server ended: {log.read_text()}"
            assert time.monotonic() - start < 90, f"no health: {log.read_text()}"
            time.sleep(0.2)
        _say(f"health check answers after {time.monotonic() - start:.1f} s, as user {_owner(server.pid)}")
        run = ["python", "-m", "rff_engine", "run", "features", "--dataset", "breast", "--repeats", "2", "--jobs", "2"]
        done = subprocess.run(inside(tree, run, variables), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        _say(done.stderr.strip().splitlines()[-1])
        assert server.poll() is None
        _page(tree, variables)
    written = sorted(path.relative_to(tree).as_posix() for path in (tree / "data").rglob("*"))
    assert "data/results.sqlite" in written
    _say(f"written: {', '.join(written)}")
    for word in ("Traceback", "Read-only", "PermissionError"):
        assert word not in log.read_text(), log.read_text()


def _try_to_write(tree: Path, place: str, variables: dict[str, str]) -> bool:
    """Whether that is refused."""
    code = f"import os; name = os.path.join({place!r}, '.written'); open(name, 'w').close(); os.remove(name)"
    return subprocess.run(inside(tree, ["python", "-c", code], variables), capture_output=True).returncode != 0


def _page(tree: Path, variables: dict[str, str]) -> None:
    """A page of the app runs to its end without an exception, in the same tree."""
    code = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=120).run()
assert not app.exception, app.exception
assert app.title or app.markdown, "an empty page"
"""
    ran = subprocess.run(inside(tree, ["python", "-c", code], variables), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    _say("the first page runs to its end")


def _leave_the_network() -> None:
    """A network of its own with nothing but loopback: no port is taken already, and nothing outside can be asked."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        fcntl.ioctl(link, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", _IFF_UP | _IFF_RUNNING))


def _owner(pid: int) -> int:
    return os.stat(f"/proc/{pid}").st_uid


def _end(server: subprocess.Popen) -> None:
    server.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(15)
    server.kill()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument(
        "--install", action="store_true", help="install as the Dockerfile does, instead of this environment"
    )
    options.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        print("This needs Linux and root: a mount namespace of its own.", file=sys.stderr)
        return 3
    if not given.within:
        again = [
            "unshare",
            "--mount",
            "--pid",
            "--mount-proc",
            "--fork",
            "--kill-child",
            sys.executable,
            __file__,
            "--within",
        ]
        return subprocess.run([*again, *["--install"] * given.install]).returncode
    with tempfile.TemporaryDirectory(prefix="rff_image_") as folder:
        tree, data = Path(folder, "root"), Path(folder, "data")
        tree.mkdir()
        data.mkdir()
        try:
            build(tree, given.install, data)
            _leave_the_network()
            check(tree, Path(folder, "log.txt"))
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", tree], check=False)
    _say("the image's steps hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
