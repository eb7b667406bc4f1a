"""Hints and the solution at the click of a button, in a notebook that is running."""

import sys
from types import SimpleNamespace

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell

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
    """The widget that a report shows."""
    bundle = report._repr_mimebundle_()
    model = bundle[buttons.VIEW]["model_id"]
    widgets = getattr(ipywidgets.Widget, "widgets", None)
    if widgets is None or not isinstance(widgets, dict):  # before ipywidgets 8
        from ipywidgets.widgets.widget import _instances as widgets
    found: ipywidgets.VBox = widgets[model]
    return found


@pytest.mark.usefixtures("kernel")
def test_hints_one_by_one_and_the_solution() -> None:
    report = softmax.check(lambda x, dim=-1: x)
    box, row, shown = panel(report).children
    assert box.value == report._repr_html_()
    hint, solution = row.children
    assert (hint.description, solution.description) == ("Hint", "Solution")
    for text in softmax.hints:
        hint.click()
        assert text[:20] in shown.value.replace("<code>", "").replace("</code>", "")
    last = shown.value
    hint.click()
    assert shown.value == last, "the last hint stays"
    solution.click()
    assert "def" in shown.value
    assert "softmax" in shown.value
    assert "color" not in shown.value, "the page's own colour, dark or light"


@pytest.mark.usefixtures("kernel")
def test_after_a_pass_only_the_solution_is_left() -> None:
    _, row, _ = panel(softmax.check(softmax.right_answer)).children
    assert [button.description for button in row.children] == ["Solution"]


@pytest.mark.usefixtures("kernel")
def test_words_in_korean() -> None:
    checks.set_language("ko")
    try:
        _, row, _ = panel(softmax.check(lambda x, dim=-1: x)).children
        assert [button.description for button in row.children] == ["힌트", "풀이"]
    finally:
        checks.set_language("en")


@pytest.mark.usefixtures("kernel")
def test_one_output_with_text_box_and_buttons() -> None:
    """A front end takes what it can show; nbval compares text and box."""
    formatter = InteractiveShell.instance().display_formatter
    report = softmax.check(lambda x, dim=-1: x)
    bundle, _ = formatter.format(report)
    assert set(bundle) == {"text/plain", "text/html", buttons.VIEW}
    assert bundle["text/plain"] == str(report)
    assert bundle["text/html"] == report._repr_html_()


@pytest.mark.usefixtures("kernel")
def test_no_buttons_when_they_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_BUTTONS", "0")
    assert softmax.check(softmax.right_answer)._repr_mimebundle_() == {}


def test_no_buttons_without_a_kernel() -> None:
    assert softmax.check(softmax.right_answer)._repr_mimebundle_() == {}


@pytest.mark.usefixtures("kernel")
def test_trouble_with_widgets_leaves_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    report = softmax.check(softmax.right_answer)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert report._repr_mimebundle_() == {}
    assert "check-report" in report._repr_html_()


@pytest.mark.usefixtures("kernel")
def test_a_report_of_an_explorer_has_no_buttons() -> None:
    assert checks.Report("explorer-04", "passed", "All.")._repr_mimebundle_() == {}
