"""The Python side of the widgets: what they store, and what they refuse."""

import json
import re
from pathlib import Path

import pytest
import torch

from course_lib import widgets
from course_lib.widgets import Ask, Sharpness, read_questions

QUESTIONS = Path(widgets.__file__).parents[1] / "questions"

GOOD = """
[first]
kind = "check"
right = 1
[first.en]
text = "Which?"
choices = [["this", "No."], ["that", "Yes."]]
[first.ko]
text = "어느 것인가요?"
choices = [["이것", "아닙니다."], ["저것", "맞습니다."]]

[second]
kind = "predict"
[second.en]
text = "What next?"
choices = [["up"], ["down"]]
[second.ko]
text = "다음은 무엇인가요?"
choices = [["위"], ["아래"]]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "07.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_names_are_stable() -> None:
    assert repr(Sharpness(queries=2)) == repr(Sharpness(queries=2))
    assert repr(Ask(3, "variance")) == "Ask(variance)"
    for widget in (Sharpness(queries=2), Ask(3)):
        assert re.search("0x|object at", repr(widget)) is None
        assert len(repr(widget)) < 110  # ipywidgets cuts longer ones


def test_ask_shows_all_checks_or_the_named_questions() -> None:
    bank = read_questions(QUESTIONS / "03.toml")
    checks = [name for name, question in bank.items() if question["kind"] == "check"]
    assert repr(Ask(3)) == f"Ask({', '.join(checks)})"
    asked = Ask(3, checks[0], "variance")
    assert asked.questions == [
        {"id": f"questions-03/{name}", **bank[name]} for name in (checks[0], "variance")
    ]
    assert asked.task_ids == [f"questions-03/{checks[0]}"]  # a prediction is no task


@pytest.mark.parametrize("path", sorted(QUESTIONS.glob("*.toml")), ids=lambda p: p.name)
def test_every_chapters_questions_are_complete(path: Path) -> None:
    kinds = [question["kind"] for question in read_questions(path).values()]
    assert kinds.count("check") >= 5
    assert kinds.count("predict") >= 1


def test_a_good_file_is_read(tmp_path: Path) -> None:
    bank = read_questions(write(tmp_path, GOOD))
    assert list(bank) == ["first", "second"]
    assert bank["first"]["ko"]["choices"][1] == ["저것", "맞습니다."]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("right = 1", "right = 2", "'first'.*right.*2"),
        ("right = 1", "right = true", "'first'.*right.*True"),
        ("right = 1\n", "", "'first'.*right.*None"),
        ('kind = "check"', 'kind = "quiz"', "'first'.*kind.*'quiz'"),
        ('kind = "predict"\n', "", "'second'.*kind.*None"),
        ('text = "어느 것인가요?"\n', "", "'first'.*ko.*no text"),
        ('[["this", "No."], ', '[["this"], ', "'first'.*en.*choice 1.*answer"),
        ('["저것", "맞습니다."]', '["저것", ""]', "'first'.*ko.*choice 2"),
        ('["this", "No."], ', "", "'first'.*en.*2 to 6"),
        ('[["위"], ["아래"]]', '[["위"], ["옆"], ["아래"]]', "'second'.*number of"),
        ("[first.en]", "[first.en", "07.toml is not valid TOML"),
        ("[first]", "other = 3\n[first]", "'other'.*table"),
    ],
)
def test_an_incomplete_question_is_refused_by_name(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=f"07.toml.*{says}" if "'" in says else says):
        read_questions(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_missing_file_or_question_is_named() -> None:
    with pytest.raises(ValueError, match=r"99\.toml"):
        Ask(99)
    with pytest.raises(ValueError, match=r"03\.toml has no question 'nothing'"):
        Ask(3, "nothing")


def test_the_explorers_numbers_are_the_dot_products() -> None:
    explorer = Sharpness(queries=3, seed=5)
    generator = torch.Generator().manual_seed(5)
    query = torch.randn(3, 1, 4096, generator=generator).double()
    key = torch.randn(3, 64, 4096, generator=generator).double()
    assert explorer.widths == [2**i for i in range(13)]
    assert explorer.scores.shape == (3, 13, 64)
    for step, width in enumerate(explorer.widths):
        want = (query[..., :width] @ key[..., :width].transpose(-2, -1)).squeeze(1)
        torch.testing.assert_close(
            explorer.scores[:, step].double(), want, atol=0.051, rtol=0
        )
    sent = torch.frombuffer(bytearray(explorer.tenths), dtype=torch.int16)
    assert torch.equal(sent.reshape(3, 13, 64), (explorer.scores * 10).round().short())


def test_the_same_seed_gives_the_same_explorer() -> None:
    torch.manual_seed(1)
    first = Sharpness(queries=2).tenths
    torch.manual_seed(2)
    assert Sharpness(queries=2).tenths == first
    assert Sharpness(queries=2, seed=4).tenths != first


@pytest.mark.parametrize("widget", [Ask(3), Sharpness()], ids=["Ask", "Sharpness"])
def test_a_widget_carries_its_script_and_nothing_from_elsewhere(
    widget: Ask | Sharpness,
) -> None:
    script = widget._esm
    assert not re.search(
        r"^import\b|\bimport\(|https?://(?!www\.w3\.org/)", script, re.M
    )
    assert "export default" in script
    json.dumps(widget.instead)
    assert set(widget.instead) == {"en", "ko"}


def test_a_question_is_small() -> None:
    """Each question carries its script: a chapter holds it many times."""
    assert len(Ask(3, "variance")._esm.encode()) <= 5500
