"""What scores, weights and weighted sums have."""

import torch

from ..cases import Case
from ..language import mark as N_
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original, raised


def one_key_one_score() -> Property:
    """A score depends on its own key only."""
    name = "the last key changed"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {1: raised(first.arguments[1], 1, -1)})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before[:, :-1], after[:, :-1]):
            return _("The score of one key changed when only another key was changed.")
        if close(before[:, -1], after[:, -1]):
            return _("A score does not change when its key does.")
        return ""

    return Property("one key, one score", test, cases)


def linear_in_values() -> Property:
    """Twice the values give twice the result."""
    name = "values doubled"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {1: first.arguments[1] * 2})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before * 2, after):
            return _("Twice the values should give twice the result, and do not.")
        return ""

    return Property("linear in the values", test, cases)


def keys_in_any_order(
    which: tuple[int, ...], axis: int, mask: int | None = None
) -> Property:
    """Keys and values turned round together: same output, weights turned round."""
    name = "keys turned round"

    def cases(first: Case) -> list[Case]:
        flipped = {i: first.arguments[i].flip(axis) for i in which}
        if mask is not None:
            flipped[mask] = first.arguments[mask].flip(-1)
        return [exchange(first, name, flipped)]

    def test(records: Records) -> str:
        before, after = original(records)[1].results, records[name][1].results
        if not close(before[0], after[0]):
            return _(
                "The output changed when keys and values were put in another order "
                "together: the order should not matter."
            )
        if len(before) > 1 and not close(before[1].flip(-1), after[1]):
            return _("The weights do not move along with their keys.")
        return ""

    return Property("keys in any order", test, cases)


def rows_sum_to_one() -> Property:
    """Each row of weights sums to 1, or is all zero where nothing is visible."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            sums = outcome.results[1].double().sum(dim=-1)
            want = torch.ones_like(sums)
            if len(case.arguments) > 3:
                mask = case.arguments[3].cpu()
                want = mask.any(dim=-1).expand(sums.shape).double()
            if not close(sums, want):
                worst = (sums - want).abs().flatten().argmax()
                return _(
                    "A row of weights should sum to 1 over the keys, and one of "
                    "yours sums to {total:.3g}."
                ).format(total=float(sums.flatten()[worst]))
        return ""

    return Property("rows sum to 1", test)


def slices_sum_to_one() -> Property:
    """The result sums to 1 along dim."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            dim = case.arguments[1] if len(case.arguments) > 1 else -1
            sums = outcome.results[0].double().sum(dim=dim)
            if not close(sums, torch.ones_like(sums)):
                worst = (sums - 1).abs().flatten().argmax()
                return _(
                    "Along dim = {dim} the weights should sum to 1, and yours sum to "
                    "{total:.3g} somewhere."
                ).format(dim=dim, total=float(sums.flatten()[worst]))
        return ""

    return Property("slices sum to 1", test)


def shift_changes_nothing() -> Property:
    """The same number added to all scores changes no weight."""
    name = "3 added to all scores"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: first.arguments[0] + 3})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before, after):
            return _("The weights changed when 3 was added to every score.")
        return ""

    return Property("a shift changes nothing", test, cases)


def every_key_counts() -> Property:
    """A change of any value changes every output row."""
    names = {0: N_("the first value changed"), -1: N_("the last value changed")}

    def cases(first: Case) -> list[Case]:
        v = first.arguments[2]
        return [exchange(first, n, {2: raised(v, -2, i)}) for i, n in names.items()]

    def test(records: Records) -> str:
        before = original(records)[1].results[0]
        for name in names.values():
            moved = (records[name][1].results[0] - before).abs().amax(dim=-1)
            if bool((moved < 1e-7).any()):
                return _(
                    "With {change}, one query gives the old output: it sees not all."
                ).format(change=_(name))
        return ""

    return Property("reach", test, cases)
