"""Bad files that users may upload: empty, truncated, hostile or huge; deterministic."""

from __future__ import annotations

import io
import json
import pickle
import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

HOSTILE_NAMES = (
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b>bold</b>", "$x^2$", "$$\\frac{1}{2}$$"),
    *("**bold**", "[link](javascript:alert(1))", "![image](http://example.com/x.png)", ":red[red]", ":material/home:"),
    *("# heading", "`code`", "``", "=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "%{x}", "{0.__class__}", "{}", "%s%n"),
    *("../../etc/passwd", "'; DROP TABLE x; --", "\u202egnirts", "zero\u200bwidth", "bell\x07", "\x1b[31mred"),
    *("line\u2028break", "“quoted” and “again”", "e\u0301" * 40, "👩‍👩‍👧‍👦", "x" * 5000, "名前", "ﷺ", "__proto__"),
    *("constructor", "\ufeffmark"),
)
EXTREMES = (
    *("1e308", "-1e308", "5e-324", "2.2250738585072014e-308", "1e309", "-1e400", "inf", "-inf", "Infinity", "nan", "0"),
    *("-0.0", "1_000", "0x10", "１２", "1e", "e5", "--1", "1e308000", "9" * 399, "9" * 401, "1.7976931348623157e308"),
)
DATES = (
    *("2020-02-30", "2020-13-01", "0000-01-01", "9999-12-31", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"),
    *("2020-1-1", "2020-01-01 25:00", "2020-01-01T1:00", "01/02/2020", "2020-W01-1", "20200101", "yesterday"),
    *("2020-01-01T00:00:00.123456789Z", "2020-01-01 00:00+99:99"),
)
REFUSED = {"must_refuse": True}


@dataclass(frozen=True)
class BadFile:
    """A file, and whether it must be refused; the others may be read."""

    label: str
    data: bytes
    name: str = "table.csv"
    must_refuse: bool = False
    limits: dict = field(default_factory=dict)


def corpus() -> Iterator[BadFile]:
    """All bad files."""
    for make in (
        _short,
        _names,
        _ragged,
        _encodings,
        _binary,
        _values,
        _targets,
        _large,
        _svmlight,
        _mutated,
        _parquet,
    ):
        for i, (data, options) in enumerate(make()):
            data = data.encode() if isinstance(data, str) else data
            yield BadFile(f"{make.__name__[1:]} {i}", data, **options)


def good_table(n: int = 30, delimiter: str = ",", seed: int = 0) -> str:
    """A small valid table."""
    rng = random.Random(seed)
    rows = (
        f"{rng.gauss(0, 1):.4f},{rng.choice('abc')},2020-01-{1 + i % 28:02d},{('no', 'yes')[i % 2]}\n" for i in range(n)
    )
    return ("size,kind,day,class\n" + "".join(rows)).replace(",", delimiter)


def _short():
    for text in ("", " ", "\n\n\n", "\t\t\n", "\ufeff", "\ufeff\n", "\r\n\r\n", "   \n  \n", "\x0b\x0c"):
        for name in ("table.csv", "table.tsv", "table.svm", "table.parquet", "table", "table.csv.exe"):
            yield text, {"name": name, **REFUSED}
    for text in ("a,b", "a,b\n", ",,,\n", '""', '"","",""\n', "#\n#\n"):
        yield text, REFUSED
    for n in range(9):
        for delimiter in ",;\t|":
            yield good_table(n, delimiter), REFUSED
    for cell in ("1", "x", "", "2020-01-01"):
        yield "only\n" + f"{cell}\n" * 30, REFUSED
    for missing in ("", "NA", "?", "null", "NaN", "-", "None", "n/a", "inf"):
        yield "a,b\n" + f"{missing},{missing}\n" * 30, REFUSED


def _names():
    for name in HOSTILE_NAMES:
        quoted = '"' + name.replace('"', '""') + '"'
        for delimiter in ",;\t|":
            rows = "".join(f"{i}{delimiter}{i % 3}{delimiter}{i % 2}\n" for i in range(20))
            yield delimiter.join([quoted, quoted, "y"]) + "\n" + rows, {}
        yield f"a,{quoted}\n" + "".join(f"{i},{quoted if i % 2 else 'plain'}\n" for i in range(20)), {}
        yield f"y,{quoted}\n" + "0,\n" * 20, {}


def _ragged():
    rng = random.Random(1)
    for k in range(60):
        lines = good_table(seed=k).splitlines()
        for at in rng.sample(range(2, len(lines) - 1), 2):  # one such line is left out, and said
            lines[at] = lines[at] + ",more" * rng.randint(1, 3) if k % 2 else lines[at].rpartition(",")[0]
        yield "\n".join(lines), REFUSED
        lines = good_table(40, ",;|"[k % 3], seed=k).splitlines()
        at = rng.randrange(len(lines))
        yield "\n".join([*lines[:at], '"' + lines[at], *lines[at + 1 :]]), REFUSED
    for size in (9_000, 11_000, 131_000, 140_000, 1_000_000):
        yield 'a,b\n"' + "x" * size, REFUSED
        yield "a,b\n" + "1,2\n" * 20 + "x" * size + ",1\n", REFUSED if size > 10_000 else {}
    for torn in ('"a"b,c\n', '"a""b,c\n', 'a"b",c\n', '"a,b\nc",d\n', '""",""\n'):
        yield "x,y\n" + torn * 20, {}


def _encodings():
    text = good_table().replace("kind", "größe — naïve").replace("yes", "früh").replace("no", "spät")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7"):
        data = text.encode(encoding, "replace")
        for part in (data, data[:-1], data[:-2], data[:-3], data[1:]):
            yield part, {}
    for encoding, sample in (("shift-jis", "名前"), ("gb18030", "名前"), ("koi8-r", "имя"), ("cp437", "größe")):
        yield good_table().replace("kind", sample).encode(encoding), {}
    for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D):
        yield good_table().encode() + bytes([byte]) + b",a,2020-01-01,no\n", {}
    for tail in (b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xff\xfe\x00"):
        yield b"\xff\xfe" + good_table().encode() + tail, {}
        yield good_table().encode() + tail, {}


def _binary():
    for k in range(120):
        rng = random.Random(k)
        yield rng.randbytes(rng.choice((1, 4, 13, 100, 3000))), {"name": ("x.csv", "x.svm", "x.parquet", "x")[k % 4]}
    heads = (b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00", b"%PDF-1.7", b"\x89PNG\r\n", b"\xd0\xcf\x11\xe0")
    for head in heads:
        for k in range(4):
            yield head + random.Random(k).randbytes(500), REFUSED
    for protocol in range(2, 6):
        yield pickle.dumps({"a": list(range(50))}, protocol=protocol), REFUSED
    yield zlib.compress(good_table().encode()), REFUSED
    for byte in range(0, 256, 8):
        yield bytes([byte]) * 1000, REFUSED


def _values():
    for value in (*EXTREMES, *DATES):
        yield "a,b,y\n" + "".join(f"{i},{value if i % 3 == 0 else i},{i % 2}\n" for i in range(30)), {}
        yield "a,b,y\n" + f"{value},1,0\n{value},2,1\n" * 20, {}
        yield "a,y\n" + "".join(f"{i},{value if i % 2 else i}\n" for i in range(30)), {}
    yield "a,y\n" + "".join(f"{a},{a}\n" for a in EXTREMES), {}
    for low, high in (("1e308", "-1e308"), ("5e-324", "0"), ("1e308", "5e-324"), ("1", "1.0000000000000002")):
        yield "a,b,y\n" + f"{low},1,0\n{high},2,1\n" * 20, {}
        yield "a,b,y\n" + f"1,1,{low}\n3,2,{high}\n" * 20, {}
    yield "a;y\n" + "".join(f"{i},5;{i % 2}\n" for i in range(20)), {}


def _targets():
    yield "a,y\n" + "1,x\n2,x\n" * 20, {}
    yield "a,y\n" + "".join(f"{i},class {i}\n" for i in range(10001)), {}
    yield "a,y\n" + "".join(f"{i},{i % 10001 if i else 'text'}\n" for i in range(15000)), {}
    yield "a,b,y\n" + "1,x,0\n1,x,1\n" * 20, {}
    yield "a,b\n" + "".join(f"word {i},thing {i}\n" for i in range(500)), {}
    for n_values in (2, 19, 20, 21, 22, 100, 1000):
        yield "a,y\n" + "".join(f"word {i % n_values},{i % 2}\n" for i in range(2000)), {}
    for step in (2, 3, 10):
        yield "a,b,y\n" + "".join(f"{i if i % step else ''},{'' if i % step else i},{i % 2}\n" for i in range(40)), {}


def _large():
    for delimiter in ",;\t|":
        text = good_table(delimiter=delimiter)
        for limits in ({"bytes": 100}, {"columns": 3}, {"cell_characters": 3}, {"fewest_rows": 1000}):
            yield text, {"limits": limits, **REFUSED}
        yield text, {"limits": {"rows": 20}}
        yield text, {"limits": {"cells": 50}}
    yield "," * 2_000_000, REFUSED
    yield "a" + ",b" * 500 + "\n", REFUSED
    yield "a,b\n" + "1,2\n" * 20_001, {}
    yield "a,b\n" + "1,2\n" * 3_000_000, REFUSED
    yield ("," * 499 + "\n") * 2_500, REFUSED
    yield "1 500:1\n" * 15 + "1 501:2\n", REFUSED
    yield "1 499:1\n" * 19_000, {}


def _svmlight():
    good = [f"{i % 2} 1:{i} 3:{i * i % 7}" for i in range(20)]
    bad = (
        *("1 -1:2", "1 -9223372036854775808:1", "1 99999999999:1", "1 9223372036854775807:1", "1 1:1 1:2", "1 501:1"),
        *("1 1:", "1 :1", "1 1:x", "1 1;2", "x 1:2", "1,2 1:2", "1 1:1_0", "1 1:0x1", "1 1.5:2", "1 1:2:3", "1 １:2"),
        *("1 " + "9" * 400 + ":1", "1 1:" + "9" * 500, "+-1 1:1", "1 1:1e", "1 1: 2", "1:1 1:2"),
    )
    odd = ("1 1:inf", "1 1:nan", "nan 1:1", "inf 1:1", "1 1:1e309", "1 qid:3 1:2", "1 # nothing", "#", "1", "1 0:5")
    for line in bad:
        for at in (0, 10, 20):
            yield "\n".join([*good[:at], line, *good[at:]]), {"name": "table.svm", **REFUSED}
    for line in odd:
        for name in ("table.svm", "table"):
            yield "\n".join([*good, line]), {"name": name}
    yield "1\n" * 30, {"name": "table.svm", **REFUSED}
    yield "1 1:1\n" * 3, {"name": "table.svm", **REFUSED}


def _mutated():
    pieces = (b'"', b",", b"\n", b"\r", b"\0", b"\xff", b":", b"1e999", b"\xef\xbb\xbf")
    good = (good_table(), good_table(20, ";"), "".join(f"{i % 2} 1:{i} 3:{i % 7}\n" for i in range(20)))
    for k in range(250):
        rng = random.Random(1000 + k)
        data = bytearray(good[k % 3].encode())
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            match rng.randrange(4):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.randint(1, 30)]
                case 2:
                    data[at:at] = rng.choice(pieces)
                case 3:
                    data[at:at] = data[at // 2 : at]
        yield bytes(data), {"name": ("x.csv", "x", "x.svm")[rng.randrange(3)]}


def parquet(columns: dict, **options) -> bytes:
    """A Parquet file in memory."""
    file = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), file, **options)
    return file.getvalue()


def repeated(rows: int) -> bytes:
    """A few kilobytes of Parquet that expand to millions of equal numbers."""
    file = io.BytesIO()
    piece = pa.table({"a": pa.repeat(7, 1_000_000), "b": pa.repeat(7, 1_000_000)})
    with pq.ParquetWriter(file, piece.schema, compression="zstd") as writer:
        for _ in range(rows // 1_000_000):
            writer.write_table(piece)
    return file.getvalue()


def _parquet():
    name = {"name": "table.parquet"}
    many = list(range(20))
    good = parquet({"a": [i * 0.5 for i in range(50)], "s": ["x", "y"] * 25, "y": [0, 1] * 25})
    for k in range(60):
        yield good[: len(good) * k // 60], {**name, **REFUSED}
        yield good[: 4 + (len(good) - 12) * k // 60] + good[-8:], name
    for k in range(140):
        rng = random.Random(k)
        data = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(4, len(data) - 4)] = rng.randrange(256)
        yield bytes(data), name
    for odd in (
        {"a": [[1, 2]] * 20, "y": many},
        {"a": [{"b": 1}] * 20, "y": many},
        {"a": pa.array([b"\xff\xfe"] * 20), "y": many},
        {"a": pa.array([1000] * 20, pa.duration("s")), "y": many},
        {"a": pa.array([1000] * 20, pa.time32("s")), "y": many},
        {"a": pa.array([[("k", 1)]] * 20, pa.map_(pa.string(), pa.int64())), "y": many},
        {"a": [1], "y": [1]},
        {"a": many},
        {"a": pa.nulls(20), "y": pa.nulls(20)},
        {f"c{i}": [1] * 20 for i in range(501)},
        {},
        {"a": pa.array(["x" * 20_000] * 20), "y": many},
        {"a": [f"{'x' * 9_000}{i}" for i in range(8_000)], "y": list(range(8_000))},
    ):
        yield parquet(odd, compression="zstd"), {**name, **REFUSED}
    yield repeated(30_000_000), {**name, **REFUSED}
    for hostile in HOSTILE_NAMES:
        yield parquet({hostile: many, hostile + " ": [hostile, "b"] * 10, "y": [0, 1] * 10}), name
    yield parquet({"a": [1.0, float("inf"), float("nan"), 1e308, 5e-324] * 5, "y": [0, 1, 2, 3, 4] * 5}), name
    yield parquet({"a": pa.array([2**60, None] * 10, pa.timestamp("us")), "y": many}), name
    yield parquet({"a": pa.array([2**62, None] * 10, pa.timestamp("ms")), "y": many}), name
    table = pa.table({"a": many, "y": [0, 1] * 10})
    for metadata in (b"not json", json.dumps({"index_columns": [{"kind": "range"}]}).encode(), pickle.dumps(print)):
        yield parquet(table.replace_schema_metadata({b"pandas": metadata})), name
    yield parquet({"a": pa.repeat(7, 20_001), "y": pa.repeat(7, 20_001)}), name
