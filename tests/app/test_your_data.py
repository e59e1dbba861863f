"""The page on your data: uploads are shown or refused in one sentence, and stay in their session."""

from __future__ import annotations

import io
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from streamlit.testing.v1 import AppTest

from datasets import make_toy
from datasets.tables.table import Table, UploadError
from pages.data.your_data import compute, figures, session, upload
from pages.shared import sharing
from pages.shared.server.limits import LIMITS
from tests import programs

from .sessions import opened, pressed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RUN = "Compute the error against D, in about half a minute"
RESULTS = "results on your data"


def uploaded(app: AppTest, data: bytes, name: str = "mine.csv") -> AppTest:
    return app.file_uploader[0].set_value((name, data, "")).run()


def table(n: int = 60, target=lambda i: "yes" if i % 2 else "no", names="size,kind,day,outcome") -> bytes:
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal() + i % 2:.3f},{'abc'[i % 3]},2020-01-{1 + i % 28:02d},{target(i)}" for i in range(n)]
    return "\n".join([names, *rows]).encode()


def words(app: AppTest) -> str:
    return " ".join(element.value for kind in ("markdown", "caption", "info", "error") for element in app.get(kind))


def shown(app: AppTest) -> list:
    assert not app.exception and not app.error, (app.exception, app.error)
    return app.get("plotly_chart") + app.get("bidi_component")


def test_learning_is_judged_in_one_sentence_on_all_columns():
    data = make_toy("checkerboard", 300, 0.03, 0)
    lines = [f"{a:.4f},{b:.4f},{'black' if y > 0 else 'white'}" for (a, b), y in zip(data.X, data.y, strict=True)]
    app = uploaded(opened("your_data"), "\n".join(["height,width,kind", *lines]).encode())
    found = next(value for key, value in app.session_state[RESULTS].items() if key[0] == "comparison")
    means = {name: 100 * of_splits.mean() for name, of_splits in found.errors.items()}
    said = words(app)
    assert f"**Learning helped.** On all 2 columns: **{means['learned']:.1f} % error with 50 learned cosines**" in said
    random = f"{means['random']:.1f} % with random ones ({means['width']:.1f} % if labels choose their width)"
    assert f"{random}, {means['svm']:.1f} % by a kernel SVM" in said
    assert replace(found, errors=found.errors | {"width": found.errors["learned"]}).verdict == "width"
    assert f"always saying one class errs on {means['majority']:.1f} %" in said
    assert means["learned"] < 0.6 * means["random"] and "Map: 2 of 2 columns." in said


def test_a_comparison_counts_errors_on_rows_that_did_not_teach(monkeypatch):
    seen = []

    class Memory(BaseEstimator):
        def fit(self, X, y):
            seen.append(self)
            self.known = {tuple(row) for row in X}
            self.label = y[0]
            return self

        def predict(self, X):
            assert not self.known & {tuple(row) for row in X}
            return np.full(len(X), self.label)

    data = make_toy("moons", 90, 0.1, 0)
    models = {name: Memory() for name in figures.LABELS if name != "majority"}
    monkeypatch.setattr(compute, "_models", lambda *_: models)
    found = compute.compare(data, 0)
    assert len(seen) == 4 * compute.COMPARED_SPLITS and found.n_train + found.n_test == 90
    assert found.gain == found.gain_error == 0 and found.verdict == "same"


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_are_compared_or_refused_in_one_sentence(seed):
    rng = np.random.default_rng(seed)
    data = make_toy("moons", 14, 0.1, seed)
    rare = replace(data, y=np.where(rng.random(14) < 0.2, 1, -1))
    try:
        errors = compute.compare(rare, seed).errors
        assert set(errors) == set(figures.LABELS) and all(len(one) == 3 for one in errors.values())
    except ValueError as error:
        assert re.fullmatch(r"The 7 training rows are all of one class; choose another seed or class\.", str(error))


def test_the_map_takes_the_columns_that_tell_the_classes():
    data = make_toy("checkerboard", 800, 0.03, 0)
    X = np.column_stack([np.random.default_rng(0).normal(size=(800, 7)), data.X])
    noisy = replace(data, X=X[:, [0, 1, 7, 2, 3, 8, 4, 5, 6]], feature_names=tuple("abcdefghi"))
    assert compute.best_columns(noisy, 0) == (2, 5)


def test_a_certificate_of_the_upload_says_its_assumption_first():
    app = uploaded(opened("your_data"), table(n=400))
    shown(app)
    certificate = next(value for key, value in app.session_state[RESULTS].items() if key[0] == "certificate")
    text = words(app)
    certified = re.search(r"err on at most ([0-9.]+) % of new rows.*?They err on ([0-9.]+) %", text)
    assert [float(number) for number in certified.groups()] == [
        pytest.approx(100 * value, abs=0.051) for value in (certificate.risk_bound, certificate.test_error)
    ]
    assert 0 < certificate.test_error < certificate.risk_bound < 1 and certificate.n_bound == 200
    assert f"always saying one class errs on {100 * certificate.majority_error:.1f} %" in text
    assert text.index("independent draws from one distribution") < text.index("Certified")
    assert text.rindex("Certified") > text.index("Drag")  # below the view


@pytest.mark.second
def test_what_makes_a_certificate_hollow_is_said_before_it():
    lines = table(n=80).split(b"\n")
    app = uploaded(opened("your_data"), b"\n".join([lines[0], *lines[1:] * 5]))
    shown(app)
    (caution,) = [warning.value for warning in app.warning if "copies" in warning.value]
    assert caution.startswith("320 of 400 rows are copies of others")


def test_the_page_opens_with_a_sample_and_the_limits(monkeypatch):
    monkeypatch.setattr(upload, "read_table", lambda *_: pytest.fail("the sample needs no process"))
    app = opened("your_data")
    assert re.search(r"10 MB, 20000 rows, 500 columns", words(app)) and "no disk" in words(app)
    assert "This is a sample: Breast cancer, 569 rows, 31 columns.** Bring your own." in words(app)
    assert app.title[0].value.endswith("?") and app.get("plotly_chart") and not app.query_params


@pytest.mark.more(after=1)
@pytest.mark.parametrize(
    "target",
    [lambda i: "yes" if i % 2 else "no", lambda i: ("low", "middle", "high")[i % 3], lambda i: f"{i * 0.37:.2f}"],
    ids=["two classes", "three classes", "numbers"],
)
def test_an_upload_is_judged_mapped_and_swept(target):
    app = uploaded(opened("your_data"), table(target=target))
    assert "60 rows, 4 columns" in words(app) and len(shown(app)) >= 4
    pressed(app, RUN)
    assert [one for one in app.get("bidi_component") if one.proto.component_name == "live_errors"]


def test_a_sample_can_be_tried_and_saved():
    app = pressed(opened("your_data"), "White wine")
    assert not app.exception and not app.error
    assert "This is a sample: White wine, 4898 rows, 12 columns.**" in words(app)
    assert [one for one in app.get("download_button") if one.proto.label == "Save wine.csv"]
    assert app.session_state["your table"].data.count("\n") == 4899
    assert app.query_params["sample"] == "White wine" or app.query_params["sample"] == ["White wine"]


@pytest.mark.second
def test_what_was_taken_stands_on_one_line():
    rows = [f"{i + 1};{i % 7},5;{i % 4};{'AB'[i // 30]}" for i in range(60)]
    app = uploaded(opened("your_data"), "\n".join(["A title", "Id;size;grade;Species", *rows]).encode())
    (line,) = [one.value for one in app.markdown if one.value.startswith("**` mine.csv `")]
    read = "Target: ` Species `. Read as CSV. ` Id ` was left out: it counts the rows."
    assert line == f"**` mine.csv `: 60 rows, 4 columns.** {read}"
    taken = [(box.label, box.value) for box in app.main.number_input]
    assert taken[:3] == [("Begins at line", 3), ("Names at line (0: none)", 2), ("Ends at line", 62)]
    assert "1 line above the table was left out, the first line 1, ` A title `." in words(app)
    assert chosen(guess_of(app, "Separator")) == "semicolons" and "` 0,5 ` was read as 0.5" in words(app)
    rows = [f"{i % 7},{i % 5 or ''},{'AB'[i % 2]}" for i in range(60)]
    app.file_uploader[0].set_value(("other.csv", "\n".join(rows).encode(), "")).run()
    assert "Read as CSV, 12 cells missing." in words(app) and line_of(app, "Names at line (0: none)").value == 0
    assert not app.exception


def test_text_can_be_pasted_and_is_read_once(monkeypatch):
    read, readings = upload.read_table, []
    monkeypatch.setattr(upload, "read_table", lambda *given: readings.append(given) or read(*given))
    app = opened("your_data")
    app.text_area[0].set_value(table().decode()).run()
    pressed(app, "Read the text")
    assert "60 rows, 4 columns" in words(app) and not app.error
    shown(app)
    assert len(readings) == 1  # each starts a process


def test_few_files_are_read_at_a_time_and_a_long_wait_is_refused(monkeypatch):
    end, begun = threading.Event(), threading.Event()
    monkeypatch.setattr(upload, "_readers", threading.BoundedSemaphore(1))
    monkeypatch.setattr(upload, "read_table", lambda *given: begun.set() or end.wait(30))
    with ThreadPoolExecutor(1) as visitor:
        first = visitor.submit(upload._read, b"", "a.csv")
        begun.wait(30)
        with monkeypatch.context() as hurry, pytest.raises(UploadError, match=r"^The server is reading files of .*\.$"):
            hurry.setattr(upload, "_MAX_SECONDS_IN_LINE", 0.01)
            upload._read(b"", "b.csv")
        assert not first.done()
        end.set()
        assert first.result(30) and upload._read(b"", "c.csv")


def test_a_failed_read_frees_its_process(monkeypatch):
    monkeypatch.setattr(upload, "_readers", threading.BoundedSemaphore(1))
    monkeypatch.setattr(upload, "_MAX_SECONDS_IN_LINE", 0.01)
    for _ in range(3):
        with pytest.raises(UploadError, match="empty"):
            upload._read(b" ", "a.csv")


#: One of each kind; tests/datasets reads a thousand.
BAD = {
    "empty.csv": b"",
    "ragged.csv": table() + 2 * (b"\n1,2\n" + table()),
    "zero.csv": table() + b"\0",
    "torn.parquet": b"PAR1" + bytes(range(256)) + b"PAR1",
    "columns.csv": b"a" + b",b" * 501 + b"\n",
}


@pytest.mark.second
def test_bad_files_are_refused_in_one_sentence_and_the_next_good_one_is_read():
    app = opened("your_data")
    for name, data in BAD.items():
        uploaded(app, data, name)
        assert not app.exception, name
        assert len(app.error) == 1 and re.fullmatch(r"[A-Z0-9].{15,300}[.?]", app.error[0].value), (name, app.error)
        assert not app.get("plotly_chart") and not app.dataframe
    assert not uploaded(app, table()).error


@pytest.mark.more(after=1)
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (
            b"a,y\n" + b"".join(b"%d,class %d\n" % (i, i) for i in range(10001)),
            "No column is chosen. ` y ` was left out",
        ),
        (b"a,y\n" + b"1,0\n1,1\n" * 30, "No column is chosen"),
    ],
)
def test_tables_without_a_learning_problem_are_refused_in_one_sentence(data, problem):
    app = uploaded(opened("your_data"), data)
    assert not app.exception and len(app.error) == 1 and problem in app.error[0].value


def test_other_likely_targets_are_one_click_away():
    rows = [f"{i % 7},{i % 5},{i % 11 * 1.5},{'AB'[i % 2]}" for i in range(60)]
    app = uploaded(opened("your_data"), "\n".join(["size,grade,length,Species", *rows]).encode())
    target = next(box for box in app.selectbox if box.label == "Target")
    assert target.value == "Species"
    (button,) = [one for one in app.button if "` size `" in one.label]
    button.click().run()
    assert not app.exception and next(box for box in app.selectbox if box.label == "Target").value == "size"
    assert [one.label for one in app.button if "` Species `" in one.label]


def chosen(box) -> str:
    """What a box shows."""
    return box.options[box.index]


def guess_of(app: AppTest, label: str):
    return next(box for box in app.selectbox if box.label == label)


def line_of(app: AppTest, label: str):
    return next(box for box in app.number_input if box.label == label)


@pytest.mark.second
def test_a_guess_that_is_taken_back_reads_the_table_again():
    rows = [f"{1 + i % 7},234;{i % 5};{i % 11 * 1.5};{'AB'[i % 2]}" for i in range(60)]
    app = uploaded(opened("your_data"), "\n".join(["size;grade;length;Species", *rows]).encode())
    box = guess_of(app, "Decimal mark")
    assert box.value == "point" and current(app).columns[0].values[0] == 1234
    box.select("comma").run()
    assert not app.exception and current(app).columns[0].values[0] == 1.234
    line_of(app, "Ends at line").set_value(41).run()
    line_of(app, "Names at line (0: none)").set_value(0).run()
    table = app.session_state["your table"]
    assert table.table.n_rows == 40 and table.table.names[0] == "column 1"  # all choices hold
    assert table.choices == {"decimal mark": "comma", "ends at line": "41", "names at line": "none"}
    line_of(app, "Begins at line").set_value(90).run()
    assert [error.value for error in app.error] == [
        "With this choice the table cannot be read. No row stands from line ` 90 ` to line ` 41 `."
    ]
    assert line_of(app, "Begins at line").value == 2


def current(app: AppTest) -> Table:
    return app.session_state["your table"].table


def kind_of(app: AppTest):
    (group,) = [group for group in app.get("button_group") if group.label == "is"]
    return group


@pytest.mark.second
def test_the_kind_of_a_column_is_changed():
    rows = [f"{i + 1},{i % 4},{i % 9 if i % 5 else 'tall'},{'AB'[i % 3 // 2]}" for i in range(60)]
    app = uploaded(opened("your_data"), "\n".join(["Id,code,size,Species", *rows]).encode())
    columns = next(box for box in app.multiselect if box.label == "Columns to predict it from")
    assert kind_of(app).value == "left out" and columns.value == ["code", "size"]
    guess_of(app, "Column").select(1).run()
    assert kind_of(app).value == "number"
    kind_of(app).set_value("text").run()
    assert current(app).column("code").kind == "text" and kind_of(app).value == "text"
    guess_of(app, "Column").select(2).run()
    kind_of(app).set_value("number").run()
    assert current(app).column("size").n_missing == 12 and guess_of(app, "Column").value == 2
    kind_of(app).set_value("left out").run()
    assert [current(app).column(name).kind for name in ("code", "size")] == ["text", "number"]
    assert app.multiselect[0].value == ["code"] and not app.exception and not app.error
    kind_of(app).set_value("number").run()
    assert app.multiselect[0].value == ["code", "size"] and not app.query_params


def test_a_target_of_one_class_is_refused_in_one_sentence():
    app = uploaded(opened("your_data"), b"a,flat,y\n" + b"1,same,0\n2,same,1\n" * 30)
    next(box for box in app.selectbox if box.label == "Target").select("flat").run()
    assert not app.exception and len(app.error) == 1 and "only one class" in app.error[0].value


@pytest.mark.second
def test_a_class_that_is_too_rare_is_reported_in_one_sentence():
    app = uploaded(opened("your_data"), table(target=lambda i: "rare" if i == 30 else "common"))
    assert not app.exception
    assert len(app.error) == 1 and app.error[0].value.endswith(".")


def test_a_removed_upload_is_deleted_with_its_results():
    app = uploaded(opened("your_data"), table())
    assert RESULTS in app.session_state
    app.file_uploader[0].clear().run()
    assert not app.exception and not app.get("plotly_chart") and not app.dataframe
    assert RESULTS not in app.session_state and app.session_state["your table"] is None


@pytest.mark.parametrize(("megabytes", "left"), [(0, []), (1, [27, 28, 29])])
def test_results_of_a_session_are_bounded_in_bytes(monkeypatch, megabytes, left):
    state = {}
    monkeypatch.setattr(session.st, "session_state", state)
    monkeypatch.setattr(session, "LIMITS", replace(LIMITS, session_megabytes=megabytes))
    for i in range(30):
        result = session.remembered(i, lambda i=i: np.full(40_000, i))  # 320 kB
        assert result[0] == i
    assert sorted(state[RESULTS]) == left


def test_uploads_are_in_no_cache_of_the_server():
    functions = [value for module in (upload, session, compute) for value in vars(module).values()]
    assert not [value for value in functions if hasattr(value, "cache_lock") or hasattr(value, "cache_clear")]


@pytest.mark.second
def test_columns_can_be_removed_while_a_map_shows_them():
    app = uploaded(opened("your_data"), table())
    axis = next(choice for choice in app.selectbox if choice.label == "Map: across")
    axis.select_index(1).run()
    assert "Map: upwards" in [choice.label for choice in app.selectbox]
    (columns,) = app.multiselect
    for left in (columns.value[:2], columns.value[:1], []):
        app.multiselect[0].set_value(left).run()
        assert not app.exception
        problems = [error.value for error in app.error]
        assert len(problems) == (len(left) < 2), problems
    assert not app.multiselect[0].set_value(columns.value).run().exception and not app.error


@pytest.mark.second
def test_every_control_works_at_both_ends():
    app = uploaded(opened("your_data"), table(target=lambda i: f"{i * 0.37:.2f}"))
    for kind in ("slider", "select_slider"):
        for key in [widget.key for widget in app.main.get(kind)]:
            for end in (0, -1):
                widget = next(one for one in app.main.get(kind) if one.key == key)
                ends = (widget.min, widget.max) if kind == "slider" else [float(option) for option in widget.options]
                app.session_state[key] = ends[end]
                app.run()
                assert not app.exception and not app.error, (key, ends[end])


def test_the_default_class_is_nearest_to_half_of_the_rows():
    app = uploaded(opened("your_data"), table(target=lambda i: "rare" if i < 5 else "frequent" if i % 2 else "other"))
    box = guess_of(app, "Class to separate from all others")
    assert chosen(box) in ("frequent", "other") and "blue: the others" in words(app)


@pytest.mark.more(after=1)
@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize(
    "target", [lambda i: ("low", "middle", "high")[i % 3], lambda i: f"{i * 0.37:.2f}"], ids=["classes", "numbers"]
)
def test_the_offered_program_prints_the_numbers_of_the_page(swept, target, tmp_path, monkeypatch):
    offered, show = {}, sharing.st.download_button

    def recorded(label, data, *args, key=None, **kwargs):
        offered[key] = data
        return show(label, data, *args, key=key, **kwargs)

    monkeypatch.setattr(sharing.st, "download_button", recorded)
    hostile = 'size,"<b>kind\n# "" = 3</b>",day,outcome'
    data = table(n=120, target=target, names=hostile)
    app = uploaded(opened("your_data"), data, "mine.csv")
    if swept:
        pressed(app, RUN)
    (tmp_path / "mine.csv").write_bytes(data)
    assert 'file = "mine.csv"' in offered["code"]() and f"sweep = {swept}" in offered["code"]()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    ran = programs.run(offered["code"](), tmp_path, environment)
    assert ran.returncode == 0, ran.stderr.decode()
    printed, ours = (pd.read_csv(io.BytesIO(text)) for text in (ran.stdout, offered["numbers"]().encode()))
    assert len(printed) > 5 and b"No certificate" not in ran.stderr
    pd.testing.assert_frame_equal(printed, ours, rtol=1e-9)
    promised = printed[printed["table"] == "certificate"]
    terms = printed.loc[printed["table"] == "terms of the certificate", "risk"]
    assert terms.sum() == pytest.approx(promised["risk_bound"].item(), rel=1e-6)
    certificate = next(value for key, value in app.session_state[RESULTS].items() if key[0] == "certificate")
    assert (certificate.risk_bound, certificate.test_error) == pytest.approx(
        tuple(promised[["risk_bound", "test_error"]].iloc[0])
    )
