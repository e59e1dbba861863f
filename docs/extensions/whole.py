"""A check of the finished site: every link within it leads to a page, and to a place on that page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LEFT_OUT = {"app", "_static"}  # the static edition, and templates of the theme


class Page(HTMLParser):
    """The places and the links of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.places, self.links = {"", "top"}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.places |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


def broken(site: Path) -> list[str]:
    """The links that lead nowhere, each with its page."""
    files = [path for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] not in _LEFT_OUT]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    broken_links = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (target in pages and place not in pages[target].places):
                broken_links.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken_links


def check(app, error) -> None:
    if error is None and app.builder.format == "html":
        from sphinx.util import logging

        log = logging.getLogger(__name__)
        for one in broken(Path(app.outdir)):
            log.warning("a link leads nowhere: %s", one, type="link")


def setup(app):
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True}
