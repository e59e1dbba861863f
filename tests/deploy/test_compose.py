"""Containers and the systemd unit: files that agree with each other, confined services, no secret in a file."""

from __future__ import annotations

import http.client
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from benchmarks.ports import free_ports
from deploy import compose
from deploy.nginx import configuration

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="no nginx on this machine")
SERVICES = yaml.safe_load(compose.compose())["services"]
APPS = {name: service for name, service in SERVICES.items() if name.startswith("app")}


# --- containers ---------------------------------------------------------------------------------------------------


def test_the_files_of_the_repository_are_those_that_the_program_writes(tmp_path):
    compose.main(["--output", str(tmp_path)])
    for place in (compose.COMPOSE, compose.NGINX):
        assert (tmp_path / place).read_text("utf-8") == (ROOT / place).read_text("utf-8"), "python -m deploy.compose"


@pytest.mark.parametrize("apps", [1, 3, 64])
def test_every_app_has_the_port_and_the_address_that_nginx_asks(apps):
    described = yaml.safe_load(compose.compose(apps, "10.9.8"))
    services = described["services"]
    wanted = {
        f"{services[name]['networks']['web']['ipv4_address']}:{services[name]['environment']['STREAMLIT_SERVER_PORT']}"
        for name in services["web"]["depends_on"]
    }
    (asked,) = re.findall(r"upstream rff \{(.*?)\}", compose.nginx(apps, "10.9.8"), re.DOTALL)
    assert set(re.findall(r"server (\S+)", asked)) == wanted and len(wanted) == apps
    on_web = [
        service["networks"]["web"]["ipv4_address"] for service in services.values() if "web" in service["networks"]
    ]
    assert len(set(on_web)) == apps + 1
    assert described["networks"]["web"]["ipam"]["config"] == [{"subnet": "10.9.8.0/24"}]
    assert services["web"]["ports"][0].endswith(f":{compose.WEB_PORT}")
    assert f"listen {compose.WEB_PORT};" in compose.nginx(apps)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_confined_and_reports_its_health(name):
    service = SERVICES[name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"] and service["healthcheck"]["test"]
    assert any(place.startswith("/tmp") for place in service["tmpfs"])
    assert service.get("user", "the image's own") not in ("root", "0")  # that of the app's image
    assert "privileged" not in service and not any("docker.sock" in volume for volume in service["volumes"])
    assert re.fullmatch(r"rff-postgres|\w+:\d+\.\d+(\.\d+)?-alpine", service["image"])  # a version, not the latest


def test_the_store_is_reached_by_the_apps_alone():
    described = yaml.safe_load(compose.compose())
    assert described["networks"]["store"] == {"internal": True}
    assert {name for name, service in SERVICES.items() if "store" in service["networks"]} == {"store", *APPS}
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert all("@store/" in service["environment"]["RFF_STORE"] for service in APPS.values())


def test_secrets_come_from_the_environment_and_must_be_there():
    secret = re.compile(r"PASSWORD|SECRET")
    values = [
        value
        for service in SERVICES.values()
        for key, value in service.get("environment", {}).items()
        if secret.search(key)
    ]
    assert len(values) == 2 * len(APPS) + 1
    assert all(re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value) for value in values)
    assert not secret.search(compose.nginx())


def test_compose_reads_the_file():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("no docker compose on this machine")
    secrets = {"POSTGRES_PASSWORD": "one", "COOKIE_SECRET": "two"}
    command = [docker, "compose", "--file", str(ROOT / compose.COMPOSE), "config", "--quiet"]
    without = {name: value for name, value in os.environ.items() if name not in secrets}
    assert subprocess.run(command, env=without | secrets, capture_output=True).returncode == 0
    assert b"is not set" in subprocess.run(command, env=without, capture_output=True).stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--apps", "0"], "--apps is 0; a number from 1 to 64 is needed.\n"),
        (["--subnet", "172.31"], "--subnet is '172.31'; three numbers from 0 to 255 are needed, such as 172.31.213.\n"),
        (["--subnet", "1.2.256"], "--subnet is '1.2.256'; three numbers"),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments, message, tmp_path):
    command = [sys.executable, "-m", "deploy.compose", "--output", str(tmp_path), *arguments]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 1 and found.stderr.startswith(message) and found.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


class Answering(BaseHTTPRequestHandler):
    """Answers every request with a status, and its own port."""

    status = 200

    def do_GET(self):
        body = str(self.server.server_port).encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Function that starts a server of `Answering`."""
    started = []

    def start(address: str = "127.0.0.1", status: int = 200) -> ThreadingHTTPServer:
        handler = type("Handler", (Answering,), {"status": status})
        started.append(ThreadingHTTPServer((address, 0), handler))
        threading.Thread(target=started[-1].serve_forever, args=(0.05,), daemon=True).start()
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


# --- nginx --------------------------------------------------------------------------------------------------------


@needs_nginx
def test_nginx_accepts_its_settings(tmp_path):
    file = tmp_path / "nginx.conf"
    file.write_text((ROOT / compose.NGINX).read_text("utf-8").replace("/tmp", str(tmp_path)), encoding="utf-8")
    checked = subprocess.run([NGINX, "-t", "-p", tmp_path, "-c", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.fixture
def start_nginx(tmp_path):
    """Function that starts nginx in front of servers, by port, and returns its own port."""
    started = []

    def start(servers: dict[int, ThreadingHTTPServer]) -> int:
        addresses = {port: server.server_address[0] for port, server in servers.items()}
        port = free_ports()
        text = configuration(f"127.0.0.1:{port}", list(servers), str(tmp_path), addresses)
        text = text.replace("worker_processes auto", "worker_processes 1")  # on any machine
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        tmp_path.chmod(0o755)
        started.append(subprocess.Popen([NGINX, "-p", tmp_path, "-c", tmp_path / "nginx.conf"]))
        while answer(port) is None:
            assert started[-1].poll() is None
            time.sleep(0.05)
        return port

    yield start
    for nginx in started:
        nginx.terminate()
        nginx.wait(10)


@needs_nginx
def test_a_session_keeps_its_address_and_goes_on_with_another_when_it_is_gone(serve, start_nginx):
    try:
        servers = {server.server_port: server for server in (serve("127.0.0.2"), serve("127.0.0.3"))}
    except OSError:
        pytest.skip("this machine has one loopback address")
    port = start_nginx(servers)
    first = answer(port)
    assert {answer(port, first) for _ in range(6)} == {first}
    servers[first].shutdown()
    servers[first].server_close()
    (other,) = set(servers) - {first}
    assert answer(port, first) == other


def answer(port: int, cookie: int | None = None) -> int | None:
    """Port of the server that answers nginx; None as long as nginx starts."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with suppress(OSError):
        link.request("GET", "/", headers={"Cookie": f"rff_process={cookie}"} if cookie else {})
        return int(link.getresponse().read())
    return None


def status(port: int, source: str, **headers: str) -> int:
    """Status of a visitor's page, asked for from an address; 0 if there is no answer."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(source, 0))
    with suppress(OSError):
        link.request("GET", "/", headers=headers)
        return link.getresponse().status
    return 0


SLOW_HEADER = b"GET / HTTP/1.1\r\nHost: a\r\n"
SLOW_BODY = b"PUT / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n"
OF_MANY = [f"127.0.0.{k}" for k in range(2, 13)]


@pytest.mark.more(after=2)
@pytest.mark.slow
@needs_nginx
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
@pytest.mark.parametrize(
    ("slow", "sources", "statuses"),
    [
        (SLOW_HEADER, OF_MANY, {"127.0.0.2": 200, "127.0.0.1": 200}),
        (SLOW_HEADER, ["127.0.0.2"], {"127.0.0.2": 200, "127.0.0.1": 200}),
        (SLOW_BODY, OF_MANY, {"127.0.0.2": 200, "127.0.0.1": 200}),
        (SLOW_BODY, ["127.0.0.2"], {"127.0.0.2": 429, "127.0.0.3": 200}),
        (SLOW_BODY, ["127.0.0.1"], {"192.0.2.1": 429, "192.0.2.2": 200}),  # a proxy that names addresses of visitors
    ],
    ids=["headers of many", "headers of one", "bodies of many", "bodies of one", "bodies through a proxy"],
)
def test_a_visitor_is_served_while_1100_connections_are_slow(serve, start_nginx, slow, sources, statuses):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = serve()
    with ExitStack() as stack:
        if soft != resource.RLIM_INFINITY and soft < 2500:
            stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
            resource.setrlimit(resource.RLIMIT_NOFILE, (2500, hard))
        port = start_nginx({server.server_port: server})
        for k in range(1100):
            link = socket.create_connection(("127.0.0.1", port), 10, source_address=(sources[k % len(sources)], 0))
            stack.enter_context(link).sendall(slow)
        for address, wanted in statuses.items():
            source = address if address.startswith("127") else "127.0.0.1"
            end = time.monotonic() + 20  # less than nginx waits for a body
            while (found := status(port, source, **{"X-Forwarded-For": address})) == 200 != wanted:
                assert time.monotonic() < end, address
                time.sleep(0.05)  # nginx is still reading the requests before
            assert found == wanted, address


@needs_nginx
def test_nginx_names_no_version_and_lets_no_type_be_guessed(serve, start_nginx):
    server = serve()
    port = start_nginx({server.server_port: server})
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    for method, headers, code in (("GET", {}, 200), ("PUT", {"Content-Length": "13000000"}, 413)):
        link.request(method, "/", headers=headers)
        answer = link.getresponse()
        assert (answer.read(), answer.status) and answer.status == code
        assert answer.getheader("Server") == "nginx" and answer.headers.get_all("X-Content-Type-Options") == ["nosniff"]
        link.close()


# --- systemd ------------------------------------------------------------------------------------------------------

UNIT = ROOT / "deploy" / "systemd" / "rff.service"


def settings() -> dict[str, str]:
    return dict(line.split("=", 1) for line in UNIT.read_text("utf-8").splitlines() if re.match(r"\w+=", line))


@pytest.mark.slow
def test_the_unit_starts_the_program_and_may_write_to_its_own_folders_alone():
    unit = settings()
    program, *arguments = unit["ExecStart"].split()
    assert program == f"{unit['WorkingDirectory']}/.venv/bin/python" and arguments[:2] == ["-m", "deploy"]
    asked = subprocess.run([sys.executable, "-m", "deploy", "--help"], cwd=ROOT, capture_output=True, text=True).stdout
    assert all(argument in asked for argument in arguments if argument.startswith("--"))
    assert unit["ProtectSystem"] == "strict" and "ReadWritePaths" not in unit
    places = dict(pair.split("=") for pair in unit["Environment"].split())
    assert places["XDG_DATA_HOME"] == places["HOME"] == f"/var/lib/{unit['StateDirectory']}"
    assert places["XDG_CACHE_HOME"] == f"/var/cache/{unit['CacheDirectory']}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_systemd_accepts_the_unit_and_rates_its_exposure_low(tmp_path):
    """On its scale from 0 to 10, where a unit without settings has 9.6."""
    copy = tmp_path / "rff.service"
    text = UNIT.read_text("utf-8").replace("/srv/rff/.venv/bin/python", sys.executable).replace("/srv/rff", str(ROOT))
    copy.write_text(text, encoding="utf-8")
    for command in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=40"]):
        checked = subprocess.run(["systemd-analyze", *command, copy], capture_output=True, text=True)
        assert checked.returncode == 0 and "Unknown" not in checked.stderr, checked.stdout + checked.stderr
