"""Certificates of tables: what is printed, the page, and its verification."""

import json
import re
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import rff_engine as rff
from rff_engine.experiments.command_line import main
from rff_engine.experiments.reports import certificate
from rff_engine.experiments.toy.certificates import rows_in_words
from rff_engine.figures.document import Document

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


@pytest.mark.slow
def test_a_table_has_the_certificate_of_its_classifier(table, page, capsys):
    frame = pd.read_csv(table)
    model = rff.CertifiedClassifier(estimator=GaussianNB(), random_state=0)
    model.fit(frame.drop(columns="target").to_numpy(), frame["target"])
    record = certificate.verify(str(page))
    assert record["risk_bound"] == model.risk_bound_ and record["classes"] == ["a", "b", "c"]
    assert record["sha256"] == sha256(table.read_bytes()).hexdigest()
    assert main([*of(table), "--classifier", BAYES]) == 0
    said = capsys.readouterr().out.splitlines()
    (spoken,) = [line for line in said if line.startswith("With confidence 95 % at most ")]
    percent = float(spoken.split()[6])
    assert 0 <= percent - 100 * model.risk_bound_ < 0.1 + 1e-9
    assert spoken in re.sub("<[^>]*>", "\n", page.read_text(encoding="utf-8")).split("\n")


def test_the_picture_has_a_bar_for_each_term_from_the_end_of_the_last_and_one_for_their_sum():
    document = Document("t")
    document.ledger([("errors", 0.4), ("choice < 2", -0.1), ("confidence", 0.2)], "certified risk")
    html = document.html()
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
def test_the_default_is_a_vote_on_scaled_columns(table):
    wide = pd.read_csv(table)
    wide.insert(0, "noise", 1e6 * np.random.default_rng(0).normal(size=len(wide)))
    file = table.with_name("wide.csv")
    wide.to_csv(file, index=False)
    assert certificate.certify_table(str(file), "target", None, 0.05, 0)["risk_bound"] < 0.3


@pytest.mark.slow
def test_a_page_as_it_was_written_is_verified_with_its_table(table, page, capsys):
    assert main(["certify", "--verify", str(page)]) == 0
    assert main(["certify", "--verify", str(page), "--table", str(table)]) == 0
    assert "is as it was written. With confidence 95 %" in capsys.readouterr().out


@pytest.mark.slow
def test_a_changed_digit_is_refused_wherever_it_stands(page, capsys):
    text = page.read_text(encoding="utf-8")
    body = text.index("<body>")
    places = [match.start() for match in re.finditer(r"\d", text) if match.start() > body]
    changed = page.with_name("changed.html")
    for place in places[:: max(1, len(places) // 40)]:
        other = str((int(text[place]) + 1) % 10)
        changed.write_text(text[:place] + other + text[place + 1 :], encoding="utf-8")
        assert main(["certify", "--verify", str(changed)]) == 2
        assert capsys.readouterr().err.startswith(f"--verify is {str(changed)!r}, which ")


@pytest.mark.slow
def test_a_number_that_is_changed_everywhere_is_refused(table, page, capsys):
    record = certificate.verify(str(page))
    forged = page.with_name("forged.html")
    forged.write_text(certificate.page({**record, "risk_bound": record["risk_bound"] / 2}), encoding="utf-8")
    assert main(["certify", "--verify", str(forged)]) == 2
    assert "its text, terms and bound do not agree" in capsys.readouterr().err
    forged.write_text(certificate.page({**record, "seed": 1}), encoding="utf-8")
    assert main(["certify", "--verify", str(forged), "--table", str(table)]) == 2
    assert "which gives another " in capsys.readouterr().err


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
    record = certificate.verify(str(file))
    sizes = record["rows of each block"]
    assert record["risk_bound"] == model.risk_bound_ and sizes == model.block_sizes_.tolist()
    assert [term[2] for term in record["terms"]] == [term.risk for term in model.certificate_]
    spoken = f"are misclassified, if each is predicted by a random one of the {len(sizes)} blocks' classifiers."
    assert spoken in certificate.sentence(record) and certificate.sentence(record) in said
    assert "to count errors on" not in said and "by progressive validation" in said
    for change in ({"errors on them": 0}, {"rows of each block": sizes[1:]}, {"epsilon": 0.1}):
        file.write_text(certificate.page({**record, **change}), encoding="utf-8")
        assert main(["certify", "--verify", str(file)]) == 2
    other = {**record, "blocks": 5}
    file.write_text(certificate.page(other), encoding="utf-8")
    assert main(["certify", "--verify", str(file), "--table", str(table)]) == 2


@pytest.mark.slow
def test_blocks_need_no_classifier_of_ones_own(table, capsys):
    assert main([*of(table), "--scheme", "progressive"]) == 0
    assert "ridge regression of the labels on 200 random Fourier features" in capsys.readouterr().out


@pytest.mark.slow
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
        (["--verify", "no.html"], "--verify is 'no.html', which cannot be read"),
        (["--verify", "{table}"], "which holds no certificate"),
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
