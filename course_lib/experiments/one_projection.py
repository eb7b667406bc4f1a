"""What breaks when query, key and value share a projection: the party of chapter 2.

Three animals and their three sounds come to a party in any order, each with a card
that shows a digit. Each must name the digit on its partner's card: the cat that of
"meow", and "meow" that of the cat. The partner is found by query and key, the digit
is handed over by the value.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.training import set_seed

ANIMALS = ["puppy", "cat", "cow", "duck", "horse", "bee"]
SOUNDS = ["woof", "meow", "moo", "quack", "neigh", "buzz"]
WORDS = ANIMALS + SOUNDS
DIGITS = 10
COUPLES = 3  # at one party
WIDTH = 32  # of a word vector
SHARED = ["nothing", "query and key", "key and value", "all three"]
STEPS, BATCH, RATE = 500, 128, 0.01


class Party(NamedTuple):
    """Who stands where, with which card, and where its partner stands."""

    words: Int[Tensor, "B T"]
    digits: Int[Tensor, "B T"]
    partner: Int[Tensor, "B T"]


def parties(count: int, generator: torch.Generator) -> Party:
    """Draw parties of three animals and their sounds, in random order."""
    order = torch.rand(count, len(ANIMALS), generator=generator).argsort(dim=1)
    animals = order[:, :COUPLES]  # (B, COUPLES)
    words = torch.cat([animals, animals + len(ANIMALS)], dim=1)  # (B, T)
    order = torch.rand(words.shape, generator=generator).argsort(dim=1)
    words = words.gather(1, order)  # (B, T)
    digits = torch.randint(DIGITS, words.shape, generator=generator)  # (B, T)
    sought = (words + len(ANIMALS)) % len(WORDS)  # (B, T)
    found = sought[:, :, None] == words[:, None, :]  # (B, T, T)
    return Party(words, digits, found.int().argmax(dim=-1))


class Guest(nn.Module):
    """One soft look-up, in which every guest looks at every guest.

    Args:
        d_k: width of queries, keys and values.
        shared: which of the three use one matrix, a word of SHARED.
    """

    def __init__(self, d_k: int, shared: str = "nothing") -> None:
        super().__init__()
        self.word = nn.Embedding(len(WORDS), WIDTH)
        self.digit = nn.Embedding(DIGITS, WIDTH)
        self.to_query = nn.Linear(WIDTH, d_k, bias=False)
        self.to_key = nn.Linear(WIDTH, d_k, bias=False)
        self.to_value = nn.Linear(WIDTH, d_k, bias=False)
        if shared in ("query and key", "all three"):
            self.to_key = self.to_query
        if shared in ("key and value", "all three"):
            self.to_value = self.to_key
        self.name_digit = nn.Linear(d_k, DIGITS)

    def forward(
        self, words: Int[Tensor, "B T"], digits: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T digits"], Float[Tensor, "B T T"]]:
        """Name a digit for every guest; return the weights as well."""
        x = self.word(words) + self.digit(digits)  # (B, T, D)
        query, key, value = self.to_query(x), self.to_key(x), self.to_value(x)
        scores = query @ key.transpose(-2, -1)  # (B, T, T)
        weights = scores.softmax(dim=-1)  # (B, T, T)
        return self.name_digit(weights @ value), weights


def trained(d_k: int, shared: str = "nothing", seed: int = 0) -> Guest:
    """Train a model on parties that are drawn as it goes."""
    set_seed(seed)
    cores = torch.get_num_threads()
    torch.set_num_threads(1)  # for so little work, two cores mostly wait for each other
    generator = torch.Generator().manual_seed(seed)
    model = Guest(d_k, shared)
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    for _ in range(STEPS):
        words, digits, partner = parties(BATCH, generator)
        named, _ = model(words, digits)  # (B, T, digits)
        labels = digits.gather(1, partner)  # (B, T)
        loss = F.cross_entropy(named.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(cores)
    return model


@torch.no_grad()
def judge(model: Guest, count: int = 2000) -> dict[str, float]:
    """Judge a model on new parties.

    Returns:
        "right": share of guests that name the digit of their partner; "mutual": share
        of guests that stand in a couple where both look at each other more than at
        themselves; "itself": share of parties with a guest that looks at itself most.
    """
    words, digits, partner = parties(count, torch.Generator().manual_seed(1000))
    named, weights = model(words, digits)  # (B, T, digits), (B, T, T)
    right = named.argmax(dim=-1) == digits.gather(1, partner)  # (B, T)
    at_partner = weights.gather(2, partner[:, :, None]).squeeze(2)  # (B, T)
    at_itself = weights.diagonal(dim1=1, dim2=2)  # (B, T)
    looks_over = at_partner > at_itself  # (B, T)
    mutual = looks_over & looks_over.gather(1, partner)  # (B, T)
    vain = (at_itself == weights.amax(dim=-1)).any(dim=1)  # (B,)
    return {
        "right": right.float().mean().item(),
        "mutual": mutual.float().mean().item(),
        "itself": vain.float().mean().item(),
    }


def run(seed: int = 0) -> dict[str, dict[str, float]]:
    """Judge vectors of two numbers, with three matrices and with a shared one."""
    return {name: judge(trained(2, name, seed)) for name in SHARED[:2]}


def measure() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Judge every way to share at two widths, three seeds each."""
    results: dict[str, dict[str, dict[str, list[float]]]] = {}
    for d_k in (2, 16):
        for name in SHARED:
            judged = [judge(trained(d_k, name, seed)) for seed in range(3)]
            results.setdefault(f"d_k = {d_k}", {})[name] = {
                key: [round(one[key], 3) for one in judged] for key in judged[0]
            }
    return results
