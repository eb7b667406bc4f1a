"""What every right answer has, beside its numbers.

Each function makes a `Property`: the further calls it needs (copies of the first
case with one thing changed) and a test that compares outcomes. A test gives a
sentence when the property is missing, and "" when it holds.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from .call import Outcome
from .cases import Case
from .verdict import Property, Records

CLOSE = 1e-4


def _close(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape) and torch.allclose(
        a.double(), b.double(), rtol=CLOSE, atol=CLOSE
    )


def _first(records: Records) -> tuple[Case, Outcome]:
    return next(iter(records.values()))


def _with(case: Case, name: str, changes: dict[int, Any]) -> Case:
    """The case under another name with some arguments exchanged."""
    arguments = tuple(changes.get(i, a) for i, a in enumerate(case.arguments))
    return replace(case, name=name, arguments=arguments)


def _raised(tensor: Tensor, axis: int, index: int) -> Tensor:
    """A copy with 1 added at one index of an axis."""
    changed = tensor.clone()
    changed.select(axis, index).add_(1.0)
    return changed


def alone_in_the_batch(arguments: int) -> Property:
    """Sentence 1 alone gives what it gave in the batch."""
    name = "sentence 1 alone"

    def cases(first: Case) -> list[Case]:
        parts = {i: first.arguments[i][1:2].clone() for i in range(arguments)}
        return [_with(first, name, parts)]

    def test(records: Records) -> str:
        whole, alone = _first(records)[1], records[name][1]
        for mine, part in zip(whole.results, alone.results, strict=True):
            if not _close(mine[1:2], part):
                return (
                    "Sentence 1 gives another result alone than in its batch: "
                    "sentences must not influence each other."
                )
        return ""

    return Property("batch independence", test, cases)


def one_key_one_score() -> Property:
    """A score depends on its own key only."""
    name = "the last key changed"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {1: _raised(first.arguments[1], 1, -1)})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before[:, :-1], after[:, :-1]):
            return "The score of one key changed when only another key was changed."
        if _close(before[:, -1], after[:, -1]):
            return "A score does not change when its key does."
        return ""

    return Property("one key, one score", test, cases)


def linear_in_values() -> Property:
    """Twice the values give twice the result."""
    name = "values doubled"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {1: first.arguments[1] * 2})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before * 2, after):
            return "Twice the values should give twice the result, and do not."
        return ""

    return Property("linear in the values", test, cases)


def token_by_token() -> Property:
    """A token's results depend on this token only."""
    name = "the last token changed"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: _raised(first.arguments[0], 1, -1)})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results, records[name][1].results
        for mine, changed in zip(before, after, strict=True):
            if not _close(mine[:, :-1], changed[:, :-1]):
                return "A token's result changed when only another token was changed."
        return ""

    return Property("token by token", test, cases)


def tokens_stay_apart() -> Property:
    """What is cut from one token stays at that token's place."""
    name = "the last token changed"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: _raised(first.arguments[0], 1, -1)})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before[:, :, :-1], after[:, :, :-1]):
            return "Pieces of the last token stand at the place of another token."
        return ""

    return Property("tokens stay apart", test, cases)


def keys_in_any_order(
    which: tuple[int, ...], axis: int, mask: int | None = None
) -> Property:
    """Keys and values turned round together: same output, weights turned round."""
    name = "keys turned round"

    def cases(first: Case) -> list[Case]:
        flipped = {i: first.arguments[i].flip(axis) for i in which}
        if mask is not None:
            flipped[mask] = first.arguments[mask].flip(-1)
        return [_with(first, name, flipped)]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results, records[name][1].results
        if not _close(before[0], after[0]):
            return (
                "The output changed when keys and values were put in another order "
                "together: the order should not matter."
            )
        if len(before) > 1 and not _close(before[1].flip(-1), after[1]):
            return "The weights do not move along with their keys."
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
            if not _close(sums, want):
                worst = (sums - want).abs().flatten().argmax()
                return (
                    "A row of weights should sum to 1 over the keys, and one of "
                    f"yours sums to {float(sums.flatten()[worst]):.3g}."
                )
        return ""

    return Property("rows sum to 1", test)


def slices_sum_to_one() -> Property:
    """The result sums to 1 along dim."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            dim = case.arguments[1] if len(case.arguments) > 1 else -1
            sums = outcome.results[0].double().sum(dim=dim)
            if not _close(sums, torch.ones_like(sums)):
                worst = (sums - 1).abs().flatten().argmax()
                return (
                    f"Along dim = {dim} the weights should sum to 1, and yours sum to "
                    f"{float(sums.flatten()[worst]):.3g} somewhere."
                )
        return ""

    return Property("slices sum to 1", test)


def shift_changes_nothing() -> Property:
    """The same number added to all scores changes no weight."""
    name = "3 added to all scores"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: first.arguments[0] + 3})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before, after):
            return "The weights changed when 3 was added to every score."
        return ""

    return Property("a shift changes nothing", test, cases)


def every_key_counts() -> Property:
    """A change of any value changes every output row."""
    names = {0: "the first value changed", -1: "the last value changed"}

    def cases(first: Case) -> list[Case]:
        v = first.arguments[2]
        return [_with(first, n, {2: _raised(v, -2, i)}) for i, n in names.items()]

    def test(records: Records) -> str:
        before = _first(records)[1].results[0]
        for name in names.values():
            moved = (records[name][1].results[0] - before).abs().amax(dim=-1)
            if bool((moved < 1e-7).any()):
                return f"With {name}, one query gives the old output: it sees not all."
        return ""

    return Property("reach", test, cases)


def empty_rows_are_zero() -> Property:
    """A row that sees nothing gives zeros, in output and weights."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            output, weights = outcome.results
            empty = ~case.arguments[3].cpu().any(dim=-1).expand(weights.shape[:-1])
            for word, result in (("output", output), ("weights", weights)):
                rows = result[empty]
                if not bool((rows == 0).all()):
                    return (
                        "A query with nothing to attend to should give zeros, and its "
                        f"{word} hold {float(rows[rows != 0].flatten()[0]):.3g}."
                    )
        return ""

    return Property("an empty row is zero", test)


def hidden_weigh_nothing() -> Property:
    """Hidden keys weigh exactly 0."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            weights = outcome.results[1]
            hidden = weights[~case.arguments[3].cpu().expand(weights.shape)]
            if bool((hidden != 0).any()):
                some = float(hidden.abs().max())
                return f"A hidden key should weigh 0, and one weighs {some:.3g}."
        return ""

    return Property("hidden keys weigh nothing", test)


def hidden_content_ignored() -> Property:
    """What a hidden key and its value hold does not matter."""
    name = "the last key and value changed"

    def cases(first: Case) -> list[Case]:
        changes = {i: _raised(first.arguments[i], -2, -1) for i in (1, 2)}
        return [_with(first, name, changes)]

    def test(records: Records) -> str:
        case, outcome = _first(records)
        before, after = outcome.results[0], records[name][1].results[0]
        sees = case.arguments[3].cpu()[..., -1].expand(before.shape[:-1])
        if not _close(before[~sees], after[~sees]):
            return "The output changed when only a hidden key and value were changed."
        moved = (before - after).abs().amax(dim=-1)
        if bool((moved[sees] < 1e-7).any()):
            return "The output did not change when a visible key and value did."
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
        return [_with(first, name, changes)]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before, after):
            return "The output changed when two hidden keys were added."
        return ""

    return Property("padding invariance", test, cases)


def rows_of_a_padding_mask() -> Property:
    """Row b has as many True as sentence b has tokens."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            counts = outcome.results[0].sum(dim=-1)
            lengths = case.arguments[0].cpu()
            if not torch.equal(counts, lengths):
                return (
                    f"For lengths {lengths.tolist()} the rows should have as many "
                    f"True, and have {counts.tolist()}."
                )
        return ""

    return Property("rows of a padding mask", test)


def rows_of_a_causal_mask() -> Property:
    """Row i has i + 1 True, the last of them on the diagonal."""

    def test(records: Records) -> str:
        for _, outcome in records.values():
            mask = outcome.results[0]
            if bool(mask.triu(1).any()):
                row, column = mask.triu(1).nonzero()[0].tolist()
                return f"Row {row} sees column {column}, which comes later."
            if not bool(mask.diagonal().all()):
                row = int((~mask.diagonal()).nonzero()[0])
                return f"Row {row} does not see itself."
            hidden = ~mask & torch.ones_like(mask).tril()
            if bool(hidden.any()):
                row, column = hidden.nonzero()[0].tolist()
                return f"Row {row} does not see column {column}, which stands before."
        return ""

    return Property("rows of a causal mask", test)


def bounded_encoding() -> Property:
    """All entries lie between -1 and 1."""

    def test(records: Records) -> str:
        for _, outcome in records.values():
            top = float(outcome.results[0].abs().max())
            if not top <= 1 + 1e-6:
                return f"A sine lies between -1 and 1, and an entry is {top:.3g}."
        return ""

    return Property("bounded", test)


def longer_table_begins_alike() -> Property:
    """A longer table begins with the shorter one."""
    name = "three positions more"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: first.arguments[0] + 3})]

    def test(records: Records) -> str:
        short, long = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(short, long[: len(short)]):
            return "A position's row depends on the length of the table."
        return ""

    return Property("any length", test, cases)


def every_sentence_the_same() -> Property:
    """Tokens of zeros show what was added: alike over the batch, not over time."""
    name = "tokens of zeros"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: torch.zeros_like(first.arguments[0])})]

    def test(records: Records) -> str:
        added = records[name][1].results[0]
        if not _close(added, added[:1].expand_as(added)):
            return "Two sentences get different positions."
        if _close(added, added[:, :1].expand_as(added)):
            return "All tokens of a sentence get the same position."
        return ""

    return Property("positions by token", test, cases)


def rotation() -> Property:
    """Lengths are kept, and two shifts in a row make one."""
    name = "twice the shift"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: 2 * first.arguments[0]})]

    def test(records: Records) -> str:
        once, twice = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(once @ once.T, torch.eye(len(once))):
            return "The matrix changes lengths: it should be a rotation."
        if not _close(once @ once, twice):
            return "Two shifts by k in a row should be the shift by 2k, and are not."
        return ""

    return Property("rotation", test, cases)


def merge_undoes_split() -> Property:
    """With head h holding h everywhere, each token reads 0…0, 1…1, and so on."""
    name = "head h holds h"

    def cases(first: Case) -> list[Case]:
        x = torch.zeros_like(first.arguments[0])
        for h in range(x.shape[1]):
            x[:, h] = h
        return [_with(first, name, {0: x})]

    def test(records: Records) -> str:
        token = records[name][1].results[0][0, 0]
        heads, width = _first(records)[0].arguments[0].shape[1::2]
        want = torch.arange(heads).repeat_interleave(width)
        if not _close(token, want):
            return (
                "With 0 in all of head 0, 1 in all of head 1, …, token 0 should read "
                f"{want.tolist()}, and reads {[round(float(n), 2) for n in token]}."
            )
        return ""

    return Property("merge undoes split", test, cases)


def later_tokens_change_nothing() -> Property:
    """With a causal mask, the last token changes nothing earlier."""
    names = ("causal, as it was", "causal, last token changed")

    def cases(first: Case) -> list[Case]:
        x = first.arguments[0]
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        changed = {0: _raised(x, 1, -1), 6: mask}
        return [_with(first, names[0], {6: mask}), _with(first, names[1], changed)]

    def test(records: Records) -> str:
        before, after = (records[name][1].results[0] for name in names)
        if not _close(before[:, :-1], after[:, :-1]):
            return (
                "With a causal mask, an earlier token changed when only the last one "
                "was changed: the future leaks."
            )
        if _close(before[:, -1], after[:, -1]):
            return "The last token does not change its own output."
        return ""

    return Property("no future leak", test, cases)


def more_tokens_hidden_change_nothing() -> Property:
    """A sentence with two hidden tokens more gives the same on its real tokens."""
    name = "two hidden tokens more"

    def cases(first: Case) -> list[Case]:
        x = first.arguments[0]
        longer = torch.cat([x, x[:, :2] + 1], dim=1)
        mask = torch.arange(longer.shape[1], device="cpu") < x.shape[1]
        return [_with(first, name, {0: longer, 6: mask[None, None, None]})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before, after[:, : before.shape[1]]):
            return "The output changed when two hidden tokens were added."
        return ""

    return Property("padding invariance", test, cases)


def tokens_in_any_order() -> Property:
    """Without a mask, shuffled tokens give shuffled outputs."""
    name = "tokens turned round"

    def cases(first: Case) -> list[Case]:
        return [_with(first, name, {0: first.arguments[0].flip(1)})]

    def test(records: Records) -> str:
        before, after = _first(records)[1].results[0], records[name][1].results[0]
        if not _close(before.flip(1), after):
            return (
                "Tokens in another order should give the same outputs in that order, "
                "and do not."
            )
        return ""

    return Property("permutation", test, cases)
