"""The last exercise of chapter 9: how a trained decoder writes."""

from collections.abc import Callable

from torch import Tensor

from . import solutions
from .cases import Case, Draw
from .exercise import Exercise
from .language import mark as N_
from .mistakes import greedy_decode as greedy_decode_mistakes
from .properties.training import (
    a_larger_bound_only_adds,
    asked_with_the_whole_prefix,
    same_every_time,
)
from .script import Script


def greedy_reference(
    next_logits: Callable[[list[int]], Tensor], bos: int, eos: int, max_len: int
) -> list[int]:
    """Look through all logits for the first one that is largest, word after word."""
    prefix = [bos]
    while len(prefix) < 1 + max_len and (len(prefix) == 1 or prefix[-1] != eos):
        logits = next_logits(prefix).tolist()
        best = 0
        for word, logit in enumerate(logits):
            if logit > logits[best]:
                best = word
        prefix = [*prefix, best]
    return prefix[1:]


def greedy_cases(draw: Draw) -> list[Case]:
    """Sentences that end before, at and after the bound; ties; odd numbers."""

    def words(count: int, size: int, eos: int) -> tuple[int, ...]:
        """Any words but eos."""
        others = [word for word in range(size) if word != eos]
        return tuple(others[i] for i in draw.integers(0, len(others), count).tolist())

    def case(
        name: str,
        says: tuple[int, ...],
        numbers: tuple[int, int, int, int],
        manner: str = "",
    ) -> Case:
        size, bos, eos, max_len = numbers
        script = Script(says, bos, size, manner)
        return Case(name, (script, bos, eos, max_len))

    some = words(4, 9, 2)
    return [
        case("ends with eos", (*some, 2, *words(5, 9, 2)), (9, 1, 2, 8)),
        case("cut by max_len", (*words(6, 12, 3), 3), (12, 0, 3, 4)),
        case("eos at once", (2, 4, 5), (6, 1, 2, 3)),
        case("eos as the last word", (3, 4, 2, 5), (7, 1, 2, 3)),
        case("eos one too late", (3, 4, 5, 2), (6, 1, 2, 3)),
        case("one word", (4, 3, 2), (5, 1, 2, 1)),
        case("one word, eos", (2, 3, 2), (5, 1, 2, 1)),
        case("bos in the middle", (4, 1, 3, 2, 5), (6, 1, 2, 6)),
        case("bos first", (1, 1, 4, 2), (6, 1, 2, 6)),
        case("one word again and again", (4, 4, 4, 2), (6, 1, 2, 7)),
        case("eos is 0", (4, 3, 0, 5), (6, 1, 0, 6)),
        case("eos is the last of the words", (3, 0, 5, 8, 4), (9, 7, 8, 6)),
        case("bos is the last of the words", (3, 0, 5, 1, 4), (9, 8, 1, 6)),
        case("bos outside the vocabulary", (3, 0, 2, 1, 4), (5, 11, 1, 6)),
        case("bos is eos too", (4, 3, 1, 5), (6, 1, 1, 6)),
        case("no eos in the vocabulary", (0, 1, 0), (2, 5, 6, 5)),
        case("one word in the vocabulary", (0, 0, 0), (1, 3, 2, 4)),
        case("ties", (4, 0, 3, 2, 1), (6, 1, 2, 6), "ties"),
        case("a tie with eos", (1, 0, 4), (5, 3, 2, 3), "ties"),
        case("a tie at the first word", (0, 0, 3, 4), (5, 1, 3, 6), "ties"),
        case("logits below 0", (*some, 2, 4), (9, 1, 2, 8), "negative"),
        case("nearly a tie", (4, 3, 5, 2, 1), (6, 1, 2, 6), "close"),
        case("nearly a tie in float64", (4, 3, 5, 2, 1), (6, 1, 2, 6), "double"),
        case("logits of 1,000", (4, 3, 5, 2, 1), (6, 1, 2, 6), "huge"),
        case("ends long before the bound", (*some, 2, 4), (9, 1, 2, 500)),
        case("long", (*words(60, 30, 2), 2), (30, 1, 2, 60)),
    ]


greedy_decode = Exercise(
    id="greedy_decode",
    parameters=("next_logits", "bos", "eos", "max_len"),
    results=("tokens",),
    task=N_(
        "Write one word after another, each time the most likely one: next_logits, "
        "which maps a prefix, list[int] with bos first, to logits (V,), and the "
        "numbers bos, eos and max_len to list[int], without bos, with eos when it "
        "comes, at most max_len long. A tie goes to the first word."
    ),
    section=N_("chapter 9, Greedy decoding"),
    difficulty=2,
    minutes=12,
    hints=(
        N_(
            "What does the model read before it has written anything? And before the "
            "second word?"
        ),
        N_(
            "Two things end the loop: eos has been written, or max_len words have. "
            "Which of the two is certain to come?"
        ),
        N_(
            "Keep a list of the words written. The prefix is bos and then that list; "
            "argmax of its logits is the next word, as an int."
        ),
        N_(
            "tokens = []; max_len times: ask with [bos, *tokens], append the argmax, "
            "and break if it is eos; return tokens."
        ),
    ),
    right_answer=solutions.greedy_decode,
    reference=greedy_reference,
    make_cases=greedy_cases,
    properties=(
        asked_with_the_whole_prefix(),
        same_every_time(),
        a_larger_bound_only_adds(),
    ),
    misconceptions=greedy_decode_mistakes.MISTAKES,
    sequence=True,
)
