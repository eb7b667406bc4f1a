"""The questions on the pages of the book, and which widgets the pages hold."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from site_checks import (
    CHAPTERS,
    Visit,
    read,
    widget_states,
)
from widget_page import HOST, write_page

from course_lib import widgets

Open = Callable[..., Visit]
CHAPTER_3 = next((f"{name}.html" for name in CHAPTERS if "/03-" in name), "")
WITH_QUESTIONS = [f"{name}.html" for name in CHAPTERS]


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


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_questions(
    chromium: Browser, tmp_path: Path, scheme: str, lang: str
) -> None:
    """No fault of any impact, before and after an answer; also a phone has room."""
    write_page(tmp_path, widgets.Ask(4), lang)
    size = {"width": 360, "height": 780}
    seen = Visit(
        chromium,
        tmp_path.as_uri() + "/",
        f"Ask.{lang}.html",
        color_scheme=scheme,
        viewport=size,
    )
    assert seen.axe(impacts=None) == []
    for box in seen.page.locator(".ask").all():
        for button in box.locator("button").all():
            button.press("Space")
    assert seen.page.locator('[data-state="right"], [data-state="wrong"]').count() >= 10
    assert seen.axe(impacts=None) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.errors == seen.blocked == []
    seen.close()


def test_the_widgets_speak_korean_on_a_korean_page(visit: Open) -> None:
    page = visit(CHAPTER_3, korean=True).page
    assert "소프트맥스는 얼마나 뾰족한가요?" in page.locator(".sharpness").inner_text()
    assert "예측" in page.locator(".ask-predict").first.inner_text()
    assert page.locator(".sharpness").get_attribute("lang") == "ko"


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
