"""Files made to be slow: the good one among them is read and prepared."""

from benchmarks import hostile_uploads
from datasets.tables import readers


def test_a_good_file_is_prepared():
    what, data, name = next(hostile_uploads.files())
    assert what == "good: 1000 rows"
    assert hostile_uploads.prepared(readers.read(data, name)) == ", prepared to 1000 x 1"
