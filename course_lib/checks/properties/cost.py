"""What every right answer of chapter 7 has, beside its numbers."""

import torch
from torch import Tensor

from ..call import Outcome
from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original, raised


def _number(outcome: Outcome) -> int:
    return int(outcome.results[0])


def twice_the_length_four_times_the_work() -> Property:
    """The count grows with the square of the length."""
    name = "twice the length"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: 2 * first.arguments[0]})]

    def test(records: Records) -> str:
        once, twice = _number(original(records)[1]), _number(records[name][1])
        if twice == 4 * once:
            return ""
        return _(
            "Twice the length should cost four times as much, and costs "
            "{factor:.2f} times as much."
        ).format(factor=twice / once if once else 0)

    return Property("the square of the length", test, cases)


def heads_cost_nothing() -> Property:
    """The count does not depend on the number of heads."""
    name = "one head"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {2: 1})]

    def test(records: Records) -> str:
        case, many = original(records)
        one = records[name][1]
        if _number(many) == _number(one):
            return ""
        return _(
            "With {heads} heads the count should be what it is with one head, for "
            "they share the width, and it is {many} instead of {one}."
        ).format(heads=case.arguments[2], many=_number(many), one=_number(one))

    return Property("heads cost nothing", test, cases)


def twice_is_twice(parameters: tuple[str, ...]) -> Property:
    """The result grows in step with every argument."""

    def name(parameter: str) -> str:
        return f"twice the {parameter}"

    def cases(first: Case) -> list[Case]:
        return [
            exchange(first, name(each), {i: 2 * first.arguments[i]})
            for i, each in enumerate(parameters)
        ]

    def test(records: Records) -> str:
        once = _number(original(records)[1])
        for each in parameters:
            if _number(records[name(each)][1]) != 2 * once:
                return _(
                    "Twice the {parameter} should take twice as many bytes, and does "
                    "not."
                ).format(parameter=each)
        return ""

    return Property("twice is twice", test, cases)


def rows_of_a_window() -> Property:
    """Row i has min(i + 1, window) True, the last of them on the diagonal."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            window, mask = case.arguments[1], outcome.results[0]
            for row, sees in enumerate(mask):
                if bool(sees[row + 1 :].any()):
                    return _("Row {row} sees a column that comes later.").format(
                        row=row
                    )
                count, right = int(sees.sum()), min(row + 1, window)
                if count != right:
                    return _(
                        "With a window of {window}, row {row} should see {right} "
                        "columns, and sees {count}."
                    ).format(window=window, row=row, right=right, count=count)
        return ""

    return Property("rows of a window", test)


def any_block_size() -> Property:
    """How the keys are cut changes nothing."""
    names = {1: "blocks of one key", 3: "blocks of three keys", 99: "one block"}

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {3: size}) for size, name in names.items()]

    def test(records: Records) -> str:
        case, outcome = original(records)
        for size, name in names.items():
            if not close(outcome.results[0], records[name][1].results[0]):
                return _(
                    "The output changes with the size of the blocks: with {size} it "
                    "is another one than with {first}."
                ).format(size=size, first=case.arguments[3])
        return ""

    return Property("any block size", test, cases)


def equal_values_come_through() -> Property:
    """When all values are 1, so is the output: weights sum to 1."""
    name = "values of 1"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {2: torch.ones_like(first.arguments[2])})]

    def test(records: Records) -> str:
        output = records[name][1].results[0]
        if close(output, torch.ones_like(output)):
            return ""
        off = output[(output - 1).abs() > 1e-4].flatten()
        return _(
            "When every value is 1, so is every output, for weights sum to 1. One of "
            "yours is {output:.3g}."
        ).format(output=float(off[0]) if len(off) else float("nan"))

    return Property("weights sum to 1", test, cases)


def later_tokens_leave_no_trace() -> Property:
    """The last token changes nothing earlier, and does change its own output."""
    name = "the last token changed"

    def cases(first: Case) -> list[Case]:
        changes = {i: raised(first.arguments[i], 0, -1) for i in range(3)}
        return [exchange(first, name, changes)]

    def test(records: Records) -> str:
        before: Tensor = original(records)[1].results[0]
        after: Tensor = records[name][1].results[0]
        if not close(before[:-1], after[:-1]):
            return _(
                "An earlier output changed when only the last token was changed: the "
                "future leaks."
            )
        if close(before[-1], after[-1]):
            return _("The last token does not change its own output.")
        return ""

    return Property("no future leak", test, cases)


def the_first_token_is_remembered() -> Property:
    """The first value changes every output."""
    name = "the first value changed"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {2: raised(first.arguments[2], 0, 0)})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        moved = (before - after).abs().amax(dim=1)
        still = (moved <= 1e-7).nonzero()
        if len(still) == 0:
            return ""
        return _(
            "Output {place} did not change when the value of the first token did: it "
            "is not seen."
        ).format(place=int(still[0]))

    return Property("reach", test, cases)
