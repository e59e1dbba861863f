"""Write tables and lists from the records of pages, bounds and kernels: `python .ci/page_tables.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from pages.components.catalogue import PAGES  # noqa: E402
from rff_engine.bounds import ALIGNMENT_BOUNDS  # noqa: E402
from rff_engine.kernels import KERNELS  # noqa: E402

_MARKED = re.compile(r"(<!-- (\w+): begin.*?-->\n).*?(?=\s*<!-- \2: end -->)", re.DOTALL)


def table(*rows: tuple[str, ...]) -> str:
    """A table in Markdown; the first row is its head."""
    head, *rest = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *rest])


def documented(file: str) -> str:
    """A link from docs/ to a page of the documentation."""
    heading = (ROOT / "docs" / file).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return f"[{'example' if file.endswith('.py') else heading[0].lower() + heading[1:]}]({file})"


#: By file and mark, what stands between the marks.
TABLES = {
    ("README.md", "pages"): table(
        ("page", "question", "what it shows"),
        *((page.title, page.question, page.shows) for page in PAGES if page.question),
    ),
    ("docs/app.md", "pages"): table(
        ("page of the app", "its documentation"),
        *(
            (f"[{page.title}](../pages/{page.name}.py)", ", ".join(map(documented, page.documentation)))
            for page in PAGES
            if page.documentation
        ),
    ),
    ("docs/embedding.md", "pages"): table(
        ("page", "`view=`"),
        *(
            (f"`{page.path or '/'}`", ", ".join(f"`{picture.name}`" for picture in page.pictures))
            for page in PAGES
            if page.pictures
        ),
    ),
    ("docs/reference/index.md", "bounds"): "\n".join(f"   bounds.{name}" for name in ALIGNMENT_BOUNDS),
    ("docs/reference/index.md", "kernels"): "\n".join(f"   {named.kernel.__name__}" for named in KERNELS.values()),
}
_, *_OTHERS = (f'"{named.title}"' for named in KERNELS.values())
#: Lists within lines of Python: what comes before, and the list.
LISTS = {
    r"(    kernel : SpectralKernel or )\{.*\}": "{" + ", ".join(f'"{name}"' for name in KERNELS) + "}",
    r'(^kernel = "Gaussian"  # or ).*$': ", ".join(_OTHERS),
}
_PROGRAMS = (*(ROOT / "rff_engine").rglob("*.py"), *(ROOT / "pages/components/sharing/recipes").glob("*.py"))
FILES = sorted({file for file, _ in TABLES}) + [
    str(path.relative_to(ROOT))
    for path in sorted(_PROGRAMS)
    if any(re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) for pattern in LISTS)
]


def renewed(file: str) -> str:
    """The text of a file, with its tables between the marks and its lists."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if not file.endswith(".py"):
        return _MARKED.sub(lambda match: f"{match[1]}{TABLES[file, match[2]]}", text)
    for pattern, listed in LISTS.items():
        text = re.sub(pattern, lambda match, listed=listed: match[1] + listed, text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    for name in FILES:
        (ROOT / name).write_text(renewed(name), encoding="utf-8")
