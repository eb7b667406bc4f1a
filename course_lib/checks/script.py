"""A stand-in for a model, for the exercise that asks one word after word."""

import copy
import operator
import random

import torch
from torch import Tensor

from .language import mark as N_
from .language import translate as _

PATIENCE = 200  # calls: three for each word of the longest case
SHOWN = 8  # words written out in a message
SHIFTS = {"negative": -2.0, "huge": 1000.0}  # added to every logit
MANNERS = {  # what is special about the logits, and how it is said
    "": N_("a script that says {words}"),
    "ties": N_("a script that says {words}, with ties"),
    "negative": N_("a script that says {words}, with logits below 0"),
    "close": N_("a script that says {words}, with logits in float32 that nearly tie"),
    "double": N_("a script that says {words}, with logits in float64 that nearly tie"),
    "huge": N_("a script that says {words}, with logits of about 1,000"),
}


class Script:
    """A model that has learnt one sentence by heart: `Script(...)(prefix) -> (V,)`.

    Asked with the beginning of its sentence, bos first, it likes the next word best.
    Asked with anything else it answers as well, with numbers made of that prefix, so
    that a decoder that forgets a word, or bos, comes to other words.

    Args:
        says: The sentence, without bos; words after an eos are never reached.
        bos: What every prefix begins with.
        size: The number of words in the vocabulary, V.
        manner: What is special about the logits. "ties": every later word is liked as
            much as the next one; "negative": all lie below 0; "close", "double": the
            word before the next one is liked less by the last bit of float32, by
            1e-9 in float64; "huge": all are about 1,000.

    Raises:
        ValueError: if a word of the sentence is not in the vocabulary.
        KeyError: if the manner is not known.

    Attributes:
        asked: The prefixes that it was asked with, in this order.
    """

    def __init__(
        self,
        says: tuple[int, ...],
        bos: int,
        size: int,
        manner: str = "",
    ) -> None:
        if not all(0 <= word < size for word in says):
            raise ValueError(f"words must be 0 to {size - 1}, got {says}")
        self.says, self.bos, self.size = says, bos, size
        self.manner, self.sentence = manner, MANNERS[manner]
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
        return self._logits(words)

    def _logits(self, words: tuple[int, ...]) -> Tensor:
        dice = random.Random(str((words, self.says)))
        numbers = [dice.uniform(-1.0, 1.0) for _ in range(self.size)]
        logits = torch.tensor(numbers, dtype=torch.float64, device="cpu")
        place, word = len(words) - 1, 0  # of the word that comes next; that word
        if words == (self.bos, *self.says[:place]) and place < len(self.says):
            word = self.says[place]
            last = self.size if self.manner == "ties" else word + 1
            logits[word:last] = logits.max() + 0.5
        if self.manner == "double":
            logits[word - 1] = logits[word] - 1e-9 if word else logits[word - 1]
            return logits
        logits = (logits + SHIFTS.get(self.manner, 0.0)).float()
        if self.manner == "close" and word:
            logits /= 64  # near 0 the last bit is lost in a softmax
            logits[word - 1] = torch.nextafter(logits[word], logits.min())
        return logits

    def __str__(self) -> str:
        words = ", ".join(map(str, self.says[:SHOWN]))
        if len(self.says) > SHOWN:
            words += ", …"
        return _(self.sentence).format(words=words)

    __repr__ = __str__
