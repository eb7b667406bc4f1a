"""The explorer of chapter 3 on its page of the book: it shows PyTorch's numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page
from site_checks import CHAPTERS, Visit, explorer_scores, read
from torch import Tensor

Open = Callable[..., Visit]
CHAPTER_3 = next((f"{name}.html" for name in CHAPTERS if "/03-" in name), "")


def jacobian_norm(weights: Tensor) -> Tensor:
    """Norm of diag(w) - w wᵀ of each row: (..., Tk) -> (...)."""
    outer = weights[..., :, None] * weights[..., None, :]  # (..., Tk, Tk)
    return (torch.diag_embed(weights) - outer).flatten(-2).norm(dim=-1)


def number(text: str) -> float:
    return float(text.replace("−", "-").split()[0])


class Explorer:
    """Chapter 3's explorer on its page, and what PyTorch says it should show."""

    def __init__(self, page: Page, site: Path) -> None:
        self.page = page
        self.box = page.locator(".sharpness")
        self.width, self.heat = self.box.locator("input[type=range]").all()
        self.divide = self.box.locator("input[type=checkbox]")
        self.widths, self.scores = explorer_scores(read(site / CHAPTER_3))

    def button(self, name: str) -> Locator:
        return self.box.get_by_role("button", name=name, exact=True)

    def column(self, number_of_column: int) -> list[float]:
        cells = self.box.locator(f".sh-bars tbody td:nth-child({number_of_column})")
        return [number(text) for text in cells.all_inner_texts()]

    def settings(self) -> tuple[int, float, bool]:
        step, heat = int(self.width.input_value()), float(self.heat.input_value())
        return step, 2**heat, self.divide.is_checked()

    def divisor(self, step: int) -> float:
        _, temperature, divide = self.settings()
        return temperature * (self.widths[step] ** 0.5 if divide else 1)

    def assert_shows_pytorchs_numbers(self, query: int = 0) -> None:
        step, _, _ = self.settings()
        row = self.scores[query, step, :8]
        weights = (row / self.divisor(step)).softmax(dim=-1)
        shown = [self.column(column) for column in (2, 3, 4)]
        for got, want in zip(
            shown, (row, weights, weights * (1 - weights)), strict=True
        ):
            assert got == pytest.approx(want.tolist(), abs=0.00501)
        tiles = self.box.locator(".sh-tile strong").all_inner_texts()
        wanted = [
            torch.special.entr(weights).sum(),
            jacobian_norm(weights),
            weights.max(),
        ]
        assert [number(text) for text in tiles] == pytest.approx(
            [float(value) for value in wanted], abs=0.00501
        )

    def assert_curves_are_pytorchs(self) -> None:
        rows = self.box.locator("details tbody tr").all()
        assert len(rows) == len(self.widths)
        for step, row in enumerate(rows):
            weights = (self.scores[:, step] / self.divisor(step)).softmax(dim=-1)
            norms = jacobian_norm(weights)
            silent = (norms < 0.01).double().mean()
            entropy = torch.special.entr(weights).sum(-1).mean()
            got = [number(text) for text in row.locator("td").all_text_contents()]
            assert got[:2] == pytest.approx(
                [float(entropy), float(norms.mean())], abs=0.00501
            )
            assert got[2] == pytest.approx(100 * float(silent), abs=0.501)


@pytest.fixture
def explorer(visit: Open, site: Path) -> Explorer:
    return Explorer(visit(CHAPTER_3).page, site)


def test_the_explorer_starts_with_pytorchs_numbers(explorer: Explorer) -> None:
    assert explorer.settings() == (6, 1.0, True)
    explorer.assert_shows_pytorchs_numbers()
    explorer.assert_curves_are_pytorchs()


def test_arrow_keys_move_the_sliders(explorer: Explorer) -> None:
    explorer.width.focus()
    before = explorer.column(3)
    explorer.page.keyboard.press("ArrowRight")
    assert explorer.settings()[0] == 7
    assert explorer.width.get_attribute("aria-valuetext") == "128"
    assert explorer.column(3) != before
    explorer.assert_shows_pytorchs_numbers()
    explorer.page.keyboard.press("Tab")
    explorer.page.keyboard.press("ArrowLeft")
    explorer.page.keyboard.press("ArrowLeft")
    assert explorer.settings()[1] == 0.5
    explorer.page.keyboard.press("Tab")
    explorer.page.keyboard.press("Space")
    assert not explorer.settings()[2]
    explorer.page.keyboard.press("Tab")
    explorer.page.keyboard.press("Enter")  # another query
    explorer.assert_shows_pytorchs_numbers(query=1)
    explorer.assert_curves_are_pytorchs()


def test_plain_keys_stay_in_the_widget(explorer: Explorer) -> None:
    """JupyterLab would take an arrow key for its own; shortcuts still go through."""
    explorer.page.evaluate(
        "() => { window.heard = []; document.addEventListener('keydown', "
        "(event) => window.heard.push(event.key)); }"
    )
    explorer.width.press("ArrowLeft")
    assert explorer.page.evaluate("window.heard") == []
    explorer.width.press("Control+ArrowLeft")
    assert "ArrowLeft" in explorer.page.evaluate("window.heard")


def test_a_pointer_moves_the_slider_and_the_curve(explorer: Explorer) -> None:
    explorer.divide.click()
    box = explorer.width.bounding_box()
    assert box
    explorer.width.click(position={"x": box["width"] - 3, "y": box["height"] / 2})
    assert explorer.settings()[0] == len(explorer.widths) - 1
    explorer.assert_shows_pytorchs_numbers()
    explorer.box.locator("figure > svg").click(position={"x": 2, "y": 40})
    assert explorer.settings()[0] == 0
    explorer.assert_shows_pytorchs_numbers()


def test_reset_brings_the_start_back(explorer: Explorer) -> None:
    start = explorer.column(3)
    explorer.divide.click()
    explorer.width.press("End")
    explorer.button("Check").first.click()
    assert explorer.box.locator(".co-verdict[data-state]").count() == 1
    explorer.button("Reset").click()
    assert explorer.settings() == (6, 1.0, True)
    assert explorer.column(3) == start
    assert explorer.box.locator(".co-verdict[data-state]").count() == 0


def test_a_reader_who_wants_no_motion_gets_none(visit: Open) -> None:
    def seconds(**options: str) -> str:
        bar = visit(CHAPTER_3, **options).page.locator(".sharpness .co-bar").first
        return bar.evaluate("(node) => getComputedStyle(node).transitionDuration")

    assert seconds(reduced_motion="reduce") == "0s"
    assert seconds(reduced_motion="no-preference") == "0.18s"
