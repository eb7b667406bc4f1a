"""What a check says: a report, and the notes that hints and solutions come in."""

import re
from dataclasses import dataclass
from html import escape
from typing import Literal

from .buttons import view
from .language import mark as N_
from .language import spoken
from .language import translate as _

Status = Literal["passed", "wrong", "not_attempted", "error", "timed_out"]

# Icon, words and colour of each status. The colours are mid-tones that stand out
# on white and on black; the words and the icon say the same without colour.
LOOKS: dict[Status, tuple[str, str, str]] = {
    "passed": ("✓", N_("Passed"), "#23906f"),
    "wrong": ("✗", N_("Not yet"), "#d4573f"),
    "not_attempted": ("○", N_("Not attempted yet"), "#7d858d"),
    "error": ("!", N_("Your code stopped with an error"), "#d4573f"),
    "timed_out": ("…", N_("Given up"), "#c07a1c"),
}

# The ladder that an answer climbs.
RUNGS = (N_("shape"), N_("small numbers"), N_("random numbers"), N_("properties"))
STEPS = {True: ("✓", N_("passed")), False: ("✗", N_("failed")), None: ("–", "-")}

BOX = (
    "border:1px solid {colour};border-left-width:6px;border-radius:6px;"
    "padding:.6rem .9rem;margin:.6rem 0;max-width:44rem;color:inherit;"
    "background:transparent;overflow-wrap:anywhere"
)
PRE = (
    "margin:.4rem 0;padding:0;border:0;white-space:pre-wrap;line-height:1.4;"
    "background:transparent;color:inherit"
)


def prose(text: str) -> str:
    """Text as HTML; what stands between backticks is code."""
    return re.sub(r"`(.+?)`", r"<code>\1</code>", escape(text))


@dataclass(frozen=True)
class Report:
    """What a check found out about one answer.

    Args:
        exercise: The id of the exercise.
        status: One of passed, wrong, not_attempted, error, timed_out.
        sentence: What went wrong, in plain words.
        diagnosis: The id of the misconception, `None` if there is no known one.
        example: The smallest input that shows it, with its numbers.
        section: The part of the course that explains it.
        printed: What the answer printed, shortened.
        convention: Whether the answer is right elsewhere, by another convention.
        ladder: The rungs with what became of them: passed, failed, not reached.
    """

    exercise: str
    status: Status
    sentence: str
    diagnosis: str | None = None
    example: str = ""
    section: str = ""
    printed: str = ""
    convention: bool = False
    ladder: tuple[tuple[str, bool | None], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.status == "passed"

    @property
    def message(self) -> str:
        """What went wrong, with the smallest input that shows it."""
        return "\n".join(filter(None, (self.sentence, self.example)))

    def _look(self) -> tuple[str, str, str]:
        if self.convention:
            return "⇄", _("Another convention"), "#c07a1c"
        icon, words, colour = LOOKS[self.status]
        return icon, _(words), colour

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        words = self._look()[1]  # no icon: a Korean Windows console has none
        name = f" [{self.diagnosis}]" if self.diagnosis else ""
        lines = [f"{self.exercise}: {words.lower()}{name}", self.message]
        if self.ladder:
            steps = [f"{_(rung)} {_(STEPS[done][1])}" for rung, done in self.ladder]
            lines.append(", ".join(steps))
        if self.section:
            lines.append(_("Read: {section}").format(section=self.section))
        if self.printed:
            lines += [_("Your code printed:"), self.printed]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        icon, words, colour = self._look()
        head = f'<strong><span aria-hidden="true">{icon}</span> {words}</strong>'
        head += f" · <code>{escape(self.exercise)}</code>"
        if self.diagnosis:
            head += f" · <code>{escape(self.diagnosis)}</code>"
        parts = [head, f"<div>{prose(self.sentence)}</div>"]
        if self.example:
            parts.append(f'<pre style="{PRE}">{escape(self.example)}</pre>')
        if self.section:
            read = _("Read: {section}").format(section=self.section)
            parts.append(f"<div>{escape(read)}</div>")
        if self.printed:
            parts.append(f"<div>{_('Your code printed:')}</div>")
            parts.append(f'<pre style="{PRE}">{escape(self.printed)}</pre>')
        if self.ladder:
            steps = [self._step(rung, done) for rung, done in self.ladder]
            parts.append(f"<div>{' · '.join(steps)}</div>")
        style, inside = BOX.format(colour=colour), "".join(parts)
        lang = "" if spoken() == "en" else f' lang="{spoken()}"'
        box = f'<div class="check-report" role="status"{lang} style="{style}">'
        return f"{box}{inside}</div>"

    @staticmethod
    def _step(rung: str, done: bool | None) -> str:
        """One rung of the ladder: a sign to see, words to hear."""
        sign, word = STEPS[done]
        said = escape(f"{_(rung)}: {_(word) if done is not None else _('not reached')}")
        seen = escape(f"{_(rung)} {sign}")
        return f'<span role="img" aria-label="{said}" title="{said}">{seen}</span>'

    def _ipython_display_(self) -> None:
        """In a running notebook: the box, and buttons for hint and solution below."""
        buttons = view(self)
        if not buttons:
            raise NotImplementedError  # IPython then shows the box, or the text
        from IPython.display import display

        box = {"text/plain": str(self), "text/html": self._repr_html_()}
        display(box, raw=True)
        display(buttons, raw=True)

    def raise_for_failure(self) -> None:
        """Raise `AssertionError(message)` unless the answer passed."""
        if not self.passed:
            raise AssertionError(self.message)


@dataclass(frozen=True)
class Note:
    """A text shown by a notebook as Markdown, and by a terminal as it is."""

    text: str
    markdown: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown


def folded(title: str, markdown: str) -> str:
    """Markdown that shows its title until a reader opens it.

    A notebook that is run as a whole gives no hint and no solution away.
    """
    return f"<details>\n<summary>{title}</summary>\n\n{markdown}\n\n</details>"
