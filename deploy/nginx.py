"""Settings of nginx for several processes of the app.

A session lives in one process. A cookie names the process that answered a visitor last, and nginx returns to it; a new
visitor goes to the process with the fewest connections. If a process is gone, another answers, and its name replaces
the cookie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Seconds for which nginx does not ask a process again that did not answer.
SECONDS_LEFT_OUT = 1
#: Connections of each worker of nginx, those to the processes included, and its open files, two for each.
CONNECTIONS = 8192
FILES = 2 * CONNECTIONS
#: Requests at a time of one address, websockets included: a class of 120 behind one address, with eight each.
PER_ADDRESS = 1000

_COOKIES = """\
# The process that answered, the last of those that were tried.
map $upstream_addr $rff_answered {
    "~:(?<rff_port>[0-9]+)$" $rff_port;
}
# Over TLS the cookie works in frames of other sites too.
map $http_x_forwarded_proto$scheme $rff_cookie_kind {
    "~https" "Secure; SameSite=None; Partitioned";
    default  "SameSite=Lax";
}
map $rff_answered=$cookie_rff_process $rff_new_cookie {
    "~^([0-9]*)=\\1$" "";   # unchanged: an empty header is not sent
    "~^="            "";
    default          "rff_process=$rff_answered; Path=/; HttpOnly; $rff_cookie_kind";
}
"""

_SITE = """\
server {{
    listen {listen};
    server_tokens off;
    client_max_body_size 12m;   # a little over server.maxUploadSize
    client_header_timeout 15s;  # for the whole header
    client_body_timeout 30s;    # between two pieces
    limit_conn rff_addresses {per_address};
    limit_conn_status 429;
    proxy_hide_header X-Content-Type-Options;
    add_header X-Content-Type-Options nosniff always;   # of answers of nginx too
    add_header Set-Cookie $rff_new_cookie always;

    location / {{
        proxy_pass http://$rff_process;
        proxy_http_version 1.1;
        proxy_set_header Upgrade           $http_upgrade;
        proxy_set_header Connection        $rff_connection;
        proxy_set_header Host              $http_host;
        proxy_set_header X-Forwarded-For   $remote_addr;
        proxy_set_header X-Forwarded-Proto $rff_proto;
        proxy_connect_timeout 2s;   # a container that is being replaced answers nothing at all
        proxy_read_timeout 1h;
        proxy_send_timeout 1h;
        proxy_buffering off;
    }}
}}
"""

_HTTP = """\
# A proxy in front names the visitor's address.
set_real_ip_from {proxy};
real_ip_header X-Forwarded-For;
limit_conn_zone $binary_remote_addr zone=rff_addresses:10m;
map $http_upgrade $rff_connection {{
    default upgrade;
    ""      close;
}}
map $http_x_forwarded_proto $rff_proto {{   # of a proxy in front of this one
    default $http_x_forwarded_proto;
    ""      $scheme;
}}
"""


def processes(ports: Sequence[int], addresses: Mapping[int, str] | None = None) -> str:
    """Settings that choose a process: `$rff_process`, for proxy_pass, and `$rff_new_cookie`, for Set-Cookie.

    Each process has a port of its own, by which the cookie names it. `addresses` has theirs by port; without it all run
    on this machine.
    """
    servers = {port: _server(port, addresses[port] if addresses else "127.0.0.1") for port in ports}
    pins = "".join(f'    "{port}"  rff_{port};\n' for port in ports)
    return (
        f"map $cookie_rff_process $rff_process {{\n{pins}    default rff;\n}}\n{_COOKIES}"
        + _upstream("rff", ["least_conn", *servers.values()])
        + "".join(
            _upstream(f"rff_{port}", [servers[port], *(servers[other] + " backup" for other in ports if other != port)])
            for port in ports
        )
    )


def _upstream(name: str, settings: Sequence[str]) -> str:
    return f"upstream {name} {{\n    zone {name} 64k;\n" + "".join(f"    {one};\n" for one in settings) + "}\n"


def _server(port: int, address: str) -> str:
    return f"server {address}:{port} fail_timeout={SECONDS_LEFT_OUT}s"


def configuration(
    listen: str,
    ports: Sequence[int],
    folder: str,
    addresses: Mapping[int, str] | None = None,
    proxy: str = "127.0.0.1",
) -> str:
    """A whole configuration that keeps its files in a folder and logs errors to the terminal; see `processes`.

    `proxy` is the address of a proxy in front of it; from there X-Forwarded-For is believed.
    """
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    site = processes(ports, addresses) + _SITE.format(listen=listen, per_address=PER_ADDRESS)
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return (
        f"daemon off;\npid {folder}/nginx.pid;\nerror_log stderr error;\nworker_processes auto;\n"
        f"worker_rlimit_nofile {FILES};\nevents {{ worker_connections {CONNECTIONS}; }}\n"
        f"http {{\naccess_log off;\n{places}{_HTTP.format(proxy=proxy)}{site}}}\n"
    )
