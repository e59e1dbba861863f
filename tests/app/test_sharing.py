"""Sharing: a link with every control, a table that agrees with the figures, and code that recomputes it."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from datasets.points import encode_points
from pages.shared import sharing
from pages.shared.catalogue import BY_NAME, PAGES
from pages.shared.controls import own_points
from pages.shared.controls.widgets import Control, Number, Options, Scale, Several, Switch, as_text
from pages.shared.server import runs
from pages.shared.sharing.program import program, text
from rff_engine.plots.style import METHOD_NAMES
from tests import perturbation, programs

from .sessions import controls_of, link, opened

ROOT = Path(__file__).parents[2]

# Every control far from its default.
FAR = {
    "landmarks": {"data": "spirals", "n": 120, "noise": 0.03, "seed": 7, "sigma": 0.2, "D": 33, "how": "k-means"}
    | {"landmarks": 8, "beta": 31.6, "C": 100.0},
    "kernel": {"kernel": "Matérn", "width": 1.58, "nu": 2.5, "D": 7, "seed": 42},
    "learn_kernel": {"data": "xor", "n": 80, "noise": 0.2, "seed": 5, "sigma": 1.0, "N": 200, "beta": 0.1, "rho": 0.1}
    | {"mu": 3.5, "D": 5, "along": 2.0, "across": 0.501, "angle": 30},
    "bounds": {"data": "circles", "n": 60, "noise": 0.3, "seed": 9, "sigma": 1.58, "N": 20, "eps": 0.2, "mu": 1.5}
    | {"form": "paper", "beta": 100.0, "price": True, "bound": "Theorem 4", "union": 20}
    | {"question": "Does it hold?", "samples": 70},
    "certificates": {"method": METHOD_NAMES["pbrff"], "data": "xor", "n": 150, "noise": 0.2, "seed": 4, "sigma": 0.501}
    | {"beta": 10.0, "D": 10, "stretch": 0.6, "prior": 0.5, "tries": 2, "eps": 0.2}
    | {"blocks": 3, "arrived": 0.5, "copies": 2, "question": "What does it cost?"},
    "real_data": {
        "D": 20,
        "beta": "10",
        "shuffled": True,
        "study": "landmarks",
        "split": "published",
        "scaling": "standard",
        "seed": 4,
        "repeats": 2,
        "similarities": ["PB landmarks"],
    },
    "adaptive": {"data": "clusters", "N": 60, "noise": 0.2, "seed": 3, "sigma": 0.501, "r": 10, "ridge": 0.001}
    | {"method": "Cluster, nearest rows", "landmarks": 100, "methods": ["Sobol", "Nyström, k-means"]},
    "foundations": {"kernel": "Matérn", "width": 1.58, "nu": 2.5, "D": 7, "seed": 42, "part": "Two feature maps"},
    "paper": {"what": "Figures 3 and 5", "dataset": "ads"},
}
OF_THE_VIEW = {"price", "bound", "question", "part", "arrived"}
NAMED_OTHERWISE = {"how": "selection", "similarities": "methods", "what": "target"}


@pytest.fixture
def offered(monkeypatch):
    """The data of download buttons by key."""
    found, show = {}, sharing.st.download_button

    def recorded(label, data, *args, key, **kwargs):
        found[key] = data
        return show(label, data, *args, key=key, **kwargs)

    monkeypatch.setattr(sharing.st, "download_button", recorded)
    return found


def launch(page: str, settings: dict | None = None, query: dict | None = None) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300).run()
    app.query_params.update(query or {})
    settings = settings or {}
    chosen(app, settings)  # before the page is computed
    if page != "start":
        app.switch_page(BY_NAME[page].script).run()
    if settings:  # a control that depends on another appears after that one is set
        chosen(app, settings).run()
    assert not app.exception and not app.error
    return app


def chosen(app: AppTest, settings: dict) -> AppTest:
    for key, value in settings.items():
        app.session_state[key] = value
    return app


def wait_for_runs(app: AppTest) -> None:
    waiting = [run for run in runs.run_queue()._runs.values() if run.active]
    end = time.monotonic() + 300
    while any(run.active for run in waiting):
        assert time.monotonic() < end
        time.sleep(0.05)
    app.run()


COLOURS = 2.0**-12  # the relative precision of a map's values, see `style.for_colours`


def printed_by(code: str) -> pd.DataFrame:
    """The table that a program prints, run from the repository's root in a clean environment."""
    kept = {"PATH", "HOME", "LANG", "RFF_DATA", "SYSTEMROOT"}
    kept |= {"OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"}  # the arithmetic is the page's
    environment = {name: value for name, value in os.environ.items() if name in kept}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    ran = programs.run(perturbation.installed + code, ROOT, environment)
    assert ran.returncode == 0, ran.stderr.decode()
    return pd.read_csv(io.BytesIO(ran.stdout))


def read(csv: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(csv))


#: Pages with descents, whose ends depend on the number of threads, and with rows from another machine.
TOLERANCES = {"adaptive": {"rtol": 1e-2}, "real_data": {"atol": 0.02}}


def assert_same(shown: pd.DataFrame, printed: pd.DataFrame, rtol: float = 1e-9, atol: float = 0.0) -> None:
    assert list(shown) == list(printed) and len(shown) == len(printed) > 0
    for column in set(shown) - {"seconds", "run"}:  # shipped rows are of a longer run
        if shown[column].dtype == float:
            np.testing.assert_allclose(printed[column], shown[column], rtol=rtol, atol=atol, err_msg=column)
        else:
            pd.testing.assert_series_equal(printed[column], shown[column])


def figures(app: AppTest) -> dict:
    """The traces of a page's figures by key, as sent to the browser."""
    return {
        chart.proto.id.rsplit("-", 1)[-1]: json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")
    }


def values(array) -> np.ndarray:
    """An array of a figure; Plotly packs numbers."""
    if not isinstance(array, dict):
        return np.asarray(array, dtype=float)
    packed = np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"])
    return packed.reshape([int(side) for side in str(array.get("shape", len(packed))).split(",")]).astype(float)


def named(traces: list[dict], beginning: str) -> dict:
    return next(trace for trace in traces if trace.get("name", "").startswith(beginning))


# --- the table is what the figures show -----------------------------------------------------------------------------


def agrees_along_beta(table, app, curves):
    """Check curves, given by the beginning of their traces' names: a table, a column and the factor in the figure."""
    for beginning, (name, column, factor) in curves.items():
        trace, own = named(figures(app)["along_beta"], beginning), table[table["table"] == name]
        np.testing.assert_allclose(values(trace["x"]), own["beta"])
        np.testing.assert_allclose(values(trace["y"]), factor * own[column], rtol=1e-6, atol=1e-12)


def agrees_with_landmarks(table, app):
    path = "along beta"
    curves = {"test error": (path, "test_error", 100), "train error": (path, "train_error", 100)}
    if table.loc[table["table"] == path, "bound"].notna().any():  # centroids have none
        curves["bound"] = (path, "bound", 1)
    agrees_along_beta(table, app, curves | {"mean KL": (path, "KL", 1)})


def agrees_with_kernel(table, app):
    errors = table[table["table"] == "errors"]
    for name, words in (("cos_sin", "cos/sin"), ("random_phase", "random phase")):
        own = errors[errors["feature_map"] == name]
        for column, kind in (("measured_error", "measured"), ("expected_error", "expected")):
            trace = named(figures(app)["errors"], f"{words}, {kind}")
            np.testing.assert_allclose(values(trace["x"]), own["features"])
            np.testing.assert_allclose(values(trace["y"]), own[column], rtol=1e-5)


def agrees_with_learn_kernel(table, app):
    path = "KL along beta"
    curves = {
        "test error": ("errors along beta", "test_error", 100),
        "KL": (path, "KL", 1),
        "bound": (path, "bound", 1),
    }
    agrees_along_beta(table, app, curves)
    errors = table[table["table"] == "errors"]
    for method in ("rff", "pbrff", "okrff"):
        own = errors[errors["method"] == method].set_index("D")
        trace = named(figures(app)["errors"], method.upper())
        at = values(trace["x"]).astype(int)
        np.testing.assert_allclose(values(trace["y"]), 100 * own.loc[at, "test_error"], rtol=1e-6)
        np.testing.assert_allclose(values(trace["customdata"]), 100 * own.loc[at, "half_width"], rtol=1e-6)


def agrees_with_bounds(table, app):
    app.session_state["question"] = "At what price?"
    app.run()
    choice = table[table["table"] == "choosing beta"]
    for label, column in (
        (f"at β = {choice['fixed_beta'].iloc[0]:g}", "at_fixed_beta"),
        ("at the best β, nothing paid", "best_not_paid"),
        ("at the best β, price paid", "best_paid"),
    ):
        trace = next(
            trace for trace in figures(app)["price figure"] if f"<extra>{label}" in trace.get("hovertemplate", "")
        )
        assert trace["y"] == list(choice["bound"])
        np.testing.assert_allclose(values(trace["customdata"]), choice[column])


def agrees_with_certificates(table, app):
    (majority,) = table.loc[table["table"] == "certificate", "majority_error"]
    assert f"errs on {100 * majority:.1f} % of these points" in " ".join(one.value for one in app.get("caption"))
    (sent,) = [part.proto.json for part in app.get("bidi_component") if part.proto.component_name == "live_certificate"]
    assert json.loads(sent)["votes"][0]["test_set_bounds"][0] == table["test_set_bound"].dropna().item()


def agrees_with_foundations(table, app):
    app.session_state["part"] = "Two feature maps"
    app.run()
    curves = table[table["table"] == "variances times features"]
    for name, words in (("cos_sin", "cos/sin"), ("random_phase", "random phase")):
        for kind in ("formula", "simulation"):
            trace = named(figures(app)["variances"], f"{words}, {kind}")
            np.testing.assert_allclose(values(trace["y"]), curves[f"{name}_{kind}"], rtol=1e-5, atol=1e-12)
    largest = table[(table["table"] == "largest errors") & (table["method"] == "error")]
    trace = named(figures(app)["largest"], "mean")
    np.testing.assert_allclose(values(trace["y"]), largest.groupby("D")["error"].mean(), rtol=1e-5)


def agrees_with_real_data(table, app):
    by = "share" if table["share"].notna().any() else "D"
    own = table[table["method"] == ("pb_landmarks" if by == "share" else "rff")].astype({by: float})
    (sent,) = [part.proto.json for part in app.get("bidi_component") if part.proto.component_name == "live_errors"]
    run = json.loads(sent)["run"]
    curve = next(one for one in run["curves"] if one["method"] == own["method"].iloc[0])
    if by == "share":
        own = own[own["landmarks"] == ("random" if curve["random"] else "clustering")]
    best = own.loc[own.groupby(["repeat", by])["valid_error"].idxmin()]
    np.testing.assert_allclose(curve["test_error"], 100 * best.groupby(by)["test_error"].mean(), atol=1e-4)
    assert run["runs"] == best["repeat"].nunique()


def agrees_with_start(table, app):
    assert list(table["similarity"]) == ["kernel", "posterior"]  # `tests/browser/test_radio.py` compares what is shown


def agrees_with_paper(table, app):
    if "column" in table:
        shown = {text for one in app.get("html") for text in re.findall(r"paper <b>[\d.]+</b>", one.value)}
        assert shown == {f"paper <b>{100 * error:.2f}</b>" for error in table["paper"]}
        return
    assert set(table["dataset"]) == {"ads"}
    own = table[table["method"] == "rff"].sort_values("D")
    (sent,) = [part.proto.json for part in app.get("bidi_component") if part.proto.component_name == "live_reruns"]
    np.testing.assert_allclose(np.array(json.loads(sent)["panels"][0]["paper"], float), 100 * own["paper"], atol=1e-4)


def agrees_with_adaptive(table, app):
    grid = table[table["table"] == "grid"]
    for column, panel in (("prior", "x2"), ("weight", "x3")):
        (shown,) = [trace for trace in figures(app)["grid"] if trace["xaxis"] == panel]
        np.testing.assert_allclose(values(shown["z"]).ravel(), grid[column], rtol=COLOURS, atol=1e-12)
    for name, figure, count in (("landmarks", "landmark_curve", "landmarks"), ("methods", "errors", "frequencies")):
        for method, own in table[table["table"] == name].groupby("method"):
            trace = next(t for t in figures(app)[figure] if t.get("legendgroup") == method and t.get("name"))
            np.testing.assert_allclose(values(trace["x"]), own[count])
            np.testing.assert_allclose(values(trace["y"]), own["error"])


AGREES = {name.removeprefix("agrees_with_"): test for name, test in globals().items() if name.startswith("agrees_with")}
FIRST = {"real_data": {"repeats": 2}}
FIRST_OF_PAGE = [(page.name, FIRST.get(page.name, {})) for page in PAGES if page.documentation and page.measured]


def test_every_page_with_the_row_is_tested():
    assert AGREES.keys() == {page for page, _ in FIRST_OF_PAGE} == {"start", *FAR}


@pytest.mark.more(after=1)
@pytest.mark.slow("computes a page, then its program in a new process")
@pytest.mark.parametrize(
    ("page", "settings"),
    [*FIRST_OF_PAGE, *FAR.items()],
    ids=[f"{page}-{where}" for where, pages in (("default", FIRST_OF_PAGE), ("far", FAR.items())) for page, _ in pages],
)
def test_the_code_prints_the_numbers_of_the_page_and_its_figures(page, settings, offered):
    app = launch(page, settings)
    if page == "real_data":
        for button in [button for button in app.button if button.label == "Run"]:
            button.click().run()
    wait_for_runs(app)
    table = read(offered["numbers"]())
    AGREES[page](table, app)
    assert_same(table, printed_by(offered["code"]()), **TOLERANCES.get(page, {}))


@pytest.mark.second
def test_landmarks_that_were_clicked_are_in_the_code_and_in_the_link(offered):
    app = launch("landmarks", {"how": "clicked"}, {"picks": "3-17-40"})
    assert link(app).items() >= {"picks": "3-17-40", "how": "clicked"}.items()
    assert "selection = (3, 17, 40)" in offered["code"]()
    table = read(offered["numbers"]())
    assert len(table[table["table"] == "landmarks"]) == 3
    assert_same(table, printed_by(offered["code"]()))


@pytest.mark.second
def test_frequencies_that_were_moved_are_in_the_code_the_link_and_the_numbers(offered):
    app = launch("kernel", {"D": 10, "width": 2.0}, {"moved": "3_1.25~7_-0.5"})
    assert link(app)["moved"] == "3_1.25~7_-0.5"
    assert "moved = ((3, 1.25), (7, -0.5))" in offered["code"]()
    table = read(offered["numbers"]())
    omega = table[table["table"] == "frequencies on the line"]["omega"].to_numpy()
    assert (omega[3], omega[7]) == (0.625, -0.25)
    line = table[table["table"] == "kernel"]
    np.testing.assert_allclose(line["cos_sin"], np.cos(np.outer(line["delta"], omega)).mean(axis=1), atol=1e-9)
    assert_same(table, printed_by(offered["code"]()))


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize(("page", "recipe"), [("landmarks", {"landmarks": 3, "D": 8}), ("learn_kernel", {"N": 50})])
def test_points_of_the_reader_are_in_the_code_and_in_the_link(page, recipe, offered):
    code = encode_points([[-1, 0], [1, 0.5], [0.3, 1.9], [-1.2, 0.4], [0.8, -1]], [-1, 1, 1, -1, 1])
    app = launch(page, {"data": own_points.OWN} | recipe, {"points": code})
    assert link(app).items() >= {"points": code, "data": own_points.OWN}.items() and "n" not in link(app)
    assert f'points = "{code}"' in offered["code"]()
    assert_same(read(offered["numbers"]()), printed_by(offered["code"]()))


# --- the link and the mechanism of the recipes ----------------------------------------------------------------------


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("page", FAR)
def test_at_defaults_link_and_recipe_have_every_control_and_the_recipe_is_unchanged(page, offered):
    keys = link(launch(page)).keys()
    hidden = {"nu", "similarities"} | ({"dataset"} if page == "paper" else set())  # do not apply
    marks = {"D", "beta", "shuffled"} if page == "real_data" else set()  # of what is shown
    assert keys == FAR[page].keys() - hidden | ({"dataset", "preset", "methods"} if marks else set())
    shipped = text(page)
    assert {NAMED_OTHERWISE.get(key, key) for key in keys} - OF_THE_VIEW - marks <= set(block(shipped))
    assert offered["code"]() == shipped


@pytest.mark.more(after=2)
@pytest.mark.slow
@pytest.mark.parametrize("page", FAR)
def test_a_link_sets_every_control_and_the_address_has_those_that_are_moved(page):
    asked = {key: [as_text(one) for one in values_of(value)] for key, value in FAR[page].items()}
    app = opened(page, **asked)
    assert not [warning.value for warning in app.warning if warning.value.startswith("The link")]
    defaults = {control.key: control.default for control in controls_of(page)}
    for key, value in FAR[page].items():
        assert sorted(values_of(app.session_state[key])) == sorted(values_of(value)), key
        shown = app.query_params.get(key, [])  # AppTest shows a single one as a text
        moved = asked[key] if value != defaults[key] else []
        assert sorted([shown] if isinstance(shown, str) else shown) == sorted(moved), key


def values_of(value) -> list:
    return list(value) if isinstance(value, list | tuple) else [value]


def test_a_control_reads_its_own_link():
    controls = (
        "a heading",
        Number("n", "n", None, 20, 1000, 300, 10),
        Number("noise", "noise", None, 0.0, 0.5, 0.1, 0.01),
        Scale("beta", "beta", None, (0.001, 1.0, 1000.0), 1.0),
        Options("data", "data", None, ("moons", "xor"), "moons"),
        Several("methods", "methods", None, ("svm", "rff"), ("svm", "rff")),
        Switch("price", "price", None, False),
        Switch("never", "never", None, False, only_if=("data", ("xor",))),
    )
    chosen = SimpleNamespace(
        n=20, noise=0.07, beta=1000.0, data="moons", methods=("rff", "svm"), price=True, never=True
    )
    said = sharing.query(controls, chosen)
    shown = "n=20 noise=0.07 beta=1000 data=moons methods=rff methods=svm price=true"
    assert said == [tuple(part.split("=")) for part in shown.split()]
    for control in controls[1:-1]:
        raw = [text for key, text in said if key == control.key]
        assert control.sanitize(raw) in ((raw, None), (raw[0], None))


def block(source: str) -> dict:
    """The settings of a program by name, and whether each is on a line of its own in one block."""
    lines = [line.strip() for line in source.splitlines()]
    start = lines.index("# The experiment") + 1
    end = lines.index("", start)
    settings = {}
    for line in lines[start:end]:
        (assignment,) = ast.parse(line.strip()).body
        settings[assignment.targets[0].id] = ast.literal_eval(assignment.value)
    return settings


@pytest.mark.parametrize("page", ["start", "your_data", *FAR])
def test_a_program_differs_from_its_recipe_only_in_settings(page):
    recipe = text(page)
    ours = {name: (1.5, f"an odd # '{name}'\"", ("é",)) for name in block(recipe)}
    made = program(page, ours | {"of no block": 1})
    assert block(made) == ours
    pairs = list(zip(recipe.splitlines(), made.splitlines(), strict=True))
    assert sum(old != new for old, new in pairs) == len(ours)
    assert program(page, block(recipe)) == recipe
    for name in ours:
        with pytest.raises(KeyError, match=name):
            program(page, {key: value for key, value in ours.items() if key != name})


def test_a_control_applies_depending_on_an_earlier_one():
    control = Switch("a", "a", None, False, only_if=("b", ("yes",)))
    assert isinstance(control, Control)
    assert control.applies(SimpleNamespace(b="yes")) and not control.applies(SimpleNamespace(b="no"))


# --- documentation ----------------------------------------------------------------------------------------------------


def test_link_leads_to_the_site_that_the_server_names(monkeypatch):
    monkeypatch.setenv("RFF_DOCS", "https://rff.example.org/docs/")
    assert "(https://rff.example.org/docs/gallery/02_landmarks.html)" in sharing.documentation_sentence("landmarks")
    assert "(https://rff.example.org/docs/how-to/read-a-bound.html)" in sharing.documentation_sentence("bounds")


@pytest.mark.parametrize("address", ["", "javascript:alert(1)", "https://x.org/)[y](z", "rff.example.org"])
def test_what_is_no_address_is_not_linked(monkeypatch, address):
    monkeypatch.setenv("RFF_DOCS", address)
    assert sharing.documentation_sentence("kernel").endswith("`docs/examples/01_kernel_as_prior.py` in the repository.")
