"""Files made to be slow, and real ones: the good one among them is read and prepared, and a wrong guess is named."""

from pathlib import Path

from benchmarks import tables
from datasets.tables import readers

UPLOADS = Path(__file__).parents[1] / "datasets" / "uploads"


def test_a_good_file_is_prepared():
    what, data, name = next(tables.files())
    assert what == "good: 1000 rows"
    assert tables.prepared(readers.read(data, name)) == "1000 x 2, prepared to 1000 x 1"


def test_a_guess_is_compared_with_an_expert():
    path = UPLOADS / "p05_footnote.csv"
    right = tables.Expected("x", ["amount"], {"ward"}, set(), "1 1")
    assert tables.differs(right, path) == ""
    assert tables.differs(right._replace(targets=["day"], kinds="0 1"), path) == "target (one click away), kinds"
