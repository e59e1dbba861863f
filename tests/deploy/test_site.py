"""The static edition: the files have the engine's numbers and the app's words, and a wrong wish gets one sentence."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from importlib import import_module
from xml.etree import ElementTree

import numpy as np
import pytest
from plotly.offline import get_plotlyjs_version

from datasets.toy_data import ToyData
from deploy.site import __main__ as command, exporting, samples, words, writing
from pages.landmarks.compute import LandmarkSettings, landmark_path, landmark_problem
from pages.shared.catalogue import BY_NAME, PAGES, Page, settings_of
from pages.shared.controls.toy import SIGMA_LIVE
from pages.shared.controls.widgets import Options, as_text, without_headings
from rff_engine.plots.bounds import BOUND_NAMES

MOONS = ToyData("moons", 300, 0.1, 0)


def edition(name: str, *products: dict, sections: tuple[dict, ...] = ()) -> Page:
    """A page with a few settings only, of samples where its browser computes the view."""
    whole = BY_NAME[name]
    chosen = {"samples": products or ({},)} if whole.grid.samples else {"products": products}
    return replace(whole, grid=replace(whole.grid, sections=sections, **chosen))


def unpack(path) -> dict:
    """What the browser makes of a file of data."""
    name, packed = re.fullmatch(r'takeExported\("(\w+)","([^"]+)"\)\n', path.read_text(encoding="utf-8")).groups()
    assert name == path.stem
    text, _, content = gzip.decompress(b64decode(packed)).partition(b"\n")

    def arrays(value: dict):
        if "$bytes" not in value:
            return value
        place, length, width = value["$bytes"]
        numbers = np.frombuffer(content[place : place + length], "u1").reshape(width, -1).T
        return b64encode(numbers.tobytes()).decode("ascii")

    return json.loads(text, object_hook=arrays)


# --- files --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An export of two settings of every page, with the presets and lessons of one."""
    folder = tmp_path_factory.mktemp("site")
    editions = [
        edition("start"),
        edition("landmarks", {"data": ("circles",)}, sections=({"beta": (10.0,)}, {"n": (100,)})),
        edition("bounds", {"bound": ("Theorem 4",), "n": (100,)}),
    ]
    writing.export(folder, editions)
    return folder


def description(file) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="description">(.*?)</script>', file.read_text("utf-8"))
    return json.loads(text)


def section_of(folder, page: str, name: str, **settings: str) -> dict:
    """A section of a page for some of its settings, the default of all others."""
    described = description(folder / f"{page}.html")
    wanted = {key: described["defaults"][key] for key in described["sections"][0]["settings"]} | settings
    (files,) = [row["sections"] for row in described["sections"] if row["settings"] == wanted]
    return unpack(folder / "data" / page / f"{files[name]}.js")


def numbers_of(packed: dict) -> np.ndarray:
    """An array of a figure, which is single precision or levels of colours."""
    if "levels" in packed:
        return packed["low"] + packed["step"] * np.frombuffer(b64decode(packed["levels"]), "u1")
    return np.frombuffer(b64decode(packed["bdata"]), packed["dtype"])


@pytest.mark.second("opens three pages of the app, two of them for several settings")
@pytest.mark.parametrize("noise", samples.KMEANS_NOISES)
def test_centroids_are_the_engines(site, noise):
    found = unpack(site / "data" / samples.FOLDER / "moons_300_0.js")["centroids"][f"{noise:g}"]
    for count in (1, 5, 8):
        problem = landmark_problem(LandmarkSettings(replace(MOONS, noise=noise), 0.501, 20, count, "kmeans"))
        np.testing.assert_allclose(found[count - 1]["points"], problem.landmarks.ravel(), rtol=1e-6)
        assert found[count - 1]["labels"] == problem.labels.tolist()


@pytest.mark.second
def test_a_page_offers_all_values_of_what_its_browser_computes(site):
    described = description(site / "landmarks.html")
    controls = {control["key"]: control for control in described["controls"]}
    assert [key for key, control in controls.items() if control.get("scale")] == ["landmarks", "noise"]
    assert described["sliders"]["sigma"] == [as_text(value) for value in SIGMA_LIVE.values]
    assert controls["noise"]["values"] == [f"{0.01 * k:g}" for k in range(51)]
    assert described["clicks"]["gone"] == ["landmarks"] and described["defaults"]["picks"] == ""
    hows = {row["settings"]["how"] for row in described["scenes"]}
    assert hows == {"random", "clicked", "k-means"}


def test_fewer_random_landmarks_are_the_first_of_more():
    for data in ("moons", "spirals"):
        chosen = [samples.Sample(data, 31, 2).problem(0.0, count, "random").indices.tolist() for count in range(1, 9)]
        assert all(rows == chosen[-1][: len(rows)] for rows in chosen)


@pytest.mark.second
def test_figures_are_the_engines(site):
    settings = LandmarkSettings(replace(MOONS, n=100), 0.501, 20, 5, "random")
    section = section_of(site, "landmarks", "landmarks_path", n="100")
    test, train, kl, bound, _ = section["figures"]["along_beta"]["figure"]["data"]
    path = landmark_path(settings, 1.0)
    errors = (test, 100 * path.test_error), (train, 100 * path.train_error)
    for trace, expected in (*errors, (kl, path.kl), (bound, path.bound)):
        np.testing.assert_allclose(numbers_of(trace["y"]), expected, rtol=1e-6, atol=1e-9)
    assert f"at β = {path.betas[path.test_error.argmin()]:.3g}" in section["html"]


@pytest.mark.second
def test_a_section_names_the_settings_that_it_follows(site):
    follows = description(site / "landmarks.html")["follows"]["landmarks_path"]
    assert {"beta", "n"} <= set(follows)
    promise = description(site / "bounds.html")["follows"]["Does it hold?"]
    assert "n" in promise and "beta" not in promise


def test_sections_follow_all_but_what_does_not_move_them():
    rows = [
        ({"a": "1", "b": "1", "c": "1"}, "x"),
        ({"a": "2", "b": "1", "c": "1"}, "y"),
        ({"a": "1", "b": "2", "c": "1"}, "x"),
    ]
    table = [{"settings": settings, "sections": {"one": file}} for settings, file in rows]
    assert exporting.followed(table) == {"one": ["a", "c"]}
    assert exporting.followed([]) == {}


@pytest.mark.second
def test_a_page_has_the_apps_words_for_every_setting(site):
    described = description(site / "bounds.html")
    own, seen = described["scenes"][0]["settings"], {}
    for place, row in enumerate(described["scenes"]):
        if own | {"bound": row["settings"]["bound"], "n": row["settings"]["n"]} == row["settings"]:
            scenes = unpack(site / "data" / "bounds" / f"{row['file']}.js")["scenes"]
            seen.setdefault(row["settings"]["bound"], scenes[str(place)])
    page = (site / "bounds.html").read_text("utf-8")
    assert "The lowest point of Theorem 3" in page and seen["Theorem 3"]["texts"] == {}
    assert any("The lowest point of Theorem 4" in text for text in seen["Theorem 4"]["texts"].values())
    assert {name: BOUND_NAMES[scene["chosen"]["name"]] for name, scene in seen.items()} == {name: name for name in seen}
    assert (described["chooses"], described["choices"]) == ("bound", list(BOUND_NAMES.values()))


@pytest.mark.second
def test_every_link_leads_to_a_file(site):
    for page in site.glob("*.html"):
        text = page.read_text("utf-8")
        for link in re.findall(r'(?:href|src)="([^"#]+)(?:#[^"]*)?"', text):
            assert link.startswith(("http", "data:")) or (site / link).exists(), f"{page.name}: {link}"
        assert "http" not in "".join(re.findall(r'src="([^"]+)"', text))  # works without a network


def test_the_part_of_plotly_is_of_the_version_of_the_whole():
    package = json.loads((writing.ROOT / "tests" / "javascript" / "package.json").read_text("utf-8"))
    assert package["devDependencies"][writing.PLANE.parent.name] == get_plotlyjs_version()


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.slow
def test_without_node_the_whole_of_plotly_stands_for_its_part(tmp_path, monkeypatch, installed):
    part = tmp_path / "part.js"
    monkeypatch.setattr(writing, "PLANE", part)
    if installed:
        part.write_text("a part")
    writing.prepare(tmp_path / "site")
    writing.write_shared(tmp_path / "site")
    assets = tmp_path / "site" / "assets"
    assert ((assets / "plotly.js").stat().st_size < 1000) is installed


# --- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "One **bold *and* so**,\n`a*b`.\n\n- x < y\n- *z*",
            "<p>One <strong>bold <em>and</em> so</strong>,\n<code>a*b</code>.</p>"
            "<ul><li>x &lt; y</li><li><em>z</em></li></ul>",
        ),
        ("[β](glossary#beta)", '<p><a href="glossary.html#beta">β</a></p>'),
        ("<script>", "<p>&lt;script&gt;</p>"),
        (
            "| a | *b* |\n|---|---|\n| 1 | x < y |",
            '<div class="wide-table" tabindex="0"><table><thead><tr><th scope="col">a</th>'
            '<th scope="col"><em>b</em></th></tr></thead>'
            "<tbody><tr><td>1</td><td>x &lt; y</td></tr></tbody></table></div>",
        ),
        (
            "[[right|below]], <<white|dark grey>>",
            '<p><span class="wide">right</span><span class="narrow">below</span>, '
            '<span class="light">white</span><span class="dark">dark grey</span></p>',
        ),
    ],
)
def test_markdown_becomes_html_with_both_words_for_a_screen(text, html):
    assert words.html(text) == html


def test_a_formula_becomes_mathml_and_one_that_cannot_be_drawn_is_named():
    drawn = words.mathml(r"x_i^2 \le \beta", display=True)
    ElementTree.fromstring(drawn)
    assert "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>" in drawn and 'display="block"' in drawn
    with pytest.raises(ValueError, match=r"\\unknown"):
        words.mathml(r"\unknown x")


# --- the command --------------------------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    assert command.main(["--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path} is not empty and holds no former export; choose another folder, or empty it.\n"
    )
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_a_wrong_wish_is_named_in_one_sentence(tmp_path, capsys):
    (tmp_path / "site").write_text("")
    assert command.main(["--output", str(tmp_path / "site")]) == 2
    assert "is a file; the export needs a folder." in capsys.readouterr().err
    assert command.main(["--processes", "0"]) == 2
    assert capsys.readouterr().err == "--processes is 0; at least 1 is needed.\n"


@pytest.mark.slow
def test_a_former_export_is_replaced(tmp_path):
    writing.prepare(tmp_path)
    writing.write_shared(tmp_path)
    (tmp_path / "data" / "landmarks").mkdir(parents=True)
    writing.prepare(tmp_path)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("page", [page for page in PAGES if page.grid and page.path], ids=lambda page: page.name)
def test_a_grid_names_no_setting_twice(page):
    options = {
        control.key: control.options
        for control in without_headings(import_module(page.module).CONTROLS)
        if isinstance(control, Options)
    }
    settings = [tuple(sorted(one.items())) for one in settings_of(page.grid.products, options.__getitem__)]
    assert len(set(settings)) == len(settings)


def test_every_page_with_a_live_view_is_in_the_static_edition():
    assert {page.name for page in PAGES if page.grid} == {page.name for page in PAGES if page.view}
