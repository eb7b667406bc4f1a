"""What a learner sees: the box, hints, solutions, progress."""

import re
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

from course_lib import checks
from course_lib.checks.report import LOOKS, Report

WRONG = checks.softmax.misconceptions[0].wrong


def test_names_of_the_course_in_order() -> None:
    assert list(checks.EXERCISES) == [
        "additive_scores",
        "context_vector",
        "project_qkv",
        "soft_lookup",
        "softmax",
        "scaled_dot_product_attention",
        "padding_mask",
        "causal_mask",
        "masked_attention",
        "sinusoidal_encoding",
        "add_positions",
        "shift_matrix",
        "split_heads",
        "merge_heads",
        "multi_head_attention",
        "attention_flops",
        "kv_cache_bytes",
        "sliding_window_mask",
        "blockwise_attention",
        "linear_attention",
        "teacher_forcing",
        "masked_loss",
        "noam_rate",
        "greedy_decode",
    ]
    for name, exercise in checks.EXERCISES.items():
        assert getattr(checks, name) is exercise
        assert exercise.right_answer.__name__ == name


def test_report_of_a_mistake() -> None:
    report = checks.softmax.check(WRONG)
    assert not report
    assert (report.status, report.diagnosis) == ("wrong", "overflow")
    assert report.message.startswith("The exponentials overflow")
    assert "right weights = [0.7311, 0.2689]" in report.message
    with pytest.raises(AssertionError, match="exponentials overflow"):
        report.raise_for_failure()


def test_report_of_a_right_answer() -> None:
    report = checks.softmax.check(checks.softmax.right_answer)
    assert report
    assert (report.status, report.diagnosis) == ("passed", None)
    report.raise_for_failure()


def test_text_and_box_say_the_same() -> None:
    report = checks.softmax.check(WRONG)
    words = BeautifulSoup(report._repr_html_(), "html.parser").get_text(" ")
    for part in ("✗", "Not yet", "softmax", "overflow", report.sentence):
        assert part in words
    for part in ("not yet", "softmax", "overflow", report.message):
        assert part in str(report)
    assert repr(report) == str(report)
    str(report).encode("cp949")  # a Korean Windows console prints it


def test_repr_is_stable() -> None:
    first, second = checks.softmax.check(WRONG), checks.softmax.check(WRONG)
    assert repr(first) == repr(second)
    assert first._repr_html_() == second._repr_html_()
    assert "0x" not in repr(first) + repr(checks.softmax)


@pytest.mark.parametrize("status", LOOKS)
def test_box_is_accessible(status: str) -> None:
    html = Report("softmax", status, "A sentence.")._repr_html_()
    box = BeautifulSoup(html, "html.parser").div
    assert box["role"] == "status"
    assert "background:transparent" in box["style"]
    assert "color:inherit" in box["style"]
    icon, words, colour = LOOKS[status]
    assert box.strong.get_text() == f"{icon} {words}", "never by colour alone"
    assert box.strong.span["aria-hidden"] == "true"
    for ground in (0.0, 1.0):  # black and white: the border stands out on both
        assert contrast(colour, ground) >= 3, (status, ground)


def contrast(colour: str, ground: float) -> float:
    """The contrast of WCAG between a colour and grey of that luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    high, low = max(luminance, ground), min(luminance, ground)
    return (high + 0.05) / (low + 0.05)


def test_box_escapes_what_it_is_given() -> None:
    report = Report("softmax", "wrong", "a < b", "<i>", "<b>", "<u>", "<script>")
    html = report._repr_html_()
    for tag in ("<i>", "<b>", "<u>", "<script>"):
        assert tag not in html


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_hints_come_one_at_a_time(name: str) -> None:
    exercise = checks.EXERCISES[name]
    exercise._shown.clear()
    count = len(exercise.hints)
    given = [exercise.hint() for _ in range(count + 1)]
    for number, note in enumerate(given[:-1]):
        assert str(note) == f"Hint {number + 1} of {count}: {exercise.hints[number]}"
        title = f"<summary>Hint {number + 1} of {count}</summary>"
        assert note._repr_markdown_().startswith(f"<details>\n{title}\n\n")
    assert str(given[-1]) == str(given[-2]), "the last hint stays"
    exercise._shown.clear()


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_solution_is_shown_from_the_source(name: str) -> None:
    note = checks.EXERCISES[name].solution()
    assert str(note).startswith(f"def {name}(")
    markdown = note._repr_markdown_()
    assert re.match(r"<details>\n<summary>.+</summary>\n\n```", markdown), "folded"
    assert markdown.endswith(f"```python\n{note}\n```\n\n</details>")
    assert len(str(note).splitlines()) <= 25


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_every_text_prints_on_a_korean_windows_console(name: str) -> None:
    exercise = checks.EXERCISES[name]
    texts = [exercise.task, exercise.section, str(exercise.solution())]
    texts += exercise.hints
    for mistake in exercise.misconceptions:
        texts += [mistake.sentence, mistake.section]
    for text in texts:
        assert text.encode("cp949", errors="replace").decode("cp949") == text


def test_the_ladder_is_read_without_colour() -> None:
    report = checks.softmax.check(lambda x, dim=-1: x)
    assert "shape passed, small numbers failed, random numbers -" in str(report)
    page = BeautifulSoup(report._repr_html_(), "html.parser")
    rungs = [each["aria-label"] for each in page.find_all(attrs={"role": "img"})]
    assert rungs == [
        "shape: passed",
        "small numbers: failed",
        "random numbers: not reached",
        "properties: not reached",
    ]
    assert "shape ✓ · small numbers ✗ · random numbers –" in page.get_text()


def test_import_is_light() -> None:
    """No figures and no widgets beside torch."""
    code = (
        "import sys; from course_lib import checks;"
        "print([m for m in ('matplotlib', 'ipywidgets', 'IPython', 'transformers')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "[]"
