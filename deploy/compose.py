"""Write the containers of a class: `python -m deploy.compose --apps 4` writes compose.yaml and the settings of nginx.

Each app is a service of its own, with an address and a port of its own, so that a cookie can name it (`deploy.nginx`)
and one can be replaced while the others serve.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from string import Template

from deploy.nginx import FILES, configuration

ROOT = Path(__file__).parents[1]
COMPOSE = Path("compose.yaml")
NGINX = Path("deploy/containers/nginx.conf")
#: Ports of nginx in its container and of the first app, and the last parts of their addresses. Addresses are
#: fixed, so that no container takes that of an app that is being replaced.
WEB_PORT, FIRST_PORT, WEB_ADDRESS, FIRST_ADDRESS = 8080, 8502, 10, 11
MAX_APPS = 64
_DEFAULT_APPS, _DEFAULT_SUBNET = 4, "172.31.213"

_APP = """\
  app$number:
    <<: *app
    environment:
      <<: *environment
      STREAMLIT_SERVER_PORT: "$port"
    networks:
      store:
      web:
        ipv4_address: $address
"""


def ports(apps: int) -> list[int]:
    """Ports of the apps."""
    return list(range(FIRST_PORT, FIRST_PORT + apps))


def addresses(apps: int, subnet: str) -> dict[int, str]:
    """Addresses of the apps, by their ports."""
    return {port: f"{subnet}.{FIRST_ADDRESS + k}" for k, port in enumerate(ports(apps))}


def compose(apps: int = _DEFAULT_APPS, subnet: str = _DEFAULT_SUBNET) -> str:
    """The text of compose.yaml."""
    services = "".join(
        Template(_APP).substitute(number=k, port=port, address=address)
        for k, (port, address) in enumerate(addresses(apps, subnet).items(), 1)
    )
    waits = "".join(f"      app{k}:\n        condition: service_healthy\n" for k in range(1, apps + 1))
    text = (Path(__file__).parent / "containers" / "compose.template").read_text(encoding="utf-8")
    for name, value in {
        "APPS": services,
        "WAITS": waits,
        "SUBNET": subnet,
        "WEB": str(WEB_ADDRESS),
        "NUMBER": str(apps),
        "FILES": str(FILES),
    }.items():
        text = text.replace(f"@{name}@", value)
    return text


def nginx(apps: int = _DEFAULT_APPS, subnet: str = _DEFAULT_SUBNET) -> str:
    """The settings of nginx in front of the apps; a proxy in front of it has the address of the network's gateway."""
    return configuration(str(WEB_PORT), ports(apps), "/tmp", addresses(apps, subnet), f"{subnet}.1")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m deploy.compose", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--apps", type=int, default=_DEFAULT_APPS, help=f"processes of the app (default {_DEFAULT_APPS})"
    )
    parser.add_argument("--subnet", default=_DEFAULT_SUBNET, help=f"its first three parts (default {_DEFAULT_SUBNET})")
    parser.add_argument("--output", type=Path, default=ROOT, help="folder of compose.yaml (default: the repository)")
    asked = parser.parse_args(argv)
    if not 1 <= asked.apps <= MAX_APPS:
        sys.exit(f"--apps is {asked.apps}; a number from 1 to {MAX_APPS} is needed.")
    if not _is_subnet(asked.subnet):
        sys.exit(f"--subnet is {asked.subnet!r}; three numbers from 0 to 255 are needed, such as {_DEFAULT_SUBNET}.")
    for place, text in ((COMPOSE, compose(asked.apps, asked.subnet)), (NGINX, nginx(asked.apps, asked.subnet))):
        (asked.output / place).parent.mkdir(parents=True, exist_ok=True)
        (asked.output / place).write_text(text, encoding="utf-8")


def _is_subnet(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 3 and all(part.isascii() and part.isdigit() and int(part) <= 255 for part in parts)


if __name__ == "__main__":
    main()
