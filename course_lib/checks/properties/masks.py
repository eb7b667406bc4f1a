"""What a mask is, and what it hides."""

from typing import Any

import torch

from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original, raised


def rows_of_a_padding_mask() -> Property:
    """Row b has as many True as sentence b has tokens."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            counts = outcome.results[0].sum(dim=-1)
            lengths = case.arguments[0].cpu()
            if not torch.equal(counts, lengths):
                return _(
                    "For lengths {lengths} the rows should have as many True, and have "
                    "{counts}."
                ).format(lengths=lengths.tolist(), counts=counts.tolist())
        return ""

    return Property("rows of a padding mask", test)


def rows_of_a_causal_mask() -> Property:
    """Row i has i + 1 True, the last of them on the diagonal."""

    def test(records: Records) -> str:
        for __, outcome in records.values():
            mask = outcome.results[0]
            if bool(mask.triu(1).any()):
                row, column = mask.triu(1).nonzero()[0].tolist()
                return _("Row {row} sees column {column}, which comes later.").format(
                    row=row, column=column
                )
            if not bool(mask.diagonal().all()):
                row = int((~mask.diagonal()).nonzero()[0])
                return _("Row {row} does not see itself.").format(row=row)
            hidden = ~mask & torch.ones_like(mask).tril()
            if bool(hidden.any()):
                row, column = hidden.nonzero()[0].tolist()
                return _(
                    "Row {row} does not see column {column}, which stands before."
                ).format(row=row, column=column)
        return ""

    return Property("rows of a causal mask", test)


def empty_rows_are_zero() -> Property:
    """A row that sees nothing gives zeros, in output and weights."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            output, weights = outcome.results
            empty = ~case.arguments[3].cpu().any(dim=-1).expand(weights.shape[:-1])
            for name, result in (("output", output), ("weights", weights)):
                rows = result[empty]
                if not bool((rows == 0).all()):
                    return _(
                        "A query with nothing to attend to should give zeros, and its "
                        "{result} hold {number:.3g}."
                    ).format(result=name, number=float(rows[rows != 0].flatten()[0]))
        return ""

    return Property("an empty row is zero", test)


def hidden_weigh_nothing() -> Property:
    """Hidden keys weigh exactly 0."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            weights = outcome.results[1]
            hidden = weights[~case.arguments[3].cpu().expand(weights.shape)]
            if bool((hidden != 0).any()):
                return _(
                    "A hidden key should weigh 0, and one weighs {weight:.3g}."
                ).format(weight=float(hidden.abs().max()))
        return ""

    return Property("hidden keys weigh nothing", test)


def hidden_content_ignored() -> Property:
    """What a hidden key and its value hold does not matter."""
    name = "the last key and value changed"

    def cases(first: Case) -> list[Case]:
        changes = {i: raised(first.arguments[i], -2, -1) for i in (1, 2)}
        return [exchange(first, name, changes)]

    def test(records: Records) -> str:
        case, outcome = original(records)
        before, after = outcome.results[0], records[name][1].results[0]
        sees = case.arguments[3].cpu()[..., -1].expand(before.shape[:-1])
        if not close(before[~sees], after[~sees]):
            return _(
                "The output changed when only a hidden key and value were changed."
            )
        moved = (before - after).abs().amax(dim=-1)
        if bool((moved[sees] < 1e-7).any()):
            return _("The output did not change when a visible key and value did.")
        return ""

    return Property("hidden content is ignored", test, cases)


def more_padding_changes_nothing() -> Property:
    """Two more keys, hidden, change nothing."""
    name = "two hidden keys more"

    def cases(first: Case) -> list[Case]:
        changes: dict[int, Any] = {}
        for i in (1, 2):
            part = first.arguments[i]
            changes[i] = torch.cat([part, part[..., :2, :] + 1], dim=-2)
        mask = first.arguments[3]
        nothing = torch.zeros_like(mask[..., :2])
        changes[3] = torch.cat([mask, nothing], dim=-1)
        return [exchange(first, name, changes)]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before, after):
            return _("The output changed when two hidden keys were added.")
        return ""

    return Property("padding invariance", test, cases)
