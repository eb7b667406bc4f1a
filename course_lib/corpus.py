"""Korean-English sentence pairs with gold alignments and antecedents.

planner.py plans the sentences, grammar.py puts them into words and writing.py into
text. Every sentence has exactly one translation, and we know which words belong
together and whom each pronoun means.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Int
from torch import Tensor

from course_lib import grammar
from course_lib.grammar import Word, particle
from course_lib.planner import Planner
from course_lib.writing import attach, check_language, text, tokenize

__all__ = [
    "BOS", "EOS", "PAD", "UNK", "Batch", "Pair", "Vocabulary", "attach", "batches",
    "generate", "particle", "split", "text", "tokenize", "vocabulary",
]  # fmt: skip

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SHORTEST, LONGEST = 4, 26  # Korean tokens in a sentence, the full stop included
MOST_CLAUSES = 4

Item = TypeVar("Item")


@dataclass(frozen=True)
class Pair:
    """One sentence in two languages, with its gold alignment and antecedents.

    Args:
        korean: the Korean tokens; particles are tokens of their own.
        english: the English tokens, in lower case.
        alignment: pairs (index in korean, index in english) of words that translate
            each other; case particles and some articles have no counterpart.
        antecedents: pairs (pronoun, noun) of indices in english; a "they" that means
            two nouns has a pair for each.
        dropped: pairs (verb, noun) of indices in korean: the verb has no subject
            because it is the noun named earlier; again one pair for each noun.
    """

    korean: tuple[str, ...]
    english: tuple[str, ...]
    alignment: frozenset[tuple[int, int]]
    antecedents: tuple[tuple[int, int], ...]
    dropped: tuple[tuple[int, int], ...]


def _pair(clauses: list[tuple[list[Word], list[Word]]]) -> Pair:
    """Put clauses together and read the gold answers off the words."""
    korean: list[Word] = []
    english: list[Word] = []
    alignment: list[tuple[int, int]] = []
    for number, (korean_words, english_words) in enumerate(clauses, start=1):
        if number < len(clauses):
            korean_words, english_words = grammar.joined(korean_words, english_words)
        alignment += [
            (i, j)
            for i, korean_word in enumerate(korean_words, len(korean))
            if korean_word.link
            for j, english_word in enumerate(english_words, len(english))
            if korean_word.link == english_word.link
        ]
        korean += korean_words
        english += english_words
    alignment.append((len(korean), len(english)))
    korean.append(Word("."))
    english.append(Word("."))
    return Pair(
        tuple(word.text for word in korean),
        tuple(word.text for word in english),
        frozenset(alignment),
        _antecedents(english),
        _antecedents(korean),
    )


def _antecedents(words: list[Word]) -> tuple[tuple[int, int], ...]:
    """Pairs (word, noun) of indices: the word stands for the noun."""
    introduced = {word.introduces: i for i, word in enumerate(words) if word.introduces}
    return tuple(
        (i, introduced[noun]) for i, word in enumerate(words) for noun in word.means
    )


def generate(
    count: int = 60_000,
    seed: int = 0,
    *,
    min_length: int | None = None,
    max_length: int | None = None,
) -> list[Pair]:
    """Write distinct sentence pairs; the same seed gives the same pairs anywhere.

    Args:
        count: how many pairs, at least 1.
        seed: the start of the random numbers.
        min_length: the fewest Korean tokens, the full stop included; None means 4.
        max_length: the most Korean tokens; None means 26.

    Raises:
        ValueError: if the grammar does not have so many sentences of these lengths.
    """
    shortest = SHORTEST if min_length is None else max(min_length, SHORTEST)
    longest = LONGEST if max_length is None else min(max_length, LONGEST)
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    if shortest > longest:
        raise ValueError(
            f"no sentence has {min_length} to {max_length} Korean tokens: "
            f"the grammar writes {SHORTEST} to {LONGEST}"
        )
    random = Random(seed)
    pairs: dict[tuple[str, ...], Pair] = {}
    misses = 0
    while len(pairs) < count:
        enough = shortest + int(random.random() * (longest - shortest + 1))
        planner = Planner(random, detail=random.random() * enough / LONGEST)
        korean: list[list[Word]] = []
        length = 1  # the full stop
        while length < enough and len(korean) < MOST_CLAUSES:
            planner.add_clause()
            korean.append(grammar.korean(planner.clauses[-1]))
            length += len(korean[-1])
        misses += 1
        if shortest <= length <= longest:
            english = [grammar.english(clause) for clause in planner.clauses]
            pair = _pair(list(zip(korean, english, strict=True)))
            if pair.korean not in pairs:
                pairs[pair.korean] = pair
                misses = 0
        if misses == 20_000:
            raise ValueError(
                f"count is {count}, but only {len(pairs)} different sentences of "
                f"{shortest} to {longest} Korean tokens were found"
            )
    return list(pairs.values())


def split(
    pairs: Sequence[Pair], held_out: int, seed: int = 0
) -> tuple[list[Pair], list[Pair]]:
    """Deal the pairs out at random: those to train on, and held_out to test with.

    Args:
        pairs: distinct sentence pairs.
        held_out: how many pairs to keep for testing.
        seed: the start of the random numbers.

    Raises:
        ValueError: if held_out leaves nothing on one side, or a sentence occurs twice.
    """
    if not 0 < held_out < len(pairs):
        raise ValueError(
            f"held_out must be between 1 and {len(pairs) - 1} for {len(pairs)} pairs, "
            f"not {held_out}"
        )
    distinct = len({pair.korean for pair in pairs})
    if distinct < len(pairs):
        raise ValueError(f"only {distinct} of the {len(pairs)} sentences are distinct")
    shuffled = _shuffled(pairs, Random(seed))
    return shuffled[held_out:], shuffled[:held_out]


def _shuffled(items: Sequence[Item], random: Random) -> list[Item]:
    return sorted(items, key=lambda _: random.random())


class Vocabulary:
    """A numbered list of words: 0 to 3 are pad, bos, eos and unk, then the tokens.

    Args:
        tokens: the words, in the order of their numbers.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *tokens]
        self.ids = {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The numbers of the tokens; UNK for a token that is not in the list."""
        return [self.ids.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of the numbers, up to the first EOS, without PAD and BOS."""
        tokens: list[str] = []
        for number in map(int, ids):
            if number == EOS:
                break
            if number not in (PAD, BOS):
                tokens.append(self.tokens[number])
        return tokens


def vocabulary(pairs: Iterable[Pair] | None, language: str) -> Vocabulary:
    """Number the words of a language, in the order of the grammar.

    Args:
        pairs: number only the words of these pairs; None numbers the whole grammar.
        language: "korean" or "english".
    """
    check_language(language)
    words = grammar.words(language)
    if pairs is not None:
        used = {token for pair in pairs for token in getattr(pair, language)}
        words = [word for word in words if word in used]
    return Vocabulary(words)


class Batch(NamedTuple):
    """Token numbers of some pairs, padded on the right with PAD.

    Args:
        source: the sentences to translate.
        target: their translations, each with EOS at its end and no BOS.
    """

    source: Int[Tensor, "B S"]
    target: Int[Tensor, "B T"]


def batches(
    pairs: Sequence[Pair],
    batch_size: int,
    *,
    source: str = "korean",
    seed: int | None = None,
    device: torch.device | str | None = None,
) -> Iterator[Batch]:
    """Number the pairs and hand them out in batches, every pair once.

    Args:
        pairs: the sentence pairs.
        batch_size: pairs in a batch; the last one may be smaller.
        source: the language to translate from, "korean" or "english".
        seed: None keeps the order of the pairs; a number mixes them, with sentences
            of about the same length in a batch, so that there is little padding.
        device: where the tensors are made.
    """
    check_language(source)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    target = "english" if source == "korean" else "korean"
    source_words, target_words = vocabulary(None, source), vocabulary(None, target)
    ordered = list(pairs)
    random = Random(seed)
    if seed is not None:
        ordered = _shuffled(ordered, random)
        ordered.sort(key=lambda pair: len(getattr(pair, source)))
    groups = [
        ordered[start : start + batch_size]
        for start in range(0, len(ordered), batch_size)
    ]
    if seed is not None:
        groups = _shuffled(groups, random)
    for group in groups:
        yield Batch(
            _padded([source_words.encode(getattr(p, source)) for p in group], device),
            _padded(
                [[*target_words.encode(getattr(p, target)), EOS] for p in group], device
            ),
        )


def _padded(
    rows: list[list[int]], device: torch.device | str | None
) -> Int[Tensor, "B T"]:
    longest = max(len(row) for row in rows)
    padded = [row + [PAD] * (longest - len(row)) for row in rows]
    return torch.tensor(padded, device=device)  # (B, T)
