"""The JavaScript of components: how its modules are joined, and its tests by node."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pages.shared.browser import join_modules
from pages.shared.live import parts as live

ROOT = Path(__file__).resolve().parent.parent
COMPONENTS = ROOT / "pages" / "shared"
ENTRIES = [
    *(f"../{path}.js" for path in live.VIEWS.values()),
    "live/own_points.js",
    "deferred.js",
    "controls/screen.js",
    "controls/undo.js",
    "glossary/tip.js",
    "lessons/card.js",
    "lessons/summary.js",
    "sharing/row.js",
    "../../deploy/site/site.js",
]


def joined(entry) -> str:
    return join_modules(COMPONENTS / entry, live.CONSTANTS)


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        reason = "no node on this machine"
        if "node" in os.environ.get("RFF_TEST_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.mark.parametrize("entry", ENTRIES)
def test_joined_modules_export_only_a_default(entry):
    text = joined(entry)
    assert not re.search(r"^import\b|\bimport\s*[(.]", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == re.findall(r"^export default \w+.*", text, re.MULTILINE)
    assert text.count("\nexport default ") == 1


@pytest.mark.more(after=8)
@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES)
def test_joined_modules_are_one_module(node, entry, tmp_path):
    """It parses, so no name is declared twice."""
    file = tmp_path / "joined.mjs"
    file.write_text(joined(entry), encoding="utf-8")
    checked = subprocess.run([node, "--check", file], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_every_module_belongs_to_a_component():
    whole = "\n".join(map(joined, ENTRIES))
    for path in (path for folder in (ROOT / "pages", ROOT / "deploy") for path in folder.rglob("*.js")):
        _, header, *_ = path.read_text(encoding="utf-8").splitlines()
        assert header.startswith("// ") and header in whole, path


def test_a_module_comes_after_what_it_imports_and_once(tmp_path):
    (tmp_path / "entry.js").write_text(
        'import { a } from "./a.js";\nimport {\n  b,\n  c,\n} from "./b.js";\nimport { N } from "./constants.js";\n\n'
        "export default a + b + c + N;\n"
    )
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b;\n')
    (tmp_path / "b.js").write_text("export const b = 1;\nexport function c() {}\n")
    text = join_modules(tmp_path / "entry.js", {"N": "</script>"})
    assert [line for line in text.splitlines() if line] == [
        'const N = "</script>";',
        "const b = 1;",
        "function c() {}",
        "const a = b;",
        "export default a + b + c + N;",
    ]


OTHER_FORMS = [
    'import { a as b } from "./a.js";',
    'import * as a from "./a.js";',
    'import a from "./a.js";',
    'import "./a.js";',
    'import { a } from "library";',
    'const a = await import("./a.js");',
    "const here = import.meta.url;",
    "export { a };",
    'export * from "./a.js";',
    "export var a = 1;",
]
IMPORT = 'import { a } from "./a.js";'
ONE = "export const a = 1;"


@pytest.mark.parametrize(
    ("entry", "other", "said"),
    [
        *((f"{line}\nexport default 1;", ONE, "unknown form") for line in OTHER_FORMS),
        (IMPORT, f"{ONE}\nexport default a;", r"a\.js has an import or export of an unknown form"),
        (IMPORT, f'import {{ b }} from "./entry.js";\n{ONE}', r"entry\.js -> a\.js -> entry\.js"),
    ],
)
def test_other_forms_second_defaults_and_circles_are_refused(tmp_path, entry, other, said):
    (tmp_path / "a.js").write_text(f"{other}\n")
    (tmp_path / "entry.js").write_text(f"{entry}\n")
    with pytest.raises(ValueError, match=said):
        join_modules(tmp_path / "entry.js")


def test_the_declared_constants_are_those_that_python_writes():
    declared = live.read("constants.d.ts")
    assert set(re.findall(r"^export const (\w+)", declared, re.MULTILINE)) == set(live.CONSTANTS)
    assert set(re.findall(r"^  (\w+): ", declared, re.MULTILINE)) == set(live.CONSTANTS["PALETTE"])


@pytest.mark.slow
def test_the_arithmetic_is_the_engines(node, tmp_path):
    """The tests in JavaScript, with numbers of this engine."""
    numbers = tmp_path / "numbers.json"
    with numbers.open("w") as file:
        subprocess.run([sys.executable, "-m", "tests.javascript.engine_numbers"], cwd=ROOT, stdout=file, check=True)
    ran = subprocess.run(
        [node, "--test", "--test-reporter=tap", *sorted((ROOT / "tests" / "javascript").glob("*.test.js"))],
        cwd=ROOT,
        env=os.environ | {"ENGINE_NUMBERS": str(numbers)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(re.search(r"^# pass (\d+)$", ran.stdout, re.MULTILINE).group(1)) > 20
