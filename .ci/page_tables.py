"""Write tables and lists in README.md and docs/ from the records of pages and bounds: `python .ci/page_tables.py`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from pages.components.catalogue import PAGES  # noqa: E402
from rff_engine.bounds import ALIGNMENT_BOUNDS  # noqa: E402

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
            (f"[{page.title}](http://localhost:8501/{page.path})", ", ".join(map(documented, page.documentation)))
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
}
FILES = sorted({file for file, _ in TABLES})


def renewed(file: str) -> str:
    """The text of a file, with its tables between the marks."""
    return _MARKED.sub(lambda match: f"{match[1]}{TABLES[file, match[2]]}", (ROOT / file).read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name in FILES:
        (ROOT / name).write_text(renewed(name), encoding="utf-8")
