"""Run several processes of the app behind nginx: `make serve WORKERS=4`.

A process that ends, or shows no page, is started again; its visitors go on with another. SIGHUP restarts all, one
after the other. SIGTERM and Ctrl+C end everything.
"""

from __future__ import annotations

import argparse
import os
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from deploy.nginx import FILES, SECONDS_LEFT_OUT, configuration

ROOT = Path(__file__).parents[1]
#: Seconds between looks at the check of health, which one look starts and the next reads; to start; and to end.
EVERY, TO_START, TO_END = 10.0, 60.0, 10.0
#: Checks in a row without a page after which a process is started again.
MAX_FAILURES = 3


@dataclass
class Worker:
    """One process of the app."""

    port: int
    environment: dict[str, str]
    process: subprocess.Popen | None = None
    asking: subprocess.Popen | None = None
    """The check of health that is under way, see `deploy.health`"""
    failures: int = 0
    started: float = field(default=-float("inf"))

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.port", str(self.port)]
        command += ["--server.address", "127.0.0.1", "--server.headless", "true"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment)
        self.started, self.failures = time.monotonic(), 0

    def stop(self) -> None:
        if self.asking is not None:
            self.asking.kill()
            self.asking.wait()
            self.asking = None
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def restart(self, why: str) -> None:
        say(f"The process on port {self.port} {why}: it is started again.")
        self.stop()
        self.start()

    def ask(self) -> subprocess.Popen:
        """Start to ask it for a page."""
        command = [sys.executable, str(ROOT / "deploy" / "health.py"), str(self.port)]
        self.asking = subprocess.Popen(command, env=self.environment)
        return self.asking

    def wait_until_healthy(self) -> bool:
        """Whether it shows a page soon after its start."""
        while not self.has_ended() and self.age() < TO_START:
            time.sleep(1)
            if self.ask().wait() == 0:
                return True
        return False

    def age(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.started

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def check(self) -> None:
        """Ask it for a page, without waiting for the answer; start it again after too many failures in a row."""
        if self.age() < TO_START:
            return
        if self.asking is None:
            self.ask()
        elif (code := self.asking.poll()) is not None:
            self.asking = None
            self.failures = 0 if code == 0 else self.failures + 1
            if self.failures >= MAX_FAILURES:
                self.restart("shows no page")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def allow_files() -> None:
    """Raise the limit of open files, which nginx and the processes inherit, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def environment_of(workers: int) -> dict[str, str]:
    """The environment of each process: cookies that all can read, and its share of the cores."""
    cores = str(max(1, (os.cpu_count() or 1) // workers))
    shared = {
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
        "RFF_MAX_SCRIPTS": cores,
        "RFF_MAX_WORKERS": cores,
        "MALLOC_ARENA_MAX": "2",
    }
    return shared | dict(os.environ)


def start_nginx(listen: str, ports: list[int], stack: ExitStack) -> subprocess.Popen:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if program is None:
        sys.exit("nginx is not installed; it is the package nginx-light of Debian, and nginx elsewhere.")
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    os.chmod(folder, 0o755)  # started by root, nginx writes as another user
    file = Path(folder, "nginx.conf")
    file.write_text(configuration(listen, ports, folder), encoding="utf-8")
    nginx = subprocess.Popen([program, "-p", folder, "-c", file])
    stack.callback(nginx.wait)
    stack.callback(nginx.terminate)
    return nginx


def restart_in_turn(workers: list[Worker]) -> None:
    """Restart all; each after the one before it shows a page."""
    for worker in workers:
        worker.restart("is due")
        if not worker.wait_until_healthy():
            say(f"The process on port {worker.port} shows no page after its restart; the others stay as they are.")
            return
        time.sleep(2 * SECONDS_LEFT_OUT)  # until nginx asks it again


def watch(workers: list[Worker], nginx: subprocess.Popen, restart: threading.Event) -> str:
    """Keep the processes running; restart all when asked for; return why it ends."""
    checked = time.monotonic()
    while nginx.poll() is None:
        time.sleep(0.2)
        if restart.is_set():
            restart.clear()
            restart_in_turn(workers)
        for worker in workers:
            if worker.has_ended() and worker.age() > 1:  # one that cannot start is tried once a second
                worker.restart("has ended")
        if time.monotonic() - checked > EVERY:
            checked = time.monotonic()
            for worker in workers:
                worker.check()
    return f"nginx has ended with code {nginx.returncode}; its message is above."


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m deploy", description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    arguments.add_argument("--port", type=int, default=8501, help="of nginx; the processes take the next ones")
    arguments.add_argument("--address", default="", help="that nginx listens on (default: all)")
    return arguments


def main(argv: list[str] | None = None) -> None:
    asked = parser().parse_args(argv)
    if not 1 <= asked.workers <= 64:
        sys.exit(f"--workers is {asked.workers}; a number from 1 to 64 is needed.")
    if not 1 <= asked.port <= 65535 - asked.workers:
        sys.exit(f"--port is {asked.port}; a number from 1 to {65535 - asked.workers} is needed.")
    ports = list(range(asked.port + 1, asked.port + 1 + asked.workers))
    shared = environment_of(asked.workers)
    workers = [Worker(port, shared) for port in ports]
    restart = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, lambda *_: restart.set())
    allow_files()
    with ExitStack() as stack:
        nginx = start_nginx(f"{asked.address}:{asked.port}".lstrip(":"), ports, stack)
        for worker in workers:
            stack.callback(worker.stop)
            worker.start()
        try:
            reason = watch(workers, nginx, restart)
        except KeyboardInterrupt:
            reason = ""
    sys.exit(reason or 0)


if __name__ == "__main__":
    main()
