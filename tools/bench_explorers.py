"""Print how long the explorers take from an input to its repaint, in Chromium.

Each control of each explorer is worked twenty times on a page of its own; the frame
after the input is waited for. Shown are the milliseconds of the script and of the
whole, median and worst. The whole contains the wait for the next frame, one every
1/60 second: a script of less than 16 misses none.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "site"))

from conftest import CHROMIUM_FLAGS, chromium_path
from ways import WAYS
from widget_page import write_page

from course_lib import widgets

MEASURE = """async () => {
  const found = {};
  const time = async (name, act) => {
    const times = [];
    for (let i = 0; i < 20; i += 1) {
      await new Promise(requestAnimationFrame);
      const start = performance.now();
      act(i);
      const script = performance.now() - start;
      await new Promise((done) => {
        const channel = new MessageChannel(); // heard once the frame is painted
        channel.port1.onmessage = done;
        requestAnimationFrame(() => channel.port2.postMessage(0));
      });
      times.push([script, performance.now() - start]);
    }
    found[name] = times;
  };
  const fire = (node, type) => node.dispatchEvent(new Event(type, { bubbles: true }));
  const box = document.querySelector(".explorer");
  for (const input of box.querySelectorAll("input[type=range]")) {
    await time(input.labels[0].textContent, (i) => {
      input.value = i % 2 ? input.max : input.min;
      fire(input, "input");
    });
  }
  const cells = [...box.querySelectorAll(".co-cell")];
  if (cells.length) await time("cells", (i) => cells[i % cells.length].click());
  const radios = [...box.querySelectorAll("input[type=radio]")];
  if (radios.length) await time("choices", (i) => radios[i % radios.length].click());
  for (const handle of box.querySelectorAll(".co-handle")) {
    await time(handle.getAttribute("aria-label"), (i) => handle.dispatchEvent(
      new KeyboardEvent("keydown", { key: i % 2 ? "ArrowLeft" : "ArrowRight" })));
  }
  return found;
}"""


def main() -> None:
    """Measure every explorer and print a line for each control."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = chromium_path(playwright)
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        print("ms: script, then to the repaint       median   worst   median   worst")
        for name in WAYS:
            page = browser.new_page(reduced_motion="reduce")
            page.goto(write_page(Path(folder), getattr(widgets, name)()).as_uri())
            page.wait_for_selector("[data-ready]")
            for control, times in page.evaluate(MEASURE).items():
                print(f"{name:14}{control[:22]:24}", end="")
                for column in zip(*times, strict=True):
                    print(f"{statistics.median(column):9.1f}{max(column):8.1f}", end="")
                print()
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
