"""Hints and the solution at the click of a button, in a notebook that is running."""

import sys
from types import SimpleNamespace

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course_lib import checks
from course_lib.checks import buttons

softmax = checks.softmax


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a kernel were running."""
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delenv("COURSE_BUTTONS", raising=False)
    softmax._shown.clear()


def panel(report: checks.Report) -> ipywidgets.VBox:
    """The widget below a report."""
    return every_widget()[buttons.view(report)[buttons.VIEW]["model_id"]]


def every_widget() -> dict[str, ipywidgets.Widget]:
    """The live widgets by their id: kept in another place before ipywidgets 8."""
    from ipywidgets.widgets import widget

    found = getattr(widget, "_instances", None)
    return ipywidgets.Widget.widgets if found is None else found


@pytest.mark.usefixtures("kernel")
def test_hints_one_by_one_and_the_solution() -> None:
    report = softmax.check(lambda x, dim=-1: x)
    row, shown = panel(report).children
    hint, solution = row.children
    assert (hint.description, solution.description) == ("Hint", "Solution")
    for text in softmax.hints:
        hint.click()
        assert text[:20] in shown.value.replace("<code>", "").replace("</code>", "")
    for text in softmax.hints:
        assert shown.value.replace("<code>", "").count(text[:12]) == 1
    last = shown.value
    hint.click()
    assert shown.value == last, "no hint stands there twice"
    solution.click()
    assert "def" in shown.value
    assert "softmax" in shown.value
    assert "color" not in shown.value, "the page's own colour, dark or light"


@pytest.mark.usefixtures("kernel")
def test_after_a_pass_only_the_solution_is_left() -> None:
    row, _ = panel(softmax.check(softmax.right_answer)).children
    assert [button.description for button in row.children] == ["Solution"]


@pytest.mark.usefixtures("kernel")
def test_words_in_korean() -> None:
    checks.set_language("ko")
    try:
        row, _ = panel(softmax.check(lambda x, dim=-1: x)).children
        assert [button.description for button in row.children] == ["힌트", "풀이"]
    finally:
        checks.set_language("en")


@pytest.mark.usefixtures("kernel")
def test_the_box_is_an_output_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """It stays readable where the widget is lost: reopened, printed, handed back."""
    shell = InteractiveShell.instance()
    report = softmax.check(lambda x, dim=-1: x)
    with capture_output() as captured:
        shell.display_formatter.format(report)
    first, second = (output.data for output in captured.outputs)
    box = {"text/plain": str(report), "text/html": report._repr_html_()}
    assert first == box
    assert set(second) == {buttons.VIEW}


def test_without_buttons_the_box_is_the_result() -> None:
    formatter = InteractiveShell.instance().display_formatter
    report = softmax.check(lambda x, dim=-1: x)
    bundle, _ = formatter.format(report)
    assert bundle == {"text/plain": str(report), "text/html": report._repr_html_()}


@pytest.mark.usefixtures("kernel")
def test_no_buttons_when_they_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_BUTTONS", "0")
    assert buttons.view(softmax.check(softmax.right_answer)) == {}


def test_no_buttons_without_a_kernel() -> None:
    assert buttons.view(softmax.check(softmax.right_answer)) == {}


@pytest.mark.usefixtures("kernel")
def test_trouble_with_widgets_leaves_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    report = softmax.check(softmax.right_answer)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert buttons.view(report) == {}
    assert "check-report" in report._repr_html_()


@pytest.mark.usefixtures("kernel")
def test_a_report_of_an_explorer_has_no_buttons() -> None:
    assert buttons.view(checks.Report("explorer-04", "passed", "All.")) == {}
