"""Case H32: Colab shows the widgets, or says that it does not, and goes on."""

import sys
import types

import pytest

from course_lib import show


def colab(monkeypatch: pytest.MonkeyPatch, **output: object) -> None:
    """Put a stand-in for Google's package in place, with what `output` has."""
    for name in ("google", "google.colab", "google.colab.output"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name, value in output.items():
        setattr(sys.modules["google.colab.output"], name, value)


def test_colab_is_told_to_show_the_widgets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case H32: in the first cell, guarded."""
    calls: list[str] = []
    colab(monkeypatch, enable_custom_widget_manager=lambda: calls.append("on"))
    show.ready()
    assert calls == ["on"]
    assert capsys.readouterr().out.startswith("Ready: ")


@pytest.mark.parametrize("fault", ["no function", "refuses"])
def test_colab_without_a_manager_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    def refuse() -> None:
        raise RuntimeError("no")

    given = {"enable_custom_widget_manager": refuse} if fault == "refuses" else {}
    colab(monkeypatch, **given)
    show.ready()
    first, last = capsys.readouterr().out.splitlines()
    assert first == "Widgets are off here; showing a still picture."
    assert last.startswith("Ready: ")


def test_elsewhere_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", None)
    show.ready()
    assert len(capsys.readouterr().out.splitlines()) == 1
