"""deploy/nginx.conf: visitors keep their process and go on with the other when it is gone, and pages work over TLS."""

from __future__ import annotations

import http.client
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from conftest import ROOT, _missing, settle, wait_until

from benchmarks.ports import free_ports

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")
TLS = re.compile(r"```nginx\n(.*?)```", re.DOTALL)


def replaced(text: str, changes: dict[str, str]) -> str:
    for theirs, ours in changes.items():
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


@pytest.fixture(scope="module")
def start_nginx():
    """Function that starts nginx in front of two servers and returns its port and its process."""
    if NGINX is None or OPENSSL is None:
        _missing("no nginx, or no openssl, on this machine")

    def start(addresses: tuple[str, str], changes: dict[str, str] | None = None) -> tuple[int, subprocess.Popen]:
        port, folder = free_ports(), Path(stack.enter_context(TemporaryDirectory()))
        folder.chmod(0o755)  # started by root, nginx writes as another user, who cannot enter pytest's folders
        text = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
        text = replaced(text, {"app1:8502": addresses[0], "app2:8503": addresses[1], **(changes or {})})
        text = replaced(
            text, {"listen 127.0.0.1:8501": f"listen 127.0.0.1:{port}", "worker_processes auto": "worker_processes 1"}
        )
        (folder / "nginx.conf").write_text(text, encoding="utf-8")
        nginx = subprocess.Popen([NGINX, "-p", folder, "-c", folder / "nginx.conf"])
        stack.callback(nginx.wait, 10)
        stack.callback(nginx.terminate)
        wait_until(lambda: listens(port), 20)
        return port, nginx

    with ExitStack() as stack:
        yield start


def listens(port: int) -> bool:
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


@pytest.fixture
def workers(tmp_path):
    """Two servers by port, which answer with their port."""
    started = {}
    with ExitStack() as stack:
        for port in (free_ports(2) + k for k in range(2)):
            (tmp_path / str(port)).mkdir()
            (tmp_path / str(port) / "index.html").write_text(str(port))
            command = [sys.executable, "-m", "http.server", str(port), "-b", "127.0.0.1", "-d", tmp_path / str(port)]
            started[port] = stack.enter_context(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            stack.callback(started[port].kill)
        wait_until(lambda: all(map(listens, started)), 20)
        yield started


@pytest.fixture
def proxied(workers, start_nginx):
    """Port and process of nginx in front of `workers`; its names of the processes are their ports."""
    one, two = workers
    names = {"8502    rff_8502": f"{one} rff_8502", "8503    rff_8503": f"{two} rff_8503"}
    return start_nginx((f"127.0.0.1:{one}", f"127.0.0.1:{two}"), names)


def visit(port: int, cookie: int | str = "", source: str = "127.0.0.1", **headers: str) -> tuple[str, int | None]:
    """Answer to a visitor, and the process that a new cookie names."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, 30, source_address=(source, 0))) as link:
        link.request("GET", "/", headers=headers | ({"Cookie": f"rff_process={cookie}"} if cookie else {}))
        answer = link.getresponse()
        (new,) = re.findall(r"rff_process=(\d+)", answer.getheader("Set-Cookie", "")) or [None]
        return answer.read().decode() if answer.status == 200 else str(answer.status), new and int(new)


def test_visitors_keep_their_process_and_go_on_with_the_other_when_it_is_stopped_or_killed(proxied, workers):
    port, nginx = proxied
    own = [nginx.pid, *(child.pid for child in psutil.Process(nginx.pid).children())]
    listening = [one.laddr for pid in own for one in psutil.Process(pid).net_connections() if one.status == "LISTEN"]
    assert {(address.ip, address.port) for address in listening} == {("127.0.0.1", port)}

    assert {visit(port) for _ in range(8)} == {(str(worker), worker) for worker in workers}
    for worker in workers:
        assert {visit(port, worker) for _ in range(4)} == {(str(worker), None)}
    assert visit(port, "../../anything")[1] in workers

    stopped, other = workers
    os.kill(workers[stopped].pid, signal.SIGSTOP)
    begun = time.monotonic()
    assert visit(port, stopped) == (str(other), other)
    assert {visit(port) for _ in range(8)} == {(str(other), other)}
    assert time.monotonic() - begun < 15  # each upstream waits once
    os.kill(workers[stopped].pid, signal.SIGCONT)
    wait_until(lambda: visit(port)[1] == stopped, 30)
    workers[other].kill()
    begun = time.monotonic()
    assert {visit(port, other) for _ in range(4)} == {(str(stopped), stopped)} and time.monotonic() - begun < 2


def test_nginx_names_no_version_lets_no_type_be_guessed_and_takes_uploads_up_to_the_limit(proxied):
    with closing(http.client.HTTPConnection("127.0.0.1", proxied[0], 30)) as link:
        for body, status in (("x" * 300_000, 501), (None, 413)):  # the servers behind take no file
            link.request("PUT", "/", body, {} if body else {"Content-Length": "13000000"})
            answer = link.getresponse()
            assert (answer.read(), answer.status)[1] == status
            assert answer.getheader("Server").split("/")[0] == "nginx" or status == 501
            assert answer.headers.get_all("X-Content-Type-Options") == ["nosniff"]
            link.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
@pytest.mark.parametrize(
    ("slow", "statuses"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", {"127.0.0.1": "", "127.0.0.2": ""}),
        (b"PUT / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 127.0.0.1\r\nContent-Length: 9\r\n\r\n", {"127.0.0.1": "429"}),
    ],
    ids=["headers", "bodies"],
)
def test_a_visitor_is_served_while_1100_connections_of_an_address_are_slow(proxied, slow, statuses):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 4096, hard))
        for _ in range(1100):
            stack.enter_context(socket.create_connection(("127.0.0.1", proxied[0]), 10)).sendall(slow)
        for address, refusal in ({"127.0.0.2": ""} | statuses).items():
            # nginx may still be reading the requests before; it waits longer for a body.
            wait_until(lambda a=address, r=refusal: (visit(proxied[0], source=a)[0] == r) == bool(r), 20)


# --- the app over TLS ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secure(server, start_nginx, tmp_path_factory):
    """Address of nginx in front of the app, with TLS as docs/deployment.md sets it."""
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    make = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    (lines,) = TLS.findall((ROOT / "docs" / "deployment.md").read_text("utf-8"))
    names = {"/etc/ssl/rff.example.org.pem": str(certificate), "/etc/ssl/rff.example.org.key": str(key)}
    lines = replaced(lines, {"listen 443 ssl;": "listen 127.0.0.1:8501 ssl;", **names})
    app = server.removeprefix("http://").replace("localhost", "127.0.0.1")
    port, _ = start_nginx((app, app), {"listen 127.0.0.1:8501;": lines})
    return f"https://localhost:{port}"


def asked(secure: str, path: str, **headers: str) -> http.client.HTTPMessage:
    """Headers of the answer to a request over TLS, with its status."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPSConnection(secure.removeprefix("https://"), timeout=30, context=trusting)) as link:
        link.request("GET", path, headers=named)
        answer = link.getresponse()
        answer.headers["status"] = str(answer.status)
        return answer.headers


def test_a_page_works_over_tls_and_its_first_visit_takes_less_than_3_MB(secure, new_context):
    page = new_context(ignore_https_errors=True).new_page()
    sockets, finished, refused = [], [], []
    page.on("websocket", lambda one: sockets.append(one.url))
    page.on("requestfinished", lambda one: finished.append(one))
    page.on("response", lambda one: refused.append(one.url) if one.status >= 400 else None)
    page.goto(f"{secure}/bounds?seed=3")
    page.wait_for_selector("h1")
    settle(page)
    assert page.url.startswith(f"{secure}/bounds")
    assert sockets and all(one.startswith(secure.replace("https", "wss")) for one in sockets)
    # Streamlit first requests its endpoints below the page's own path.
    assert [url for url in refused if "/bounds/_stcore/" not in url] == []
    assert 1e6 < sum(one.sizes()["responseBodySize"] for one in finished) < 3e6


def test_cookies_are_for_tls_alone_and_browsers_keep_to_it(secure):
    answer = asked(secure, "/_stcore/health")
    cookies = answer.get_all("Set-Cookie")
    assert {cookie.split("=")[0] for cookie in cookies} >= {"_streamlit_xsrf", "rff_process"}
    assert all("; Secure" in cookie for cookie in cookies)
    assert answer["Strict-Transport-Security"].startswith("max-age=")


@pytest.mark.parametrize(("origin", "status"), [("", "101"), ("https://elsewhere.example", "403")])
def test_a_websocket_of_another_origin_is_refused(secure, origin, status):
    shake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    shake |= {"Sec_WebSocket_Version": "13", "Sec_WebSocket_Protocol": "streamlit", "Origin": origin or secure}
    assert asked(secure, "/_stcore/stream", **shake)["status"] == status
