"""What do heads learn to look at? Chapter 6 trains a small reader and measures.

The reader is two layers of attention and nothing else. Some words of a sentence are
hidden, and it guesses them from the others. Then we ask of every head how much of its
weight falls on the word before, on the word after, and so on. Which head does what
changes with the seed, so no head is ever called by its number.
"""

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.corpus import BOS, PAD, UNK, generate, vocabulary
from course_lib.positions import LearnedPositions
from course_lib.training import set_seed, threads

D_MODEL, HEADS, LAYERS = 64, 4, 2
BATCH, STEPS, RATE, HIDDEN = 64, 800, 3e-3, 0.2
SENTENCES, TEST, LONGEST, MAX_LENGTH = 6000, 500, 14, 32
ROLES = ["previous", "next", "itself", "start", "full stop"]


class Reader(nn.Module):
    """Guess the hidden words of a sentence, by attention alone."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, D_MODEL)
        self.positions = LearnedPositions(MAX_LENGTH, D_MODEL)
        for table in (self.embed.weight, self.positions.table):
            nn.init.normal_(table, std=0.5)  # words and places start equally large
        self.norms = nn.ModuleList(nn.LayerNorm(D_MODEL) for _ in range(LAYERS))
        self.layers = nn.ModuleList(
            MultiHeadAttention(D_MODEL, HEADS) for _ in range(LAYERS)
        )
        self.guess = nn.Sequential(
            nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, vocab_size)
        )

    def forward(
        self, tokens: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "B heads T T"]]:
        """Return the logits, and the weights of all heads, layer after layer."""
        mask = (tokens != PAD)[:, None, None, :]  # (B, 1, 1, T)
        x = self.positions(self.embed(tokens))  # (B, T, D)
        maps = []
        for norm, layer in zip(self.norms, self.layers, strict=True):
            output, weights = layer(norm(x), mask=mask, need_weights=True)
            x = x + output  # (B, T, D)
            maps.append(weights)
        return self.guess(x), torch.cat(maps, dim=1)  # (B, T, V), (B, L·H, T, T)


@cache
def sentences(language: str) -> Int[Tensor, "sentences T"]:
    """Sentences of the corpus as numbers, each after a start token, then padding."""
    words = vocabulary(None, language)
    rows = [
        torch.tensor([BOS, *words.encode(getattr(pair, language))])
        for pair in generate(SENTENCES, max_length=LONGEST)
    ]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


@threads(1)
def train(language: str, seed: int = 0, steps: int = STEPS) -> Reader:
    """Train a reader on the sentences that are not held out."""
    set_seed(seed)
    data = sentences(language)[TEST:]
    model = Reader(len(vocabulary(None, language)))
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(steps):
        tokens = data[torch.randint(len(data), (BATCH,))]  # (B, T)
        hidden = (torch.rand(tokens.shape) < HIDDEN) & (tokens > UNK)  # (B, T)
        logits, _ = model(tokens.masked_fill(hidden, UNK))  # (B, T, V)
        loss = F.cross_entropy(logits[hidden], tokens[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def roles(model: Reader, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "heads roles"]:
    """Mean weight of each head on each of ROLES, over all words of all sentences."""
    _, weights = model(tokens)  # (B, heads, T, T)
    queries = tokens > UNK  # (B, T): the words, without start and padding
    return torch.stack(
        [
            (weights * looked[:, None]).sum(dim=-1).transpose(0, 1)[:, queries].mean(-1)
            for looked in _places(tokens)
        ],
        dim=-1,
    )  # (heads, roles)


def _places(tokens: Int[Tensor, "B T"]) -> list[Bool[Tensor, "B T T"]]:
    """Which key each query would look at in each role, query down, key across."""
    batch, length = tokens.shape
    place = torch.arange(length)
    step = (place - place[:, None]).expand(batch, -1, -1)  # (B, T, T), key - query
    start = (tokens == BOS)[:, None].expand_as(step)  # (B, T, T)
    ends = (tokens != PAD).sum(dim=1) - 1  # (B,)
    stop = (place == ends[:, None])[:, None].expand_as(step)  # (B, T, T)
    return [step == -1, step == 1, step == 0, start, stop]


def even_share(tokens: Int[Tensor, "B T"]) -> float:
    """Mean weight on any one token if every head looked everywhere alike."""
    lengths = (tokens != PAD).sum(dim=1)  # (B,)
    words = lengths - 1  # queries in each sentence
    return float((words / lengths).sum() / words.sum())


def run(seed: int = 0, language: str = "english") -> dict[str, Any]:
    """Train one reader; say what its heads look at, before and after."""
    test = sentences(language)[:TEST]
    untrained, trained = train(language, seed, steps=0), train(language, seed)
    return {
        "even": even_share(test),
        "before": roles(untrained, test).tolist(),
        "after": roles(trained, test).tolist(),
    }


def measure() -> dict[str, list[dict[str, Any]]]:
    """Three seeds in each language, rounded."""
    return {
        language: [
            {name: _rounded(value) for name, value in run(seed, language).items()}
            for seed in range(3)
        ]
        for language in ("english", "korean")
    }


def _rounded(value: Any) -> Any:
    """Round every number of nested lists to two decimals."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 2)
