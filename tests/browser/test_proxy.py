"""The nginx settings of docs/deployment.md: pages load and their websocket connects through them."""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import ROOT, _missing, settle, wait_until

from benchmarks.ports import free_ports

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")


NGINX_TEXT = re.compile(r"```nginx\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def start_nginx(tmp_path_factory):
    """Function that starts nginx with given settings and returns its addresses, without and with TLS, and its log."""
    if NGINX is None or OPENSSL is None:
        _missing("no nginx, or no openssl, on this machine")
    with ExitStack() as stack:
        yield lambda settings: _start_nginx(settings, tmp_path_factory.mktemp("nginx"), stack)


def _start_nginx(settings: str, folder, stack: ExitStack):
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *name]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)

    plain = free_ports(2)
    secure = plain + 1
    settings = replaced(
        settings,
        {
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
            "https://$host$request_uri": f"https://$host:{secure}$request_uri",
            "rff.example.org;": "localhost;",
            "/etc/ssl/rff.example.org.pem": str(certificate),
            "/etc/ssl/rff.example.org.key": str(key),
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log {folder}/access.log; {places}\n{settings} }}\n"
    )
    nginx = subprocess.Popen([NGINX, "-p", folder, "-c", file], stderr=subprocess.PIPE, text=True)
    stack.callback(nginx.wait, 10)
    stack.callback(nginx.terminate)
    end = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", secure), timeout=1).close()
            break
        except OSError:
            assert nginx.poll() is None and time.monotonic() < end, nginx.communicate()[1]
            time.sleep(0.05)
    return f"http://localhost:{plain}", f"https://localhost:{secure}", folder / "access.log"


def replaced(text: str, changes: dict[str, str]) -> str:
    for theirs, ours in changes.items():
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


def documented_settings() -> list[str]:
    """Documented settings of nginx for one server, and the addition for several."""
    docs = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    one, several = NGINX_TEXT.findall(docs)
    return [one, several]


@pytest.fixture(scope="module")
def proxy(server, start_nginx):
    """Addresses of nginx in front of the app, with and without TLS."""
    return start_nginx(replaced(documented_settings()[0], {"http://127.0.0.1:8501": server}))


@pytest.fixture
def counted():
    """Function that starts a relay to a local port and returns its port and a growing list of received byte counts."""
    closing = []

    def start(port: int) -> tuple[int, list[int]]:
        listener, counts = socket.create_server(("127.0.0.1", 0)), []
        closing.append(listener)

        def pass_on(source: socket.socket, target: socket.socket, counts: list[int] | None) -> None:
            with suppress(OSError):
                while some := source.recv(65536):
                    if counts is not None:
                        counts.append(len(some))
                    target.sendall(some)
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    far = socket.create_connection(("127.0.0.1", port))
                    closing.extend((near, far))
                    threading.Thread(target=pass_on, args=(near, far, None), daemon=True).start()
                    threading.Thread(target=pass_on, args=(far, near, counts), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return listener.getsockname()[1], counts

    yield start
    for one in closing:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()


class Stub(BaseHTTPRequestHandler):
    """A server that answers with its own port."""

    def do_GET(self):
        answer = str(self.server.server_port).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def stubs():
    """Ports of two servers."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Stub) for _ in range(2)]
    for one in servers:
        threading.Thread(target=one.serve_forever, daemon=True).start()
    yield [one.server_port for one in servers]
    for one in servers:
        one.shutdown()
        one.server_close()


def test_a_cookie_keeps_a_visitor_on_one_server_and_visitors_are_spread(stubs, start_nginx):
    one, several = documented_settings()
    several = replaced(several, {"8501": str(stubs[0]), "8502": str(stubs[1])})
    header = 'add_header X-Content-Type-Options    "nosniff" always;'
    new = " add_header Set-Cookie $rff_new_cookie always;"
    changes = {"http://127.0.0.1:8501": "http://$rff_process", header: header + new}
    _, secure, _ = start_nginx(several + replaced(one, changes))
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    link = http.client.HTTPSConnection("127.0.0.1", int(secure.rsplit(":", 1)[1]), context=trusting, timeout=30)

    def visit(cookie: str | None = None) -> tuple[str, str | None]:
        link.request("GET", "/", headers={"Host": "localhost"} | ({"Cookie": cookie} if cookie else {}))
        answer = link.getresponse()
        return answer.read().decode(), answer.getheader("Set-Cookie")

    chosen = set()
    for _ in range(40):  # from one address and one browser
        _, cookie = visit()
        name = cookie.split(";")[0]
        assert "SameSite=None" in cookie
        answers = {visit(name) for _ in range(4)}
        assert len(answers) == 1 and answers == {(next(iter(answers))[0], None)}
        chosen |= answers
    assert {port for port, _ in chosen} == {str(port) for port in stubs}
    assert visit("rff_process=../../anything")[0] in map(str, stubs)
    link.close()


@pytest.fixture
def fetched(counted, browser):
    """Function that opens pages of an address one after the other in a new browser; returns the bytes of each."""
    contexts = []

    def fetch(address: str, *paths: str) -> list[int]:
        start, _, port = address.rpartition(":")
        port, counts = counted(int(port))
        contexts.append(browser.new_context(ignore_https_errors=True))
        taken = []
        for path in paths:
            counts.clear()
            page = contexts[-1].new_page()
            page.goto(f"{start}:{port}/{path}")
            page.wait_for_selector("h1")
            settle(page)
            page.locator("canvas, .main-svg").first.wait_for()
            taken.append(sum(counts))
            page.close()
        return taken

    yield fetch
    for context in contexts:
        context.close()


def test_a_first_visit_takes_less_than_3_MB_and_the_next_uses_the_cache(server, fetched):
    first, second = fetched(server, "", "landmarks")
    assert 1e6 < first < 3e6 and 1e5 < second < 0.5e6


def test_a_first_visit_through_the_proxy_takes_less_than_3_MB(proxy, fetched):
    (first,) = fetched(proxy[1], "landmarks")  # browsers do not cache over an untrusted certificate
    assert 1e6 < first < 3e6


def test_a_page_works_through_the_proxy_over_tls(proxy, browser):
    plain, secure, log = proxy
    context = browser.new_context(ignore_https_errors=True)
    try:
        page = context.new_page()
        sockets, refused = [], []
        page.on("websocket", lambda one: sockets.append(one.url))
        page.on("response", lambda one: refused.append((one.status, one.url)) if one.status >= 400 else None)
        page.goto(f"{plain}/bounds?seed=3")  # redirected to TLS
        page.wait_for_selector("h1")
        settle(page)
        assert page.url.startswith(f"{secure}/bounds")
        assert sockets and all(one.startswith(secure.replace("https", "wss")) for one in sockets)
        # Streamlit first requests its endpoints below the page's own path.
        assert [url for _, url in refused if "/bounds/_stcore/" not in url] == []
    finally:
        context.close()
    wait_until(lambda: " 101 " in log.read_text())  # written when the websocket is closed


def test_cookies_are_for_tls_alone(proxy):
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    link = http.client.HTTPSConnection("127.0.0.1", int(proxy[1].rsplit(":", 1)[1]), context=trusting, timeout=30)
    link.request("GET", "/_stcore/health", headers={"Host": "localhost"})
    cookies = link.getresponse().headers.get_all("Set-Cookie")
    link.close()
    assert cookies[0].startswith("_streamlit_xsrf=") and all(cookie.endswith("; Secure") for cookie in cookies)


def test_a_websocket_of_another_origin_is_refused(proxy):
    _, secure, _ = proxy
    port = int(secure.rsplit(":", 1)[1])
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for origin, answer in ((secure, "101"), ("https://elsewhere.example", "403")):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as plain, trusting.wrap_socket(plain) as link:
            link.sendall(
                f"GET /_stcore/stream HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Protocol: streamlit\r\n\r\n".encode()
            )
            assert link.recv(200).startswith(f"HTTP/1.1 {answer}".encode()), origin
