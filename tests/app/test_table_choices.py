"""Choices on an uploaded table in the link: who opens it with the same table reads it the same way."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.data.your_data import table_choices
from pages.data.your_data.table_choices import TABLE_CHOICES
from pages.shared import sharing

from .sessions import opened, pressed
from .test_your_data import uploaded

CHOICES = [
    *("separator:;", "separator:,", "separator:\t", "separator:\t+", "separator: ", "begins at line:3"),
    *("names at line:none", "sheet:Results: 2020", "kind of column 12:text", "ends at line:1000000"),
    *("decimal mark:comma", "names at line:2"),
    *("target:2", "task:regression", "class:-1", "class:12", "without:1,3,500", "with:2", "scaling:range"),
    *("imputation:drop", "map:3,10000", "groups:12", "kind of column 2:date", "sample:wine"),
    *("encoding:cp1250", "missing marks:only empty cells", "order of dates:day first"),
]
OTHERS = [
    "",
    "names",
    "names at line:",
    "names at line:maybe",
    "begins at line:none",
    "target:0",
    "target:x",
    "without:1,,2",
    "without:",
    "map:1",
    "<b>:1",
]
OTHERS += [
    "numbers in column 1:decimal commas",
    "kind of column 0:text",
    "kind of column 1:empty",
    "encoding:utf-7",
    "missing marks:NA",
    "sheet:",
    "sheet:a\nb",
    "class:123",
    "ends at line:-1",
    "scaling:large",
    "sample:iris",
]

ROWS = [
    f"{1 + i % 7},{100 + i * 17 % 900};{i * 3 % 11};{'ab'[i % 5 // 3]};{'uvw'[i % 3]};{i};{i // 2}" for i in range(180)
]
DATA = "\n".join(["size;grade;kind;Species;Id;pair", *ROWS]).encode()

NARROW = b"a,b\n" + b"1,2\n2,3\n3,5\n" * 20  # of which no map can be drawn


def test_choices_are_told_from_other_texts():
    assert TABLE_CHOICES.sanitize(CHOICES) == (CHOICES, None)
    for text in OTHERS:
        left, note = TABLE_CHOICES.sanitize(["target:2", text])
        assert left == ["target:2"] and note.endswith("so it is ignored."), text
    left, note = TABLE_CHOICES.sanitize(OTHERS)
    assert left is None and note.endswith("so they are ignored.")


def test_choices_on_reading_are_those_that_the_reader_takes():
    answers = dict(text.partition(":")[::2] for text in CHOICES)
    reading, learning = table_choices.on_reading(answers), table_choices.on_learning(answers, 500)
    assert not reading.keys() & learning.keys() and reading.keys() | learning.keys() == answers.keys()
    assert set(reading) == {key for key in answers if key in ("separator", "sheet", "encoding") or " " in key}
    assert table_choices.on_learning(answers, 499) == {}  # a column is not there


@pytest.fixture
def programs(monkeypatch) -> list[str]:
    """The programs that pages offer."""
    made, make = [], sharing.program
    monkeypatch.setattr(sharing, "program", lambda *given: made.append(make(*given)) or made[-1])
    return made


def in_address(app: AppTest) -> list[str]:
    """The choices in the address, of which AppTest shows a single one as a text."""
    texts = app.query_params[TABLE_CHOICES.key]
    return [texts] if isinstance(texts, str) else list(texts)


def labelled(app: AppTest, kind: str, label: str):
    return next(one for one in app.get(kind) if one.label == label)


CHANGES = {
    "decimal mark": [("selectbox", "Decimal mark", "point")],
    "lines": [("number_input", "Ends at line", 90), ("number_input", "Begins at line", 11)],
    "names": [("number_input", "Names at line (0: none)", 0)],
    "target": [("selectbox", "Target", "grade"), ("button_group", "Treat it as", "classification")],
    "class": [("selectbox", "Class to separate from all others", 2)],
    "columns": [("multiselect", "Columns to predict it from", ["kind", "Id"])],
    "scaling": [("button_group", "Each column is scaled to", "range"), ("button_group", "Missing values", "drop")],
    "map": [("button_group", "Map of", "two columns"), ("selectbox", "Across", 2), ("selectbox", "Upwards", 0)],
    "kinds": [("selectbox", "Column", 1), ("button_group", "is", "text"), ("button_group", "is", "left out")],
    "groups": [("selectbox", "Rows that belong together", "pair")],
    "several": [
        ("selectbox", "Target", "kind"),
        ("multiselect", "Columns to predict it from", ["Species", "size"]),
        ("selectbox", "Column", 0),
        ("button_group", "is", "text"),
    ],
}


@pytest.mark.more(after=1)
@pytest.mark.slow
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_link_reads_the_same_table_the_same_way(changes, programs):
    app = uploaded(opened("your_data"), DATA)
    assert TABLE_CHOICES.key not in app.query_params  # what was guessed
    guessed = programs[-1]
    for kind, label, value in changes:
        labelled(app, kind, label).set_value(value).run()
        assert not app.exception and not app.error
    link = in_address(app)
    changed = programs[-1]
    assert changed != guessed and not any(name in text for text in link for name in ("size", "Species", "grade"))

    again = uploaded(opened("your_data", table=link), DATA)
    assert not again.exception and not again.error
    assert programs[-1] == changed and in_address(again) == link

    uploaded(again, NARROW, "other.csv")
    assert TABLE_CHOICES.key not in again.query_params  # a second table has its own


@pytest.mark.second
def test_choices_that_do_not_fit_the_table_are_ignored_with_a_sentence():
    app = uploaded(opened("your_data", table=["separator:|", "target:4"]), DATA)
    (error,) = app.error
    assert error.value.startswith("With the choices of the link the table cannot be read, so they are ignored.")
    assert app.session_state["your table"].choices == {}
    narrow = uploaded(opened("your_data", table=["target:4", "with:1"]), NARROW)
    assert not narrow.exception and TABLE_CHOICES.key not in narrow.query_params


@pytest.mark.second
def test_a_link_waits_for_the_first_table_that_can_be_read():
    app = opened("your_data", table=["names at line:none"])
    uploaded(app, b"", "empty.csv")
    assert in_address(app) == ["names at line:none"]
    uploaded(app, DATA)
    assert app.session_state["your table"].choices == {"names at line": "none"}
    app.file_uploader[0].clear().run()
    assert TABLE_CHOICES.key not in app.query_params


@pytest.mark.second
def test_a_link_to_a_sample_has_its_choices(programs):
    app = opened("your_data")
    assert TABLE_CHOICES.key not in app.query_params
    labelled(app, "selectbox", "Target").set_value("mean radius").run()
    labelled(app, "button_group", "Map of").set_value("two columns").run()
    link, made = in_address(app), programs[-1]
    assert link == ["sample:breast", "target:1", "map:1,2"]
    again = opened("your_data", table=link)
    assert programs[-1] == made and in_address(again) == link

    pressed(again, "White wine")
    assert in_address(again) == ["sample:wine"] and 'file = "wine.csv"' in programs[-1]
    uploaded(again, DATA)
    assert TABLE_CHOICES.key not in again.query_params and 'file = "mine.csv"' in programs[-1]


@pytest.mark.second
def test_a_sample_leaves_the_choices_of_a_link_to_the_table_that_they_are_for():
    link = ["names at line:none", "target:2"]
    app = opened("your_data", table=link)
    assert labelled(app, "selectbox", "Target").value == "class" and in_address(app) == link
    labelled(app, "selectbox", "Target").set_value("mean area").run()
    pressed(app, "White wine")
    assert labelled(app, "selectbox", "Target").value == "quality" and in_address(app) == link
    uploaded(app, b"", "empty.csv")
    app.file_uploader[0].clear().run()
    assert app.session_state["your table"] is None and in_address(app) == link
    uploaded(app, DATA)
    assert app.session_state["your table"].choices == {"names at line": "none"} and in_address(app) == link
