"""Figures: Hangul and minus signs without boxes, one scale for weights, no silence."""

import subprocess
import sys
import warnings
from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib import font_manager
from matplotlib.colors import to_rgba

from course_lib import plots
from course_lib.plots.style import hangul_fonts

NAMES = ["고양이가", "쫓는다", "쥐를"]


@pytest.fixture(autouse=True)
def _glyph_warnings_are_errors() -> Iterator[None]:
    plt.switch_backend("Agg")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")
        yield
    plt.close("all")


def draw(figure: plt.Figure) -> None:
    figure.canvas.draw()


def test_importing_the_library_imports_no_matplotlib() -> None:
    code = "import course_lib, sys; print('matplotlib' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8"
    )
    assert result.stdout.strip() == "False", result.stderr


def test_hangul_and_minus_signs_have_glyphs() -> None:
    """Case H35: every character of a label is in a font of the list, U+2212 too."""
    if not hangul_fonts():
        pytest.skip("this machine has no font with Hangul")
    figure, ax = plt.subplots()
    ax.plot([-1, 0], [-1, 1])
    ax.set_xlabel("점수")
    draw(figure)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert any("\u2212" in label for label in labels), "the test draws no minus sign"
    fonts = [
        font_manager.get_font(
            font_manager.findfont(family, fallback_to_default=False)
        ).get_charmap()
        for family in plt.rcParams["font.family"]
    ]
    for character in set("".join(labels) + "점수"):
        assert any(ord(character) in font for font in fonts), character


def test_a_glyph_that_no_font_has_turns_the_tests_red() -> None:
    figure, ax = plt.subplots()
    ax.set_title("\U0001f300")
    with pytest.raises(UserWarning, match="Glyph"):
        draw(figure)


def test_weights_have_one_scale_on_every_map() -> None:
    """A weight has the same colour whatever stands beside it; scores stay plain."""
    colours = []
    for other in (0.1, 0.9):
        _, ax = plt.subplots()
        plots.heat_map(ax, torch.tensor([[0.5, other]]), ["q"], ["a", "b"])
        colours.append(ax.patches[0].get_facecolor())
    assert colours[0] == colours[1] == to_rgba(plt.get_cmap("cividis")(0.5))

    _, ax = plt.subplots()
    plots.heat_map(ax, torch.tensor([[-3.0, 7]]), ["q"], ["a", "b"], coloured=False)
    assert ax.patches[0].get_facecolor() == ax.patches[1].get_facecolor()


def test_a_map_writes_its_numbers_until_they_no_longer_fit() -> None:
    small, large = torch.full((2, 3), 0.25), torch.full((2, 40), 0.25)
    _, ax = plt.subplots()
    plots.heat_map(ax, small, ["a", "b"], NAMES)
    assert [text.get_text() for text in ax.texts] == ["0.25"] * 6
    _, ax = plt.subplots()
    plots.heat_map(ax, large, ["a", "b"], [""] * 40)
    assert not ax.texts and len(ax.patches) == 80


def test_query_goes_down_and_key_across() -> None:
    _, ax = plt.subplots()
    plots.heat_map(
        ax, torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), NAMES[:2], NAMES
    )
    placed = {text.get_text(): text.get_position() for text in ax.texts}
    assert placed["2"] == (2, 0) and placed["3"] == (0, 1)
    bottom, top = ax.get_ylim()
    assert bottom > top, "row 0 stands at the top"


def test_names_that_do_not_fit_are_refused() -> None:
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"\(2, 3\).*got 3 .* 2"):
        plots.heat_map(ax, torch.zeros(2, 3), ["a", "b", "c"], ["x", "y"])
    with pytest.raises(ValueError, match="'loss' has 2 values for 3"):
        plots.curves(ax, [1, 4, 16], {"loss": [1.0, 2.0]})


def test_figures_of_the_chapters_draw_silently(
    capfd: pytest.CaptureFixture[str],
) -> None:
    weights = torch.tensor([[0.2, 0.3, 0.5]] * 3)
    maps = dict.fromkeys(("1", "2", "3", "4"), (weights, NAMES))
    draw(plots.stages(maps, NAMES, coloured="3"))
    figure, (left, right) = plt.subplots(1, 2)
    plots.curves(left, [1, 4, 16], {"a": [1.0, 2.0, 3.0]})
    plots.curves(right, [2, 3, 5], {"b": [1.0, 2.0, 3.0]}, label="length", log=False)
    assert right.get_xlabel() == "length" and left.get_xscale() == "log"
    draw(figure)
    figure, ax = plt.subplots()
    plots.histograms(ax, {"x": torch.arange(-3.0, 3.0)}, 3, legend=False)
    assert ax.get_legend() is None
    draw(figure)
    assert capfd.readouterr().err == ""


def test_the_still_explorer_shows_the_weights_of_one_row() -> None:
    scores = torch.tensor([[[0.0, 4.0, 0.0], [0.0, 8.0, 0.0]]])  # (B, widths, Tk)
    figure = plots.sharpness(scores, [16, 64], ["a", "b", "c"], width=64)
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    wanted = torch.tensor([0.0, 1.0, 0.0]).softmax(dim=-1).tolist()
    assert bars == pytest.approx(wanted)
    draw(figure)
