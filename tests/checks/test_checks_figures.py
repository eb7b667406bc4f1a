"""The README states how large the bank behind the checks is: these are its numbers."""

import re
from pathlib import Path

from right_answers import RIGHT
from test_checks_mutants import HARMLESS, mutants

from course_lib import checks

README = Path(__file__).parents[2] / "README.md"
SENTENCE = re.compile(
    r"\*\*(\d+) exercises\*\*, \*\*(\d+) known mistakes\*\*.+?"
    r"\*\*(\d+) right answers\*\*.+?\*\*(\d+) small changes\*\*",
    flags=re.S,
)


def test_the_readme_states_the_figures_of_the_bank() -> None:
    found = SENTENCE.findall(README.read_text(encoding="utf-8"))
    assert len(found) == 1, "the README has one sentence with the figures of the bank"
    refused = [
        what for name in checks.EXERCISES for what, _ in mutants(name)
        if what not in HARMLESS
    ]  # fmt: skip
    counted = (
        len(checks.EXERCISES),
        sum(len(each.misconceptions) for each in checks.EXERCISES.values()),
        sum(len(answers) for answers in RIGHT.values()),
        len(refused),
    )
    stated = tuple(map(int, found[0]))
    assert stated == counted, "exercises, mistakes, right answers, changes refused"
