"""The explorer of masks: what is painted, what lights up, and PyTorch's weights."""

from collections.abc import Callable

import pytest
import torch
from widget_page import Shown

from course_lib import widgets
from course_lib.attention import scaled_dot_product_attention

Show = Callable[..., Shown]


def test_a_drag_paints_every_cell_that_it_crosses(show: Show) -> None:
    shown = show("MaskPainter")
    row = shown.box.locator(".co-matrix tbody tr").nth(1).locator(".co-cell")
    first, last = row.nth(0).bounding_box(), row.nth(3).bounding_box()
    assert first and last
    mouse = shown.page.mouse
    mouse.move(first["x"] + 10, first["y"] + 10)
    mouse.down()
    mouse.move(last["x"] + 10, last["y"] + 10, steps=12)
    mouse.up()
    states = [cell.get_attribute("aria-pressed") for cell in row.all()]
    assert states == ["false"] * 4
    assert "“birds” sees nothing" in shown.box.locator(".mp-sum").inner_text()
    assert shown.box.locator("tr[data-dark]").count() == 1
    others = shown.box.locator('.co-cell[aria-pressed="false"]').count()
    assert others == 4


def test_pointing_lights_the_row_the_words_and_the_term(show: Show) -> None:
    shown = show("MaskPainter")
    cell = shown.box.locator(".co-matrix tbody tr").nth(2).locator(".co-cell").nth(1)
    cell.hover()
    lit = shown.box.locator("[data-lit]")
    assert shown.box.locator("thead [data-lit]").inner_text() == "birds"
    assert lit.locator("th[scope=row]").all_inner_texts() == ["sing", "birds"]
    assert shown.box.locator(".mp-sum [data-lit]").inner_text() == "0.22 · (10, 0)"
    assert "output of “sing” = 0.08" in shown.box.locator(".mp-sum").inner_text()


def test_the_share_is_found_in_korean_too(show: Show) -> None:
    """There the verb comes last: another row, the same scores."""
    shown = show("MaskPainter", "ko")
    shown.paint(("1111", "1111", "1111", "0101"), keys=False)
    assert shown.judge("share") == "right"


def test_the_weights_are_pytorchs(show: Show) -> None:
    """For every board and every ready-made mask: weights and output of each row."""
    boards = widgets.MaskPainter().boards
    shown = show("MaskPainter")
    for board in boards:
        scores = torch.tensor(boards[board]["en"]["scores"], dtype=torch.float64)
        values = torch.tensor(boards[board]["en"]["values"], dtype=torch.float64)
        for ready in ("Everything", "Causal", "Padding", "Window of 2"):
            shown.pick(board, keys=False)
            shown.press(ready, keys=False)
            rows = shown.box.locator(".co-matrix tbody tr").all()
            cells = [row.locator(".co-cell").all() for row in rows]
            mask = torch.tensor(
                [[c.get_attribute("aria-pressed") == "true" for c in r] for r in cells]
            )
            width = scores.shape[-1]  # queries and keys whose scores are these
            query = scores * width**0.5
            output, weights = scaled_dot_product_attention(
                query, torch.eye(width, dtype=torch.float64), values, mask
            )
            for i, row in enumerate(cells):
                for j, cell in enumerate(row):
                    text = cell.inner_text() or "0"
                    assert float(text) == pytest.approx(
                        float(weights[i, j]), abs=0.00501
                    )
                row[0].hover()
                said = shown.box.locator(".mp-sum").inner_text().split("= ")[-1]
                if mask[i].any():
                    pair = [float(x) for x in said.strip("()").split(",")]
                    assert pair == pytest.approx(output[i].tolist(), abs=0.00501)
                else:
                    assert "sees nothing" in said
