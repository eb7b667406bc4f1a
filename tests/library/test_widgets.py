"""The Python side of the widgets: what they store, and what they refuse."""

import json
import re
from pathlib import Path

import pytest
import torch

from course_lib import checks, widgets
from course_lib.checks import EXERCISES
from course_lib.widgets import Ask, Explorer, Sharpness, read_questions
from course_lib.widgets.base import Solvable
from course_lib.widgets.tasks import read_tasks

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


def test_a_question_is_named_after_itself() -> None:
    assert repr(Ask(3, "variance")) == "Ask(variance)"


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


EXPLORERS = sorted(
    name
    for name in widgets.__all__
    if isinstance(getattr(widgets, name), type)
    and issubclass(getattr(widgets, name), Explorer)
    and name != "Explorer"
)


@pytest.fixture(params=["Ask", *EXPLORERS])
def widget(request: pytest.FixtureRequest) -> Solvable:
    return Ask(3) if request.param == "Ask" else getattr(widgets, request.param)()


def test_a_widget_carries_its_script_and_nothing_from_elsewhere(
    widget: Solvable,
) -> None:
    script = str(widget._esm)
    assert not re.search(
        r"^import\b|\bimport\(|https?://(?!www\.w3\.org/)", script, re.M
    )
    assert script.count("export default") == 1
    names = re.findall(r"^(?:export )?(?:const|let|function) (\w+)", script, re.M)
    assert len(set(names)) == len(names), "two of the joined files use one name"
    json.dumps(widget.instead)
    assert set(widget.instead) == {"en", "ko"}


def test_a_widget_has_a_stable_name(widget: Solvable) -> None:
    """Case H27: a name with an address in it would never compare equal."""
    assert re.search("0x|object at", repr(widget)) is None
    assert len(repr(widget)) < 110  # ipywidgets cuts longer ones


def test_a_question_is_small() -> None:
    """Each question carries its script: a chapter holds it many times."""
    assert len(str(Ask(3, "variance")._esm).encode()) <= 5800


# ---- Tasks ------------------------------------------------------------------------

TASK = """
[try]
en = ["Look."]
ko = ["보세요."]
[first]
mistakes = ["softmax/overflow", "own"]
[first.en]
ask = "Do it."
right = "Yes, {n}."
own = "No."
[first.ko]
ask = "해 보세요."
right = "네, {n}입니다."
own = "아닙니다."
"""


def test_a_file_of_tasks_is_read(tmp_path: Path) -> None:
    things, tasks = read_tasks(write(tmp_path, TASK))
    assert things == {"en": ["Look."], "ko": ["보세요."]}
    (task,) = tasks
    assert (task["id"], task["name"]) == ("explorer-07/first", "first")
    known = {m.id: m for m in EXERCISES["softmax"].misconceptions}["overflow"]
    assert task["mistakes"]["softmax/overflow"]["en"] == known.sentence
    assert task["mistakes"]["own"]["ko"] == "아닙니다."


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('ask = "Do it."\n', "", "'first'.*en has no 'ask'"),
        ('right = "네, {n}입니다."\n', "", "'first'.*ko has no 'right'"),
        ('own = "아닙니다."\n', "", "'first'.*differ in.*own"),
        ("softmax/overflow", "softmax/underflow", "no misconception softmax/underflow"),
        ("softmax/overflow", "nothing/overflow", "no misconception nothing/overflow"),
        ('"own"]', '"other"]', "no misconception other"),
        ('ko = ["보세요."]', "ko = []", "try"),
        ("[first]", "[first", "07.toml is not valid TOML"),
    ],
)
def test_an_incomplete_task_is_refused_by_name(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in TASK
    with pytest.raises(
        ValueError, match=f"07.toml.*{says}" if "07" not in says else says
    ):
        read_tasks(write(tmp_path, TASK.replace(old, new, 1)))


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_task_speaks_both_languages(name: str) -> None:
    """Its own texts, and those of the checks when their catalogue has them."""
    explorer = getattr(widgets, name)()
    assert 2 <= len(explorer.tasks) <= 4
    assert 2 <= len(explorer.things["en"]) == len(explorer.things["ko"]) <= 3
    for task in explorer.tasks:
        for text in task["texts"]["ko"].values():
            assert re.search("[\uac00-\ud7a3]", text), text
        for key, mistake in task["mistakes"].items():
            assert re.search("[\uac00-\ud7a3]", mistake["ko"]), key
            assert not re.search("[\uac00-\ud7a3]", mistake["en"]), key


def test_a_report_reads_what_was_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = widgets.MaskPainter()
    assert explorer.report.status == "not_attempted"
    explorer.verdicts = {"causal": ["causal_mask/inverted", {}]}
    report = explorer.report
    assert (report.passed, report.status, report.diagnosis) == (
        False,
        "wrong",
        "inverted",
    )
    assert "The mask is inverted" in report.message and report.convention
    assert "inverted" in report._repr_html_()
    explorer.verdicts |= {"share": ["low", {"weight": "0.58"}]}
    assert "0.58" in explorer.report.message and explorer.report.diagnosis is None
    explorer.solved = ["explorer-04/causal"]
    assert "1 of 4" in explorer.report.message
    assert "causal      solved\npadding     open" in explorer.report.message
    assert explorer.report.status == "wrong"
    explorer.solved = list(explorer.task_ids)
    assert explorer.report.passed and explorer.report.diagnosis is None


def test_a_report_speaks_the_language_of_the_checks() -> None:
    explorer = widgets.MaskPainter()
    explorer.verdicts = {"share": ["low", {"weight": "0.58"}]}
    checks.set_language("ko")
    try:
        message = explorer.report.message
    finally:
        checks.set_language("en")
    assert "과제" in message and "0.58" in message and "풀" in message
    assert not re.search("solved|not yet|open|too little", message)
