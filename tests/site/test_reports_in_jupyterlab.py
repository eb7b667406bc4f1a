"""The report of a check in a real JupyterLab: box, buttons, both themes."""

from collections.abc import Iterator

import pytest
from lab_server import Lab, start
from playwright.sync_api import Browser, Page, expect
from site_checks import ROOT

ARTEFACTS = ROOT / "_build" / "artefacts"

WRONG = """from course_lib import checks
checks.softmax.check(lambda x, dim=-1: x.exp() / x.exp().sum(dim, keepdim=True))"""

# Colours as 0-255 numbers: of a text, and of the first ground that is not transparent.
COLOURS = """node => {
  const numbers = (text) => {
    const canvas = document.createElement("canvas").getContext("2d");
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  let ground = node;
  while (ground.parentElement
      && numbers(getComputedStyle(ground).backgroundColor)[3] < 255)
    ground = ground.parentElement;
  return [numbers(getComputedStyle(node).color),
          numbers(getComputedStyle(ground).backgroundColor)];
}"""


@pytest.fixture(scope="module")
def lab(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    yield from start(chromium, tmp_path_factory.mktemp("lab"))


def luminance(colour: list[int]) -> float:
    parts = [part / 255 for part in colour[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page: Page, selector: str) -> float:
    """The contrast of WCAG, the smallest of all that is found."""
    found = []
    for node in page.locator(selector).all():
        first, second = map(luminance, node.evaluate(COLOURS))
        found.append((max(first, second) + 0.05) / (min(first, second) + 0.05))
    return min(found)


def test_hints_and_solution_by_keyboard_in_both_themes(lab: Lab) -> None:
    page = lab.notebook(WRONG)
    output = page.locator(".jp-Cell-outputArea").first
    expect(output.locator(".check-report").first).to_be_visible(timeout=30_000)
    expect(output.locator(".check-report strong").first).to_have_text("✗ Not yet")

    hint = output.get_by_role("button", name="Hint", exact=True)
    hint.focus()
    page.keyboard.press("Space")  # Enter is a command of the notebook
    expect(output).to_contain_text("Hint 1 of")
    page.keyboard.press("Space")
    expect(output).to_contain_text("Hint 2 of")
    page.keyboard.press("Tab")
    expect(output.get_by_role("button", name="Solution", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    expect(output).to_contain_text("def softmax(")

    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(page, theme)
        parts = ".check-report, .check-report code, .check-report pre"
        assert contrast(page, parts) >= 4.5, theme
        assert contrast(page, ".jp-OutputArea .jupyter-button") >= 4.5, theme
        assert contrast(page, ".jp-OutputArea .highlight pre") >= 4.5, theme
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"report-{theme.split()[1].lower()}.png")
    assert lab.errors == []
    page.close()
