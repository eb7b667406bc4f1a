"""What every right answer of chapter 9 has, beside its numbers."""

import math

import torch
from torch import Tensor

from ..call import Outcome
from ..cases import Case
from ..language import translate as _
from ..verdict import Property, Records
from .common import close, exchange, original


def labels_never_seen() -> Property:
    """What the decoder reads at one place says nothing about the words from there on.

    Each further case changes the target from one place on.
    """

    def name(place: int) -> str:
        return f"other words from place {place} on"

    def cases(first: Case) -> list[Case]:
        target = first.arguments[0]
        found = []
        for place in range(target.shape[1]):
            changed = target.clone()
            changed[:, place:] += 1
            found.append(exchange(first, name(place), {0: changed}))
        return found

    def test(records: Records) -> str:
        before = original(records)[1].results[0]
        for place in range(before.shape[1]):
            after = records[name(place)][1].results[0]
            if not torch.equal(before[:, : place + 1], after[:, : place + 1]):
                return _(
                    "The decoder's input at place {place} changes with the label that "
                    "is to be written there, or with a later one: the model sees its "
                    "answer."
                ).format(place=place)
        return ""

    return Property("the labels are never seen", test, cases)


def labels_come_one_later() -> Property:
    """The decoder reads at each place what it should have written just before."""

    def test(records: Records) -> str:
        for __, outcome in records.values():
            read, labels = outcome.results
            if not torch.equal(read[:, 1:], labels[:, :-1]):
                return _(
                    "From its second place on, decoder_input should be labels[:, :-1], "
                    "and is not: what is read at one place was to be written at the "
                    "place before."
                )
        return ""

    return Property("one place later", test)


def _padding(case: Case) -> Tensor:
    """Where the labels are padding, (B, T)."""
    __, labels, pad = case.arguments
    padding: Tensor = labels == pad
    return padding


def padded_places_ignored() -> Property:
    """Other logits at padding give the same loss."""
    name = "other logits at padding"

    def cases(first: Case) -> list[Case]:
        logits = first.arguments[0].clone()
        logits[..., 0] += 3.0 * _padding(first)
        return [exchange(first, name, {0: logits})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if close(before, after):
            return ""
        return _("Changing the logits of a padded place changed the loss.")

    return Property("padded places are ignored", test, cases)


def padding_never_counts() -> Property:
    """More padding gives the same loss."""
    name = "two more places of padding"

    def cases(first: Case) -> list[Case]:
        logits, labels, pad = first.arguments
        more = {
            0: torch.cat([logits, logits[:, :2]], dim=1),
            1: torch.cat([labels, torch.full_like(labels[:, :2], pad)], dim=1),
        }
        return [exchange(first, name, more)]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if close(before, after):
            return ""
        return _("More padding changed the loss.")

    return Property("padding never counts", test, cases)


def every_real_word_counts_the_same() -> Property:
    """The loss of a batch is the mean over its words, whichever sentence has them."""

    def name(row: int) -> str:
        return f"sentence {row} alone"

    def cases(first: Case) -> list[Case]:
        logits, labels, __ = first.arguments
        return [
            exchange(first, name(b), {0: logits[b : b + 1], 1: labels[b : b + 1]})
            for b in range(len(labels))
        ]

    def test(records: Records) -> str:
        case, outcome = original(records)
        real = (~_padding(case)).sum(dim=1).tolist()
        alone = [records[name(b)][1].results[0].double() for b in range(len(real))]
        mean = sum(n * loss for n, loss in zip(real, alone, strict=True)) / sum(real)
        if close(outcome.results[0], mean):
            return ""
        return _(
            "The losses of the sentences, each weighted by its number of real words, "
            "should make the loss of the batch, and do not."
        )

    return Property("every real word counts the same", test, cases)


def a_constant_changes_nothing() -> Property:
    """A number added to all logits of a place gives the same loss."""
    name = "all logits 5 higher"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {0: first.arguments[0] + 5.0})]

    def test(records: Records) -> str:
        before, after = original(records)[1].results[0], records[name][1].results[0]
        if close(before, after):
            return ""
        return _(
            "Adding 5 to all logits changed the loss: only their differences count, as "
            "in every softmax."
        )

    return Property("a constant changes nothing", test, cases)


def _rate(records: Records, name: str) -> float:
    """The rate of one case."""
    return float(records[name][1].results[0])


def highest_at_the_end_of_the_warm_up() -> Property:
    """The rate is highest at step = warmup."""
    names = ("one step before the peak", "at the peak", "one step after the peak")

    def cases(first: Case) -> list[Case]:
        warmup = first.arguments[2]
        steps = zip(names, (warmup - 1, warmup, warmup + 1), strict=True)
        return [exchange(first, name, {0: step}) for name, step in steps]

    def test(records: Records) -> str:
        before, peak, after = (_rate(records, name) for name in names)
        if before < peak > after:
            return ""
        return _("The rate should be highest at step = warmup, and is not.")

    return Property("highest at the end of the warm-up", test, cases)


def climbs_evenly() -> Property:
    """Twice the step, twice the rate, and never 0."""
    names = ("at step 1", "at step 2", "at step 4")

    def cases(first: Case) -> list[Case]:
        steps = zip(names, (1, 2, 4), strict=True)
        return [exchange(first, name, {0: step}) for name, step in steps]

    def test(records: Records) -> str:
        one, two, four = (_rate(records, name) for name in names)
        if one == 0:
            return _("The first update has the rate 0: its batch is thrown away.")
        pairs = ((one, two), (two, four))
        if all(math.isclose(2 * low, high, rel_tol=1e-4) for low, high in pairs):
            return ""
        return _(
            "During the warm-up, twice the step should give twice the rate, and does "
            "not."
        )

    return Property("climbs evenly", test, cases)


def wider_means_smaller() -> Property:
    """Four times the width, half the rate."""
    name = "four times as wide"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {1: 4 * first.arguments[1]})]

    def test(records: Records) -> str:
        narrow = float(original(records)[1].results[0])
        if math.isclose(narrow, 2 * _rate(records, name), rel_tol=1e-4):
            return ""
        return _("Four times the width should give half the rate, and does not.")

    return Property("wider means smaller", test, cases)


def _tokens(outcome: Outcome) -> tuple[int, ...]:
    """The words of a result."""
    return tuple(int(token) for token in outcome.results)


def asked_with_the_whole_prefix() -> Property:
    """The model is asked with bos and with all that it has said."""

    def test(records: Records) -> str:
        for case, outcome in records.values():
            heard = (case.arguments[1], *_tokens(outcome))
            for prefix in outcome.asked:
                if prefix != heard[: len(prefix)] or not prefix:
                    return _(
                        "Once next_logits was asked with {prefix}, where the words so "
                        "far, with bos first, are {heard}."
                    ).format(prefix=list(prefix), heard=list(heard))
        return ""

    return Property("asked with the whole prefix", test)


def same_every_time() -> Property:
    """Two calls give one sentence: nothing is drawn."""

    def test(records: Records) -> str:
        case, outcome = original(records)
        if _tokens(outcome) == _tokens(records[f"{case.name}, again"][1]):
            return ""
        return _(
            "Two calls with the same script gave two sentences. Greedy decoding takes "
            "the largest logit; it draws nothing, and it keeps nothing from call to "
            "call."
        )

    return Property("the same every time", test)


def a_larger_bound_only_adds() -> Property:
    """A sentence that may be longer begins in the same way."""
    name = "a smaller bound"

    def cases(first: Case) -> list[Case]:
        return [exchange(first, name, {3: first.arguments[3] - 4})]

    def test(records: Records) -> str:
        long, short = _tokens(original(records)[1]), _tokens(records[name][1])
        if long[: len(short)] == short:
            return ""
        return _(
            "A smaller max_len should cut the sentence, and gives another one instead."
        )

    return Property("a larger bound only adds", test, cases)
