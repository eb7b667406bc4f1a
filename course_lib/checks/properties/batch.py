"""Sentences and tokens that must not influence each other."""

from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original, raised


def alone_in_the_batch(arguments: int) -> Property:
    """Sentence 1 alone gives what it gave in the batch."""
    name = "sentence 1 alone"

    def cases(first: Case) -> list[Case]:
        parts = {i: first.arguments[i][1:2].clone() for i in range(arguments)}
        return [exchange(first, name, parts)]

    def test(records: Records) -> str:
        whole, alone = original(records)[1], records[name][1]
        for mine, part in zip(whole.results, alone.results, strict=True):
            if not close(mine[1:2], part):
                return _(
                    "Sentence 1 gives another result alone than in its batch: "
                    "sentences must not influence each other."
                )
        return ""

    return Property("batch independence", test, cases)


def token_by_token() -> Property:
    """A token's results depend on this token only."""
    name = "the last token changed"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: raised(first.arguments[0], 1, -1)})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results, records[name][1].results
        for mine, changed in zip(before, after, strict=True):
            if not close(mine[:, :-1], changed[:, :-1]):
                return _(
                    "A token's result changed when only another token was changed."
                )
        return ""

    return Property("token by token", test, cases)


def tokens_stay_apart() -> Property:
    """What is cut from one token stays at that token's place."""
    name = "the last token changed"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: raised(first.arguments[0], 1, -1)})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before[:, :, :-1], after[:, :, :-1]):
            return _("Pieces of the last token stand at the place of another token.")
        return ""

    return Property("tokens stay apart", test, cases)


def tokens_in_any_order() -> Property:
    """Without a mask, shuffled tokens give shuffled outputs."""
    name = "tokens turned round"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: first.arguments[0].flip(1)})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if not close(before.flip(1), after):
            return _(
                "Tokens in another order should give the same outputs in that order, "
                "and do not."
            )
        return ""

    return Property("permutation", test, cases)
