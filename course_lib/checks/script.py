"""A stand-in for a model, for the exercise that asks one word after word."""

import copy
import operator
import random

import torch
from torch import Tensor

from .language import translate as _

PATIENCE = 200  # calls: three for each word of the longest case
SHOWN = 8  # words written out in a message


class Script:
    """A model that has learnt one sentence by heart: `Script(...)(prefix) -> (V,)`.

    Asked with the beginning of its sentence, bos first, it likes the next word best.
    Asked with anything else it answers as well, with numbers made of that prefix, so
    that a decoder that forgets a word, or bos, comes to other words.

    Args:
        says: The sentence, without bos; words after an eos are never reached.
        bos: What every prefix begins with.
        size: The number of words in the vocabulary, V.
        ties: Whether every later word is liked as much as the next one.
        negative: Whether every logit lies below 0.

    Raises:
        ValueError: if a word of the sentence is not in the vocabulary.

    Attributes:
        asked: The prefixes that it was asked with, in this order.
    """

    def __init__(
        self,
        says: tuple[int, ...],
        bos: int,
        size: int,
        *,
        ties: bool = False,
        negative: bool = False,
    ) -> None:
        if not all(0 <= word < size for word in says):
            raise ValueError(f"words must be 0 to {size - 1}, got {says}")
        self.says, self.bos, self.size = says, bos, size
        self.ties, self.negative = ties, negative
        self.asked: list[tuple[int, ...]] = []

    def fresh(self) -> "Script":
        """The same script, which has not been asked anything."""
        twin = copy.copy(self)
        twin.asked = []
        return twin

    def __call__(self, prefix: list[int]) -> Tensor:
        """Give a logit to every word that could come next, (V,).

        Raises:
            TypeError: if the prefix is no list of whole numbers.
            RuntimeError: if it is asked without end.
        """
        if not isinstance(prefix, list | tuple):
            said = _(
                "next_logits takes a list of whole numbers, and was given a {kind}"
            )
            raise TypeError(said.format(kind=type(prefix).__name__))
        try:
            words = tuple(map(operator.index, prefix))
        except TypeError:
            said = _(
                "next_logits takes a list of whole numbers, and was given {prefix}"
            )
            raise TypeError(said.format(prefix=prefix)) from None
        self.asked.append(words)
        if len(self.asked) > PATIENCE:
            said = _("next_logits was asked {count} times: does the loop ever end?")
            raise RuntimeError(said.format(count=PATIENCE))
        return torch.tensor(self._logits(words), dtype=torch.float32, device="cpu")

    def _logits(self, words: tuple[int, ...]) -> list[float]:
        dice = random.Random(str((words, self.says)))
        logits = [dice.uniform(-1.0, 1.0) for _ in range(self.size)]
        place = len(words) - 1  # of the word that comes next
        if words == (self.bos, *self.says[:place]) and place < len(self.says):
            best, word = max(logits) + 0.5, self.says[place]
            logits[word:] = [best] * len(logits[word:]) if self.ties else logits[word:]
            logits[word] = best
        return [each - 2.0 * self.negative for each in logits]

    def __str__(self) -> str:
        words = ", ".join(map(str, self.says[:SHOWN]))
        if len(self.says) > SHOWN:
            words += ", …"
        if self.ties:
            return _("a script that says {words}, with ties").format(words=words)
        if self.negative:
            said = _("a script that says {words}, with logits below 0")
            return said.format(words=words)
        return _("a script that says {words}").format(words=words)

    __repr__ = __str__
