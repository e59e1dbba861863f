"""Write docs/licences.md: whose work the app stands on, from installed metadata and the catalogue of data sets.

make licences       # python .ci/licences.py docs/licences.md, in the environment that `make` installs
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
import datasets  # noqa: E402

_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]+?))?\s*\\?$", re.MULTILINE)
_HEAD = """# Licences

Written by `make licences`, which reads the metadata of the installed packages and the catalogue of data sets. The code
of this repository is under the BSD 3-clause licence, see `LICENSE`.
"""
# Of packages that not every system installs, as their own metadata say.
_ELSEWHERE = {"colorama": "BSD License"}


def locked(lock: Path) -> dict[str, tuple[str, str]]:
    """Version and marker of each package of a lock."""
    return {name: (version, marker) for name, version, marker in _ENTRY.findall(lock.read_text(encoding="utf-8"))}


def licence(name: str) -> str:
    """As the package's own metadata say, in a few words."""
    said = metadata.metadata(name)
    if expression := said.get("License-Expression"):
        return expression
    classes = [line.split(" :: ")[-1] for line in said.get_all("Classifier", []) if line.startswith("License ::")]
    lines = (said.get("License") or "").strip().split("\n")
    if len(lines) == 1 and 0 < len(lines[0]) < 40:  # some put the whole text into the field
        return lines[0]
    if classes:
        return "; ".join(classes)
    files = [file for file in metadata.files(name) or () if "licen" in file.name.lower() and ".dist-info" in str(file)]
    text = [line.strip() for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
    return f"{text[0]} (the title of its licence file)" if text else lines[0] or "not said"


def table(packages: dict[str, tuple[str, str]]) -> str:
    lines = ["| package | version | licence |", "|---|---|---|"]
    for name, (version, marker) in sorted(packages.items()):
        try:
            said = licence(name)
        except metadata.PackageNotFoundError:
            said = _ELSEWHERE.get(name, f"not installed here (only if {marker})" if marker else "not installed")
        lines.append(f"| {name} | {version} | {said} |")
    return "\n".join(lines)


def data() -> str:
    lines = ["| data set | from | licence | here |", "|---|---|---|---|"]
    for name in datasets.names():
        info = datasets.describe(name)
        here = ("bundled" if info.files else "with scikit-learn") if info.bundled else "downloaded on request"
        lines.append(f"| {name} | {info.source} | {info.licence} | {here} |")
    return "\n".join(lines)


def main() -> None:
    app = locked(ROOT / "requirements.lock")
    dev = {name: entry for name, entry in locked(ROOT / "requirements-dev.lock").items() if name not in app}
    text = "\n".join(
        [
            _HEAD,
            "## Data\n",
            data(),
            "\nOrigins, checksums and what is known of the terms: `datasets/data/*/SOURCE.md`. The published numbers",
            "that ship (`rff_engine/experiments/reference`) are facts, with their papers named there.\n",
            "## What the app runs on (`requirements.lock`)\n",
            table(app),
            "\n## What only developing needs (`requirements-dev.lock`)\n",
            table(dev),
            "",
        ]
    )
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
