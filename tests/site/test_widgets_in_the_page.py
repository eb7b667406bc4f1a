"""The explorer of chapter 3 and the questions on the pages of the book.

Tasks, languages and storage of all explorers are looked at in test_explorers.py.
"""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page
from site_checks import (
    CHAPTERS,
    Visit,
    explorer_scores,
    read,
    widget_states,
)
from torch import Tensor
from widget_page import HOST

from course_lib import widgets

Open = Callable[..., Visit]
CHAPTER_3 = next((f"{name}.html" for name in CHAPTERS if "/03-" in name), "")
WITH_QUESTIONS = [f"{name}.html" for name in CHAPTERS]


def jacobian_norm(weights: Tensor) -> Tensor:
    """Norm of diag(w) - w wᵀ of each row: (..., Tk) -> (...)."""
    outer = weights[..., :, None] * weights[..., None, :]  # (..., Tk, Tk)
    return (torch.diag_embed(weights) - outer).flatten(-2).norm(dim=-1)


def number(text: str) -> float:
    return float(text.replace("−", "-").split()[0])


# ---- The explorer ----------------------------------------------------------------


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


def test_the_widgets_speak_korean_on_a_korean_page(visit: Open) -> None:
    page = visit(CHAPTER_3, korean=True).page
    assert "소프트맥스는 얼마나 뾰족한가요?" in page.locator(".sharpness").inner_text()
    assert "예측" in page.locator(".ask-predict").first.inner_text()
    assert page.locator(".sharpness").get_attribute("lang") == "ko"


# ---- The questions ---------------------------------------------------------------


@pytest.mark.parametrize("chapter", WITH_QUESTIONS)
def test_every_choice_of_a_check_has_its_answer(
    visit: Open, site: Path, chapter: str
) -> None:
    page = visit(chapter).page
    states = widget_states(read(site / chapter)).values()
    banks = [s["state"]["questions"] for s in states if "questions" in s["state"]]
    checks = [q for bank in banks for q in bank if q["kind"] == "check"]
    shown = page.locator(".ask-check").all()
    assert len(shown) == len(checks) >= 5
    by_text = {plain(q["en"]["text"]): q for q in checks}
    for box in shown:
        question = by_text[plain(box.locator(".ask-text").inner_text())]
        texts = [plain(choice) for choice, _ in question["en"]["choices"]]
        assert box.locator("button").count() == len(texts)
        for button in box.locator("button").all():
            i = texts.index(plain(button.locator("span").nth(1).inner_text()))
            button.click()
            answer = box.locator(".ask-answer").inner_text()
            mark = "Right." if i == question["right"] else "Not quite."
            assert answer.startswith(mark)
            assert plain(question["en"]["choices"][i][1]) in plain(answer)
            assert button.get_attribute("aria-pressed") == "true"
        assert box.locator('[aria-pressed="true"]').count() == 1


def plain(text: str) -> str:
    """A text without what the page shows as layout: spaces, backticks, indices."""
    return "".join(text.translate(dict.fromkeys(map(ord, "`_^"))).split())


@pytest.mark.parametrize("chapter", WITH_QUESTIONS)
def test_a_prediction_opens_its_answer_and_no_other(visit: Open, chapter: str) -> None:
    page = visit(chapter).page
    opened = page.locator(".cell_output details.hide[open], details.hide[open]")
    predictions = page.locator(".ask-predict").all()
    assert predictions and opened.count() == 0
    before = 0
    for prediction in predictions:
        prediction.locator("button").nth(1).focus()
        page.keyboard.press("Enter")
        assert prediction.locator(".ask-answer").inner_text().startswith("Noted.")
        assert prediction.locator("[data-state=right], [data-state=wrong]").count() == 0
        assert opened.count() > before, prediction.inner_text()
        before = opened.count()


def test_the_choices_of_a_check_are_shuffled(visit: Open) -> None:
    def orders() -> set[str]:
        boxes = visit(CHAPTER_3).page.locator(".ask-check .ask-choices").all()
        return {box.inner_text() for box in boxes}

    first = orders()
    assert any(orders() != first for _ in range(6))


def test_a_solved_question_is_kept_until_it_is_cleared(visit: Open, site: Path) -> None:
    seen = visit(CHAPTER_3)
    box = seen.page.locator(".ask-check").first
    text = plain(box.locator(".ask-text").inner_text())
    states = widget_states(read(site / CHAPTER_3)).values()
    banks = [s["state"]["questions"] for s in states if "questions" in s["state"]]
    (question,) = [q for b in banks for q in b if plain(q["en"]["text"]) == text]
    choice, _ = question["en"]["choices"][question["right"]]
    for button in box.locator("button").all():
        if plain(button.locator("span").nth(1).inner_text()) == plain(choice):
            button.click()
    assert "solved" in box.locator(".ask-kind").inner_text()
    seen.page.reload()
    seen.settle()
    assert "solved" in box.locator(".ask-kind").inner_text()
    seen.page.get_by_role("button", name="Forget it").click()
    assert "solved" not in box.locator(".ask-kind").inner_text()


# ---- The notebooks ---------------------------------------------------------------


def stored(site: Path, chapter: str) -> list[tuple[str, str, str]]:
    """Name, script and style of every widget that a page holds."""
    states = [
        s["state"] for s in widget_states(read(site / f"{chapter}.html")).values()
    ]
    return [
        (state["_anywidget_id"].rsplit(".", 1)[-1], state["_esm"], state["_css"])
        for state in states
        if "_esm" in state
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_notebook_holds_todays_widgets(site: Path, chapter: str) -> None:
    """A widget's script is stored when a notebook runs: `make notebooks` renews it."""
    held = stored(site, chapter)
    assert held
    today = {name: getattr(widgets, name) for name, _, _ in held}
    stale = sorted(
        name
        for name, script, style in set(held)
        if (script, style) != (today[name]._esm, today[name]._css)
    )
    assert stale == [], "run make notebooks"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_our_scripts_on_a_page_are_light(site: Path, chapter: str) -> None:
    """All scripts of our own on a page, the host among them: 60 KB gzipped."""
    scripts = "".join(
        script for _, script, _ in stored(site, chapter)
    ) + HOST.read_text(encoding="utf-8")
    assert len(gzip.compress(scripts.encode())) <= 60_000
