"""Nobody sees data of another visitor, and nothing in an upload or a link takes effect."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import socket
import urllib.error
import urllib.request
from urllib.parse import quote, urlsplit

import pytest
from conftest import ROOT, settle, violations, wait_until
from test_upload import NAMES, bring, check_nothing_takes_effect, main_text, upload

CLASSES = ("![x](http://elsewhere.example/x.png)", ":material/home:", "=cmd|' /C calc'!A0", "</style><b>x</b>")


def hostile_table() -> bytes:
    """A table of numbers that differ between classes, with hostile names of columns and classes."""
    names = [*NAMES, '"<svg onload=window.hacked=1>"', "<u>class</u>"]
    rows = [
        ",".join([*(f"{(i * (j + 3)) % 17 + i % 4}" for j in range(len(names) - 1)), CLASSES[i % 4]])
        for i in range(160)
    ]
    return "\n".join([",".join(names), *rows]).encode()


@pytest.fixture
def own_host_only():
    """Function that watches a page; the test fails if the page requests another host."""
    foreign = []

    def watch(page, address):
        own = urlsplit(address).netloc
        page.on("request", lambda one: foreign.append(one.url) if urlsplit(one.url).netloc not in ("", own) else None)
        return page

    yield watch
    assert foreign == []


def test_hostile_text_is_shown_as_text(open_page, server, own_host_only):
    page = own_host_only(open_page("your_data"), server)
    upload(page, hostile_table(), "<img src=x onerror=window.hacked=1>.csv")
    page.locator(".js-plotly-plot, canvas").first.wait_for(timeout=60_000)
    page.evaluate("document.querySelectorAll('details:not([open]) > summary').forEach(summary => summary.click())")
    settle(page)
    text = main_text(page)
    assert all(shown in text for shown in (CLASSES[0], NAMES[0], "<img src=x onerror=window.hacked=1>.csv"))
    assert page.locator("[data-testid=stMain] [aria-label='home icon']").count() == 0 and "😄" not in text
    assert (
        page.locator("[data-testid=stMain]").locator("a[href*=elsewhere], img[src*=elsewhere], svg[onload]").count()
        == 0
    )
    check_nothing_takes_effect(page)
    box = page.get_by_role("combobox", name="Class to separate from all others")

    def offered() -> set[str]:
        if not page.get_by_role("listbox").count():  # a script run that ends now closes it
            box.press("ArrowDown")
        return {one.strip() for one in page.get_by_role("option").all_inner_texts()}

    wait_until(lambda: set(CLASSES) <= offered())
    check_nothing_takes_effect(page)
    page.get_by_role("option", name=CLASSES[1]).click()
    wait_until(lambda: f"red: {CLASSES[1]}" in " ".join(main_text(page).replace("\u2060", "").split()), 60)
    settle(page)
    check_nothing_takes_effect(page)


HOSTILE = "<img src=x onerror=window.hacked=1>![x](http://elsewhere.example/x.png)../../../etc/passwd"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("your_data?sample={}", HOSTILE),
        ("landmarks?data={}&beta={}&picks={}&{}={}", HOSTILE),
        ("kernel?kernel={}&D={}", HOSTILE),
        ("real_data?dataset={}&methods={}&split={}", HOSTILE),
        ("real_data?dataset={}&methods={}&split={}", "../../../etc/passwd"),
        ("paper?what={}&dataset={}", HOSTILE),
        ("landmarks?lesson={}&step={}&projector={}", HOSTILE),
    ],
)
def test_a_hostile_link_is_corrected_and_has_no_effect(open_page, server, own_host_only, path, word):
    """All parameters are hostile at once, to save loads; the text works inside itself too."""
    page = own_host_only(open_page(path.replace("{}", quote(word, safe=""))), server)
    assert page.locator("h1").count() == 1 and page.locator("[data-testid=stException]").count() == 0
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], img[src*=elsewhere]").count() == 0
    assert page.complaints == []
    page.close()


SECRET = "zirconium4711"


def fetch(method: str, address: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(address, body, {name.replace("_", "-"): value for name, value in headers.items()})
    request.method = method
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture(scope="module")
def private(start_server, tmp_path_factory):
    """A server with all its files in one folder, and that folder."""
    folder = tmp_path_factory.mktemp("private")
    places = {name: folder / name for name in ("HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    for place in places.values():
        place.mkdir()
    return start_server(folder=folder, **{name: str(place) for name, place in places.items()}), folder


def page_with_upload(open_page, address):
    """A page with a secret in its table, the upload request, all requests, and the uploaded bytes."""
    page = open_page("your_data", address=address)
    requests = []
    page.on("request", lambda one: requests.append(one))
    rows = (f"{i % 7},{i % 5},{SECRET if i % 2 else 'other'}" for i in range(40))
    data = "\n".join([f"{SECRET}a,{SECRET}b,{SECRET}y", *rows]).encode()
    upload(page, data, f"{SECRET}.csv")
    bring(page)
    page.get_by_role("tab", name="Paste text").click()
    page.get_by_role("textbox", name="Lines of CSV").fill(data.decode().replace("other", f"{SECRET}pasted"))
    page.get_by_role("button", name="Read the text").click()
    page.get_by_text("the text you pasted").first.wait_for(state="attached")
    settle(page)
    assert SECRET in main_text(page)
    (sent,) = [one for one in requests if one.method == "PUT"]
    return page, sent, requests, data


def test_an_upload_reaches_no_other_visitor_and_no_file(private, open_page):
    """Slow, because it starts a server and opens each page for a second visitor."""
    address, folder = private
    frames = []
    second = open_page("your_data", address=address)
    second.on("websocket", lambda one: one.on("framereceived", lambda data: frames.append(data)))
    second.reload()
    first, sent, requests, data = page_with_upload(open_page, address)
    for path in ("your_data", "real_data", "", "landmarks"):
        second.goto(f"{address}/{path}")
        second.wait_for_selector("h1")
        settle(second)
        assert SECRET not in second.content()
    assert len(frames) > 10
    assert not [one for one in frames if SECRET in (one if isinstance(one, str) else one.decode("latin-1"))]

    # No address returns the upload: neither its own nor media addresses, whose ids are digests of the content.
    assert SECRET.encode() not in fetch("GET", sent.url)[1]  # the app's page, as for any unknown address
    for kind, name in (("text/csv", f"{SECRET}.csv"), ("text/csv", None), ("application/octet-stream", None)):
        digest = hashlib.blake2b(
            f"{len(data)}:".encode() + data + kind.encode() + (name or "").encode(), digest_size=16
        )
        for ending in (".csv", ".bin", ""):
            assert fetch("GET", f"{address}/media/{digest.hexdigest()}{ending}")[0] == 404
    for one in {one.url for one in requests if "/media/" in one.url}:
        assert SECRET.encode() not in fetch("GET", one)[1]
    for path in ("_stcore/metrics", "_stcore/host-config", "_stcore/health"):
        assert SECRET.encode() not in fetch("GET", f"{address}/{path}")[1]
    for path in ("interact", "mcp"):
        status, said = fetch("POST", f"{address}/_stcore/agent/{path}", b"{}", Content_Type="application/json")
        assert status >= 400 and SECRET.encode() not in said

    # No file of the server contains it: store, log, cache, temporary folder.
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert {"results.sqlite", "log.txt"} <= {path.name for path in written}
    for path in written:
        assert SECRET.encode() not in path.read_bytes(), path

    # Without the session's token, upload and deletion are refused.
    for method in ("PUT", "DELETE"):
        assert fetch(method, sent.url, b"x", Content_Type="text/csv")[0] == 403
    assert SECRET in main_text(first)
    first.reload()  # a new session: the table is deleted
    settle(first)
    assert SECRET not in first.content()


def test_a_file_without_the_token_of_the_page_is_refused(private, open_page):
    """Requests of another site's page, which carry the visitor's cookie but cannot read it."""
    address, _ = private
    _, sent, _, _ = page_with_upload(open_page, address)
    headers = sent.all_headers()
    token = headers["x-xsrftoken"]
    cookie = next(one["value"] for one in sent.frame.page.context.cookies() if "xsrf" in one["name"])
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n1,2\r\n--x--\r\n'
    form = {"Content_Type": "multipart/form-data; boundary=x", "Cookie": f"_streamlit_xsrf={cookie}"}
    assert fetch("PUT", sent.url, body, **form)[0] == 403
    version, mask, secret, since = token.split("|")
    other = "|".join([version, mask, secret[::-1], since])
    assert fetch("PUT", sent.url, body, **form, X_Xsrftoken=other)[0] == 403
    assert fetch("PUT", sent.url, body, **form, X_Xsrftoken=token)[0] == 204  # the token decides
    unknown = re.sub(r"upload_file/[^/]+", "upload_file/00000000-0000-4000-8000-000000000000", sent.url)
    assert fetch("PUT", unknown, body, **form, X_Xsrftoken=token)[0] == 400
    link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    announced = {name.replace("_", "-"): value for name, value in form.items()} | {"Content-Length": "11000000"}
    link.request("PUT", urlsplit(sent.url).path, headers=announced | {"X-Xsrftoken": token})
    assert link.getresponse().status == 413  # before any byte is read
    link.close()


CLIMBS = (
    "../../../../../../../../etc/passwd",
    "..%2f..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "..%5c..%5c..%5cetc%5cpasswd",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "../../app.py",
    "..%2f..%2fapp.py",
    "../.streamlit/config.toml",
    "..%2f.streamlit%2fconfig.toml",
)


@pytest.mark.parametrize(
    "place", ["", "media/", "static/", "app/static/", "component/x/", "_stcore/bidi-components/live/"]
)
def test_no_path_leads_out_of_the_served_folders(server, place):
    """Paths are sent through a socket, because HTTP clients normalize them."""
    own = (ROOT / "app.py").read_bytes()[:60], (ROOT / ".streamlit" / "config.toml").read_bytes()[:60], b"root:"
    where = urlsplit(server)
    for climb in CLIMBS:
        with socket.create_connection((where.hostname, where.port), timeout=30) as link:
            link.sendall(f"GET /{place}{climb} HTTP/1.1\r\nHost: {where.netloc}\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while piece := link.recv(1 << 16):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 ") and not any(some in answer for some in own), climb


def test_a_websocket_of_another_origin_is_refused(server):
    where = urlsplit(server)
    for origin, answer in ((server, b"101"), ("https://elsewhere.example", b"403"), ("null", b"403")):
        with socket.create_connection((where.hostname, where.port), timeout=30) as link:
            link.sendall(
                f"GET /_stcore/stream HTTP/1.1\r\nHost: {where.netloc}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Protocol: streamlit\r\n\r\n".encode()
            )
            assert link.recv(200).startswith(b"HTTP/1.1 " + answer), origin


def test_no_page_that_frames_the_app_may_control_it(server):
    """Streamlit's default lets pages of its own cloud stop the app, rerun it, and lead it elsewhere."""
    assert json.loads(fetch("GET", f"{server}/_stcore/host-config")[1])["allowedOrigins"] == []


@pytest.mark.first
def test_neither_a_script_in_the_page_nor_one_of_another_host_runs(open_page):
    page = open_page("errata")
    page.evaluate(
        """() => {
            document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hacked = 1">');
            document.body.append(Object.assign(document.createElement('script'), {text: 'window.hacked = 1'}));
            document.body.append(Object.assign(document.createElement('script'), {src: 'https://elsewhere.example/'}));
        }"""
    )
    wait_until(lambda: page.evaluate("window.hacked") is not None or len(violations) >= 3)
    assert page.evaluate("window.hacked") is None
    violations.clear()
