"""The README's nginx settings, as they stand there: pages load and their websocket connects through them."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import ExitStack

import pytest
from conftest import ROOT, _missing, settle, wait_until

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def proxy(server, tmp_path_factory):
    """Addresses of nginx in front of the app, with and without TLS."""
    if NGINX is None or OPENSSL is None:
        _missing("no nginx, or no openssl, on this machine")
    folder = tmp_path_factory.mktemp("nginx")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *name]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)

    (said,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    plain, secure = free_port(), free_port()
    for theirs, ours in {
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
        "https://$host$request_uri": f"https://$host:{secure}$request_uri",
        "rff.example.org;": "localhost;",
        "/etc/ssl/rff.example.org.pem": str(certificate),
        "/etc/ssl/rff.example.org.key": str(key),
        "http://127.0.0.1:8501": server,
    }.items():
        assert theirs in said, theirs
        said = said.replace(theirs, ours)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    settings = folder / "nginx.conf"
    settings.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log {folder}/access.log; {places}\n{said} }}\n"
    )
    with ExitStack() as stack:
        nginx = subprocess.Popen([NGINX, "-p", folder, "-c", settings], stderr=subprocess.PIPE, text=True)
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
        yield f"http://localhost:{plain}", f"https://localhost:{secure}", folder / "access.log"


def test_a_page_works_through_the_proxy_over_tls(proxy, browser):
    plain, secure, log = proxy
    context = browser.new_context(ignore_https_errors=True)
    try:
        page = context.new_page()
        sockets, refused = [], []
        page.on("websocket", lambda one: sockets.append(one.url))
        page.on("response", lambda one: refused.append((one.status, one.url)) if one.status >= 400 else None)
        page.goto(f"{plain}/bounds?seed=3")  # led on to TLS
        page.wait_for_selector("h1")
        settle(page)
        assert page.url.startswith(f"{secure}/bounds")
        assert sockets and all(one.startswith(secure.replace("https", "wss")) for one in sockets)
        # Streamlit looks for itself below the page's own path first.
        assert [url for _, url in refused if "/bounds/_stcore/" not in url] == []
    finally:
        context.close()
    wait_until(lambda: " 101 " in log.read_text())  # written when the websocket is closed


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
