"""Certificates of tables: what is printed, the page, and its verification."""

import importlib
import json
import re
import sys
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import rff_engine as rff
from rff_engine.studies.command_line import main
from rff_engine.studies.reports import certificate
from rff_engine.studies.toy.certificates import rows_in_words

BAYES = "sklearn.naive_bayes.GaussianNB"


def of(table) -> list[str]:
    return ["certify", "--table", str(table), "--target", "target"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    frame = load_iris(as_frame=True).frame.sample(frac=1, random_state=0)
    frame["target"] = frame["target"].map(lambda label: "abc"[label])
    file = tmp_path_factory.mktemp("tables") / "iris.csv"
    frame.to_csv(file, index=False)
    return file


@pytest.fixture(scope="module")
def page(table):
    file = table.with_suffix(".html")
    assert (
        main(["certify", "--table", str(table), "--target", "target", "--classifier", BAYES, "--html", str(file)]) == 0
    )
    return file


def record_in(page) -> dict:
    return json.loads(re.search(r'json">(.*?)</script>', page.read_text(encoding="utf-8"))[1])


def refusal(capsys, page, *more) -> str:
    """What is said of a page that is not verified."""
    assert main(["certify", "--verify", str(page), *map(str, more)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    return said.err


@pytest.mark.slow
def test_a_table_has_the_certificate_of_its_classifier(table, page, capsys):
    frame = pd.read_csv(table)
    model = rff.CertifiedClassifier(estimator=GaussianNB(), random_state=0)
    model.fit(frame.drop(columns="target").to_numpy(), frame["target"])
    record = record_in(page)
    assert record["risk_bound"] == model.risk_bound_ and record["classes"] == ["a", "b", "c"]
    assert record["sha256"] == sha256(table.read_bytes()).hexdigest()
    assert main([*of(table), "--classifier", BAYES]) == 0
    said = capsys.readouterr().out.splitlines()
    (spoken,) = [line for line in said if line.startswith("With confidence 95 % at most ")]
    percent = float(spoken.split()[6])
    assert 0 <= percent - 100 * model.risk_bound_ < 0.1 + 1e-9
    assert spoken in re.sub("<[^>]*>", "\n", page.read_text(encoding="utf-8")).split("\n")


@pytest.mark.slow
def test_marks_of_writing_direction_in_a_file_name_are_escaped(table, tmp_path):
    name = "a\u202egnp\u2066\x07.csv"
    (tmp_path / name).write_bytes(table.read_bytes())
    file = tmp_path / "page.html"
    assert main([*of(tmp_path / name), "--classifier", BAYES, "--html", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert text.replace("\n", "").isprintable()
    assert text.count("in a\\u202egnp\\u2066\\x07.csv<") == 2
    assert certificate.verify(str(file), str(tmp_path / name))["file"] == name


def test_the_picture_has_a_bar_for_each_term_from_the_end_of_the_last_and_one_for_their_sum():
    html = certificate._ledger([("errors", 0.4), ("choice < 2", -0.1), ("confidence", 0.2)], "certified risk")
    bars = [(float(x), float(width)) for x, width in re.findall(r'<rect x="(\S+)" .*? width="(\S+)"', html)]
    assert bars == [(0, 288), (216, 72), (216, 144), (0, 360)]
    assert "choice &lt; 2" in html and "certified risk 50 %, the sum of 3 terms" in html


@pytest.mark.slow
def test_large_numbers_need_no_scaling(table, capsys):
    frame = pd.read_csv(table)
    frame.iloc[:, 0] *= 1e12
    large = table.with_name("large.csv")
    frame.to_csv(large, index=False)
    printed = [main(of(file)) or capsys.readouterr().out for file in (table, large)]
    assert printed[0].replace("iris.csv", "large.csv") == printed[1]


@pytest.mark.slow
def test_rows_for_an_aim_are_said(table, capsys):
    record = certificate.certify_table(str(table), "target", BAYES, 0.05, 0)
    for aim, wanted in ((None, None), (0.5, 0.5), (0.001, 0.001)):
        assert main([*of(table), "--classifier", BAYES, *(["--aim", str(aim)] if aim else [])]) == 0
        said = capsys.readouterr().out.splitlines()[-1]
        assert said == rows_in_words(record["errors on them"], record["rows of the bound"], 0.05, wanted)
    assert said.startswith("To certify 0.1 %") and "takes no number of rows, however large, to" in said


@pytest.mark.slow
def test_a_page_is_verified_with_its_table_alone(table, page, capsys):
    assert main(["certify", "--verify", str(page), "--table", str(table)]) == 0
    said = capsys.readouterr().out
    assert f"is as it was written for {table}. With confidence 95 %" in said and "Always saying the class" in said
    assert refusal(capsys, page).startswith("--verify needs --table; without the rows")
    again = table.with_name("certified risk 0.1 %.csv")
    again.write_bytes(table.read_bytes())
    assert "another file" in refusal(capsys, page, "--table", again)


def copies_of(certify):
    """`certify_table` that fits once for the same arguments."""
    known = {}

    def certified(*given):
        if (key := repr(given)) not in known:
            known[key] = json.dumps(certify(*given))
        return json.loads(known[key])

    return certified


@pytest.fixture
def made(table, monkeypatch):
    """The record of each arm and scheme, with its table; equal ones are computed once."""
    monkeypatch.setattr(certificate, "certify_table", copies_of(certificate.certify_table))
    X = np.random.default_rng(0).normal(size=(400, 2))
    two = table.with_name("two.csv")
    pd.DataFrame(X).assign(target=np.where(X[:, 0] > 0.3, "class 1", "class 0")).to_csv(two, index=False)
    asked = [(two, None, seed, None) for seed in (0, 1)]
    asked += [(table, BAYES, 0, None), (table, BAYES, 0, 1), (table, BAYES, 0, 4), (table, None, 0, None)]
    pages = []
    for file, classifier, seed, blocks in [*asked, (table, None, 0, 4)]:
        with monkeypatch.context() as patch:
            if seed:  # the posterior certifies where the test set has little of epsilon
                patch.setattr("rff_engine.certified_classifier.TEST_SET_SHARE", 1e-9)
            pages.append((file, certificate.certify_table(str(file), "target", classifier, 0.05, seed, blocks)))
    arms = [(record["arm"], len(record["terms"])) for _, record in pages]
    blocks = ("progressive", 3)
    assert arms == [("test set", 3), ("posterior", 8), ("test set", 2), blocks, blocks, ("test set", 2), blocks]
    return pages


OTHERS = (None, True, 0, 1, -1, 10**400, 0.5, 1e999, float("nan"), "", "certified risk 0.1 %, audited", "\x1b\u202e")
OTHERS = (*OTHERS, "posterior", "test set", "progressive", [], {}, [[]], {"numpy": "2.0"})


def changes(value) -> list:
    """A value as a forger would have it: of another kind, and another number or text in each place."""
    other = [one for one in OTHERS if type(one) is not type(value) or one != value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [*other, value / 2, value * 2, value + 1, -value, float(value) if isinstance(value, int) else 0]
    if isinstance(value, str):
        return [*other, value + " ", value.upper(), value[1:]]
    if isinstance(value, dict):
        within = [value | {key: one} for key in value for one in changes(value[key])]
        return [*other, *within, value | {"audited by": "me"}, dict([*value.items()][::-1]), dict([*value.items()][1:])]
    within = [[*value[:i], one, *value[i + 1 :]] for i in range(len(value)) for one in changes(value[i])]
    return [*other, *within, [*value, *value], value[1:], value[::-1] if value[::-1] != value else []]


def forgeries(record):
    for key, value in record.items():
        yield from ({**record, key: one} for one in changes(value))
        yield {other: record[other] for other in record if other != key}
    yield {**record, "audited by": "certified risk 0.1 %"}
    yield {**record, "errors on them": 0, "risk_bound": 0.001, "terms": [["errors", -1.0, 0.001]]}
    yield {**record, "rows of the bound": 10**6, "rows": 10**6}


def page_of(record) -> str:
    """The page of a forged record, or one with this record alone where no page can be made of it."""
    try:
        return certificate.page(record)
    except Exception:
        return f'<script type="application/json">{json.dumps(record)}</script>'


def still_true(record, file) -> bool:
    """Whether all that a page says but its versions follows from the table, and these are versions."""
    try:
        classifier = BAYES if record["classifier"] == BAYES else None
        given = record["target"], classifier, record["epsilon"], record["seed"], record.get("blocks")
        again = certificate.certify_table(str(file), *given) | {"versions": record["versions"]}
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    versions = again["versions"]
    plain = isinstance(versions, dict) and all(re.fullmatch(r"[\d.]+", str(text)) for text in versions.values())
    return plain and json.dumps(again) == json.dumps(record)


def verified_forgeries(made, file, numbers=None) -> tuple[int, list]:
    """How many forgeries were tried, and those that were verified though something in them is false."""
    tried, verified = 0, []
    for table, record in made:
        every = list(forgeries(record))
        for number in range(len(every)) if numbers is None else numbers.integers(len(every), size=20):
            file.write_text(page_of(every[number]), encoding="utf-8", errors="surrogatepass")
            code = main(["certify", "--verify", str(file), "--table", str(table)])
            tried += 1
            if code != 2 and not still_true(every[number], table):
                verified.append(every[number])
    return tried, verified


@pytest.mark.second("fits a classifier for each of some forgeries")
def test_no_field_of_any_record_can_be_forged(made, tmp_path):
    tried, verified = verified_forgeries(made, tmp_path / "forged.html", np.random.default_rng(0))
    assert tried == 20 * len(made) and verified == []


@pytest.mark.slow
def test_a_changed_digit_is_refused_wherever_it_stands(table, page, capsys, monkeypatch):
    monkeypatch.setattr(certificate, "certify_table", copies_of(certificate.certify_table))
    text = page.read_text(encoding="utf-8")
    versions = text.index('"versions"'), text.index("</script>")
    places = [match.start() for match in re.finditer(r"\d", text) if not versions[0] < match.start() < versions[1]]
    changed = page.with_name("changed.html")
    for place in places[:: max(1, len(places) // 40)]:
        other = str((int(text[place]) + 1) % 10)
        changed.write_text(text[:place] + other + text[place + 1 :], encoding="utf-8")
        assert refusal(capsys, changed, "--table", table).startswith(f"--verify is {str(changed)!r}, ")


DAMAGED = {
    "infinity": ('"epsilon": 0.05', '"epsilon": 1e999'),
    "no versions": ('"versions": {', '"versions": [], "others": {'),
    "free text for a version": ('"numpy": "', '"numpy": "certified risk 0.1 % '),
    "no row": ('"rows": 150', '"rows": 0'),
    "many rows": ('"rows": 150', f'"rows": 1{"0" * 400}'),
    "more digits than Python reads": ('"rows": 150', f'"rows": 1{"0" * 5000}'),
    "deep": ('"rows": 150', f'"rows": {"[" * 200_000}{"]" * 200_000}'),
    "a surrogate": ('"target": "target"', '"target": "\\ud800"'),
    "an unknown arm": ('"arm": "test set"', '"arm": "an audit"'),
    "errors of another kind": ('"errors on them": ', '"errors on them": null, "n": '),
    "two records": ("</script>", '</script><script type="application/json">{}</script>'),
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.slow
def test_a_damaged_page_is_refused_in_one_sentence(what, table, page, capsys):
    text, damaged = page.read_text(encoding="utf-8"), page.with_name("damaged.html")
    assert DAMAGED[what][0] in text
    damaged.write_text(text.replace(*DAMAGED[what]), encoding="utf-8")
    assert "--verify is " in refusal(capsys, damaged, "--table", table) or what == "a surrogate"


OWN = """
from sklearn.naive_bayes import GaussianNB
open("imported", "w").close()
class Mine(GaussianNB): pass
class Ending(GaussianNB):
    def fit(self, X, y): raise SystemExit(0)
class Failing(GaussianNB):
    def predict(self, X): return [][1]
class NoEstimator:
    def __init__(self): open("called", "w").close()
def maker(): raise SystemExit(0)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a module, from which Python imports."""
    (tmp_path / "own_classes.py").write_text(OWN)
    (tmp_path / "ending_module.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("own_classes", None)


NOT_OF_A_PAGE = ["sys.exit", "os.abort", "builtins.breakpoint", "own_classes.Mine", "antigravity.x", "a.\u202eb"]


@pytest.mark.parametrize("named", [*NOT_OF_A_PAGE, "sklearn.naive_bayes", "sklearn.utils.Bunch", "x" * 10**5])
def test_a_page_names_no_code_that_is_imported_or_called(named, table, page, own, capsys):
    forged = own / "forged.html"
    forged.write_text(certificate.page({**record_in(page), "classifier": named}), encoding="utf-8")
    before = set(sys.modules)
    said = refusal(capsys, forged, "--table", table)
    assert "no classifier of scikit-learn or rff_engine" in said and "\u202e" not in said and len(said) < 500
    assert not (own / "imported").exists()
    assert {"own_classes", "antigravity"}.isdisjoint(set(sys.modules) - before)


def test_known_classifiers_can_be_imported_by_their_paths():
    known = certificate.known_classifiers()
    assert {BAYES, "sklearn.ensemble.HistGradientBoostingClassifier", "rff_engine.CertifiedClassifier"} <= set(known)
    for path, kind in known.items():
        module, _, name = path.rpartition(".")
        assert getattr(importlib.import_module(module), name) is kind


@pytest.mark.slow
def test_a_class_of_ones_own_is_named_by_the_caller(table, own, capsys):
    mine = ["--classifier", "own_classes.Mine"]
    assert main([*of(table), *mine, "--html", "mine.html"]) == 0
    capsys.readouterr()
    assert "give it as --classifier" in refusal(capsys, "mine.html", "--table", table)
    assert main(["certify", "--verify", "mine.html", "--table", str(table), *mine]) == 0
    capsys.readouterr()
    assert "another classifier" in refusal(capsys, "mine.html", "--table", table, "--classifier", BAYES)


NO_CLASS, AT_FAULT = ["sys.exit", "os.abort", "NoEstimator", "maker"], ["ending_module.Mine", "Ending", "Failing"]


@pytest.mark.parametrize("named", NO_CLASS + AT_FAULT)
@pytest.mark.slow
def test_what_a_caller_names_is_a_class_of_classifiers_and_ends_no_program(named, table, page, own, capsys):
    named = named if "." in named else f"own_classes.{named}"
    for command in (of(table), ["certify", "--verify", str(page), "--table", str(table)]):
        assert main([*command, "--classifier", named]) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith(f"--classifier is {named!r}") and said.err.endswith(".\n")
    assert not (own / "called").exists()


@pytest.mark.slow
def test_blocks_have_the_certificate_of_their_classifiers(table, capsys):
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="target").to_numpy(), frame["target"]
    model = rff.CertifiedClassifier(estimator=GaussianNB(), random_state=0, scheme="progressive", n_blocks=4).fit(X, y)
    file = table.with_name("blocks.html")
    blocks = ["--scheme", "progressive", "--blocks", "4"]
    assert main([*of(table), "--classifier", BAYES, *blocks, "--html", str(file)]) == 0
    said = capsys.readouterr().out
    assert main(["certify", "--verify", str(file), "--table", str(table)]) == 0
    record = record_in(file)
    sizes = record["rows of each block"]
    assert record["risk_bound"] == model.risk_bound_ and sizes == model.block_sizes_.tolist()
    assert [term[2] for term in record["terms"]] == [term.risk for term in model.certificate_]
    spoken = f"are misclassified, if each is predicted by a random one of the {len(sizes)} blocks' classifiers."
    assert spoken in certificate.sentence(record) and certificate.sentence(record) in said
    assert "to count errors on" not in said and "by progressive validation" in said


@pytest.mark.slow
def test_blocks_need_no_classifier_of_ones_own(table, capsys):
    assert main([*of(table), "--scheme", "progressive"]) == 0
    assert "ridge regression of the labels on 200 random Fourier features" in capsys.readouterr().out


def test_one_block_is_one_classifier(table):
    record = certificate.certify_table(str(table), "target", BAYES, 0.05, 0, blocks=1)
    assert len(record["rows of each block"]) == 1 and "random one" not in certificate.sentence(record)


def test_the_percentage_is_rounded_up():
    for bound, said in ((0.0501, "5.1"), (0.05, "5"), (0.3, "30"), (1.0, "100")):
        assert f"at most {said} % of new rows" in certificate.sentence({"risk_bound": bound, "epsilon": 0.05})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "certify needs --dataset, or --table and --target, or --verify."),
        (["--table", "{table}"], "certify needs --dataset, or --table and --target, or --verify."),
        (
            ["--table", "no.csv", "--target", "y"],
            "--table is 'no.csv', which cannot be read: No such file or directory.",
        ),
        (["--table", "{table}", "--target", "no"], "There is no column “no” in the table, which has “"),
        (
            ["--table", "{table}", "--target", "target", "--classifier", "os.path"],
            "--classifier is 'os.path'; the import",
        ),
        (
            ["--table", "{table}", "--target", "target", "--classifier", "nb"],
            "--classifier is 'nb'; the import path of",
        ),
        (["--table", "{table}", "--target", "target", "--D", "5"], "--D is of --dataset, which is not given."),
        (["--dataset", "breast", "--aim", "0.1"], "--aim is of --table, which is not given."),
        (["--table", "{table}", "--target", "target", "--blocks", "5"], "--blocks is of --scheme progressive, which"),
        (
            ["--table", "{table}", "--target", "target", "--scheme", "progressive", "--aim", "0.1"],
            "--aim is of --scheme split; the rows of blocks teach as well.",
        ),
        (["--dataset", "breast", "--scheme", "progressive"], "--scheme is of --table, which is not given."),
        (["--verify", "no.html", "--table", "{table}"], "--verify is 'no.html', which cannot be read"),
        (["--verify", "{table}", "--table", "{table}"], "which holds no certificate"),
    ],
)
def test_wrong_options_are_one_sentence(options, said, table, capsys):
    assert main(["certify", *(option.format(table=table) for option in options)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.rstrip().endswith(".")


@pytest.mark.slow
def test_texts_of_a_table_do_no_harm(table):
    frame = pd.read_csv(table).rename(columns={"target": "</script><b>"})
    file = table.with_name("harm.csv")
    frame.to_csv(file, index=False)
    made = certificate.page(certificate.certify_table(str(file), "</script><b>", BAYES, 0.05, 0))
    assert "<b>" not in made and made.count("</script>") == 1
    assert json.loads(re.search(r'json">(.*?)</script>', made)[1])["target"] == "</script><b>"


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.slow
def test_a_fitted_model_is_certified_and_verified_by_the_column_of_what_it_says(numbers, tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels, others = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    said = np.where(rng.random(200) < 0.1, others, labels).astype(object)
    if not numbers:
        labels, said = np.array(["a", "b", "c"])[labels], np.array(["a", "b", "c"], dtype=object)[said.astype(int)]
    n_errors = (said != labels).sum() + (said[0] == labels[0])
    said[0] = None  # no answer, an error
    frame = pd.DataFrame({"x": rng.normal(size=200), "target": labels, "said": said})
    table, file = tmp_path / "said.csv", tmp_path / "said.html"
    frame.to_csv(table, index=False)
    assert main([*of(table), "--predictions", "said", "--html", str(file)]) == 0
    condition = "are misclassified, if the model was neither fitted nor chosen on these rows."
    record = record_in(file)
    assert condition in capsys.readouterr().out and condition in file.read_text(encoding="utf-8")
    assert record["risk_bound"] == rff.bounds.test_set(n_errors, 200, 0.05) and record["rows of the bound"] == 200
    assert record["error of the majority"] == pytest.approx(1 - frame["target"].value_counts().max() / 200)
    given = "--table", table
    refused = refusal(capsys, file, *given)
    assert (
        "of a fitted model, which cannot be computed again from the table and a class" in refused and "%" not in refused
    )
    assert main(["certify", "--verify", str(file), *map(str, given), "--predictions", "said"]) == 0
    capsys.readouterr()
    assert "another columns" in refusal(capsys, file, *given, "--predictions", "x")
    file.write_text(certificate.page({**record, "risk_bound": 0.01}), encoding="utf-8")
    assert "another risk_bound" in refusal(capsys, file, *given, "--predictions", "said")
    for more, why in (
        (["--predictions", "target"], "is the target"),
        (["--predictions", "x", "--blocks", "2"], "without"),
    ):
        assert main([*of(table), *more]) == 2
        assert why in capsys.readouterr().err
