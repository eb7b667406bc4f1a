"""The figures of chapter 1: what is drawn is what was given."""

import warnings
from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch

from course_lib import plots
from course_lib.plots import translation

KOREAN = ["소년", "은", "고양이", "를", "쫓았다"]
ENGLISH = ["the", "boy", "chased", "a", "cat", "."]


@pytest.fixture(autouse=True)
def _drawn_without_boxes() -> Iterator[None]:
    """Draw whatever a test has made; a letter without a glyph is an error."""
    plt.switch_backend("Agg")
    yield
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    plt.close("all")


def arrows(ax) -> list[FancyArrowPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]


def test_an_alignment_has_a_line_for_each_link_and_marks_one_word():
    _, ax = plt.subplots()
    translation.alignment(ax, KOREAN, ENGLISH, [(0, 1), (4, 2), (2, 4)], marked=2)
    colours = [to_hex(line.get_color()) for line in ax.lines]
    assert colours == [plots.GREY, plots.ORANGE, plots.GREY]
    above = [text for text in ax.texts if text.get_text() in KOREAN]
    assert [text.get_text() for text in above] == KOREAN
    places = [text.get_position()[0] for text in above]
    assert places == sorted(places)
    assert ax.lines[1].get_xdata()[0] == pytest.approx(places[4])


def test_attention_is_drawn_as_wide_as_its_weights():
    weights = [0.1, 0.0, 0.2, 0.1, 0.6]
    figure = translation.encoder_decoder(KOREAN, ENGLISH, weights, 2)
    fixed, attention = figure.axes
    steps = len(KOREAN) + len(ENGLISH) - 2
    assert len(arrows(fixed)) == steps + 1
    looks = arrows(attention)[steps:]
    assert len(looks) == len(KOREAN)
    widths = [look.get_linewidth() for look in looks]
    assert sorted(range(5), key=lambda i: widths[i]) == sorted(
        range(5), key=lambda i: weights[i]
    )


def test_a_chain_has_a_step_for_each_word_and_attention_an_arc_from_each():
    chain, direct = translation.paths(KOREAN).axes
    assert len(arrows(chain)) == len(arrows(direct)) == len(KOREAN) - 1


def test_frames_stand_on_the_cells_of_the_links():
    _, ax = plt.subplots()
    translation.frame(ax, [(3, 1)])
    (box,) = ax.patches
    left, top = box.get_xy()
    assert (left + box.get_width() / 2, top + box.get_height() / 2) == pytest.approx(
        (3, 1), abs=0.01
    )


def test_curves_by_length_show_the_mean_the_range_and_the_live_run():
    _, ax = plt.subplots()
    seeds = {"fixed": [[1.0, 0.0], [0.5, 0.2]], "other": [[1.0, 1.0], [1.0, 0.9]]}
    translation.match_by_length(ax, [6, 24], seeds, {"fixed": [0.9, 0.1]})
    fixed, live, other = ax.lines
    assert list(fixed.get_ydata()) == pytest.approx([0.75, 0.1])
    assert list(live.get_ydata()) == [0.9, 0.1]
    assert list(other.get_ydata()) == pytest.approx([1.0, 0.95])
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (corners.min(), corners.max()) == (0.0, 1.0)


def test_the_clock_gives_attention_one_colour():
    _, ax = plt.subplots()
    translation.clock(ax, [16, 64], {"RNN": [0.1, 0.4], "attention": [0.1, 0.2]})
    assert to_hex(ax.lines[1].get_color()) == plots.ORANGE
