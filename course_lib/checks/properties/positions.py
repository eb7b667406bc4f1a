"""What an encoding of positions has."""

import torch

from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original


def bounded_encoding() -> Property:
    """All entries lie between -1 and 1."""

    def test(records: Records) -> str:
        for __, outcome in records.values():
            top = float(outcome.results[0].abs().max())
            if not top <= 1 + 1e-6:
                return _(
                    "A sine lies between -1 and 1, and an entry is {entry:.6g}."
                ).format(entry=top)
        return ""

    return Property("bounded", test)


def longer_table_begins_alike() -> Property:
    """A longer table begins with the shorter one."""
    name = "three positions more"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: first.arguments[0] + 3})]

    def test(records: Records) -> str:
        short, long = original(records)[1].results[0], records[name][1].results[0]
        if not close(short, long[: len(short)]):
            return _("A position's row depends on the length of the table.")
        return ""

    return Property("any length", test, cases)


def every_sentence_the_same() -> Property:
    """Tokens of zeros show what was added: alike over the batch, not over time."""
    name = "tokens of zeros"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: torch.zeros_like(first.arguments[0])})]

    def test(records: Records) -> str:
        added = records[name][1].results[0]
        if not close(added, added[:1].expand_as(added)):
            return _("Two sentences get different positions.")
        if close(added, added[:, :1].expand_as(added)):
            return _("All tokens of a sentence get the same position.")
        return ""

    return Property("positions by token", test, cases)


def rotation() -> Property:
    """Lengths are kept, and two shifts in a row make one."""
    name = "twice the shift"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: 2 * first.arguments[0]})]

    def test(records: Records) -> str:
        once, twice = original(records)[1].results[0], records[name][1].results[0]
        if not close(once @ once.T, torch.eye(len(once))):
            return _("The matrix changes lengths: it should be a rotation.")
        if not close(once @ once, twice):
            return _("Two shifts by k in a row should be the shift by 2k, and are not.")
        return ""

    return Property("rotation", test, cases)
