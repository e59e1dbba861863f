"""Write docs/licences.md: licences of packages, from installed metadata, and of data sets, from the catalogue.

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
# Packages that are not installed on every system.
_ELSEWHERE = {"colorama": "BSD License"}


def locked(lock: Path) -> dict[str, tuple[str, str]]:
    """Version and marker of each package of a lock file."""
    return {name: (version, marker) for name, version, marker in _ENTRY.findall(lock.read_text(encoding="utf-8"))}


def licence(name: str) -> str:
    """Name of a package's licence, from its metadata."""
    fields = metadata.metadata(name)
    if expression := fields.get("License-Expression"):
        return expression
    classes = [line.split(" :: ")[-1] for line in fields.get_all("Classifier", []) if line.startswith("License ::")]
    classes = [name for name in classes if name != "OSI Approved"]  # names no licence
    lines = (fields.get("License") or "").strip().split("\n")
    if len(lines) == 1 and 0 < len(lines[0]) < 40:  # some packages put the whole text there
        return lines[0]
    if classes:
        return "; ".join(classes)
    files = [file for file in metadata.files(name) or () if "licen" in file.name.lower() and ".dist-info" in str(file)]
    text = [line.strip() for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]
    return f"{text[0]} (the title of its licence file)" if text else lines[0] or "no licence found"


def package_table(packages: dict[str, tuple[str, str]]) -> str:
    """Markdown table of packages with version and licence."""
    lines = ["| package | version | licence |", "|---|---|---|"]
    for name, (version, marker) in sorted(packages.items()):
        try:
            text = licence(name)
        except metadata.PackageNotFoundError:
            text = _ELSEWHERE.get(name, f"not installed here (only if {marker})" if marker else "not installed")
        lines.append(f"| {name} | {version} | {text} |")
    return "\n".join(lines)


def data_table() -> str:
    """Markdown table of data sets with source and licence."""
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
            data_table(),
            "\nOrigins, checksums and known terms: `datasets/data/*/SOURCE.md`. The published numbers that ship",
            "(`rff_engine/experiments/reports/data`) are facts, with their papers named there.\n",
            "## Packages of the app (`requirements.lock`)\n",
            package_table(app),
            "\n## Packages for development only (`requirements-dev.lock`)\n",
            package_table(dev),
            "",
        ]
    )
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
