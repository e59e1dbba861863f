"""Exercise sheets: every lesson has one, keys have the engine's numbers, links open the settings, versions differ."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from deploy import exercises
from pages.components.controls.toy_data import ToyData
from pages.components.lessons import content
from pages.components.results.landmarks import LandmarkSettings, landmark_view

ADDRESS = "https://rff.example.org"


def written(folder, *arguments: str):
    assert exercises.main(["--output", str(folder), "--address", ADDRESS, *arguments]) == 0
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.*")}


@pytest.mark.second(reason="computes the numbers of all lessons")
def test_every_lesson_has_a_sheet_and_a_key(tmp_path):
    files = written(tmp_path, "--format", "markdown")
    assert set(files) == {f"{kind}/{lesson.key}-1.md" for kind in ("sheets", "keys") for lesson in content.LESSONS}
    for lesson in content.LESSONS:
        sheet, key = (files[f"{kind}/{lesson.key}-1.md"] for kind in ("sheets", "keys"))
        assert sheet.count("\n## ") == key.count("\n## ") == len(lesson.steps) + 1
        assert not re.search(r"\{(before|after|also)\.|\[\[|<<", sheet + key)
        *letters, number = re.findall(r"\*\*(.+?)\*\*", key)
        assert [letter[0] for letter in letters] == ["ABCDEFGH"[step.right] for step in lesson.steps]
        assert re.search(r"\d", number)
        for address in re.findall(rf"\(({ADDRESS}[^)\s]*)\)", sheet):
            asked = parse_qs(urlsplit(address).query)
            assert urlsplit(address).path == f"/{lesson.page}"
            assert asked.keys() <= exercises.defaults(lesson.page).keys()


@pytest.mark.slow
def test_versions_have_other_numbers_and_the_key_has_those_of_the_engine(tmp_path):
    files = written(
        tmp_path, "--lessons", "beat-the-rbf-map", "--versions", "3", "--first-seed", "4", "--format", "markdown"
    )
    found = {seed: re.findall(r"\*\*(\S+) %\*\*", files[f"keys/beat-the-rbf-map-{seed}.md"])[-1] for seed in (4, 5, 6)}
    for seed, percent in found.items():
        settings = LandmarkSettings(ToyData("moons", 300, 0.1, seed), 0.501, 20, 5, "random")
        assert abs(float(percent) / 100 - landmark_view(settings, 1.0, 1.0).learned.test_error) <= 0.0005 + 1e-9
        assert f"seed={seed}" in files[f"sheets/beat-the-rbf-map-{seed}.md"]
    assert len(set(found.values())) > 1


def test_a_sheet_is_a_page_of_its_own_without_the_answers(tmp_path):
    files = written(tmp_path, "--lessons", "average-of-cosines")
    sheet, key = files["sheets/average-of-cosines-1.html"], files["keys/average-of-cosines-1.html"]
    lesson = content.lessons_of("kernel")["average-of-cosines"]
    assert lesson.steps[0].outcome not in sheet and lesson.steps[0].outcome in key
    assert sheet.count('class="answer"') == len(lesson.steps) + 1 and 'answer"></div>' not in key
    assert not re.search(r"<(script|link|img)\b", sheet)


@pytest.mark.parametrize(
    "arguments", [("--versions", "0"), ("--first-seed", "-1"), ("--first-seed", "99", "--versions", "2")]
)
def test_versions_out_of_range_get_one_sentence(tmp_path, capsys, arguments):
    assert exercises.main(["--output", str(tmp_path / "out"), *arguments]) == 2
    assert re.fullmatch(r"--versions -?\d+ from --first-seed -?\d+: seeds are 0 to 99, .+\n", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
