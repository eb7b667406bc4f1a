"""What heads have, merged and all together."""

import torch

from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original, raised


def merge_undoes_split() -> Property:
    """With head h holding h everywhere, each token reads 0…0, 1…1, and so on."""
    name = "head h holds h"

    def cases(first: Case) -> list[Case]:
        x = torch.zeros_like(first.arguments[0])
        for h in range(x.shape[1]):
            x[:, h] = h
        return [exchange(first, name, {0: x})]

    def test(records: Records) -> str:
        token = records[name][1].results[0][0, 0]
        heads, width = original(records)[0].arguments[0].shape[1::2]
        want = torch.arange(heads).repeat_interleave(width)
        if not close(token, want):
            return _(
                "With 0 in all of head 0, 1 in all of head 1, …, token 0 should read "
                "{right}, and reads {mine}."
            ).format(right=want.tolist(), mine=[round(float(n), 2) for n in token])
        return ""

    return Property("merge undoes split", test, cases)


def later_tokens_change_nothing() -> Property:
    """With a causal mask, the last token changes nothing earlier."""
    names = ("causal, as it was", "causal, last token changed")

    def cases(first: Case) -> list[Case]:
        x = first.arguments[0]
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        changed = {0: raised(x, 1, -1), 6: mask}
        return [
            exchange(first, names[0], {6: mask}),
            exchange(first, names[1], changed),
        ]

    def test(records: Records) -> str:
        before, after = (records[name][1].results[0] for name in names)
        if not close(before[:, :-1], after[:, :-1]):
            return _(
                "With a causal mask, an earlier token changed when only the last one "
                "was changed: the future leaks."
            )
        if close(before[:, -1], after[:, -1]):
            return _("The last token does not change its own output.")
        return ""

    return Property("no future leak", test, cases)


def more_tokens_hidden_change_nothing() -> Property:
    """A sentence with two hidden tokens more gives the same on its real tokens."""
    name = "two hidden tokens more"

    def cases(first: Case) -> list[Case]:
        x = first.arguments[0]
        longer = torch.cat([x, x[:, :2] + 1], dim=1)
        mask = torch.arange(longer.shape[1], device="cpu") < x.shape[1]
        return [exchange(first, name, {0: longer, 6: mask[None, None, None]})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before, after[:, : before.shape[1]]):
            return _("The output changed when two hidden tokens were added.")
        return ""

    return Property("padding invariance", test, cases)
