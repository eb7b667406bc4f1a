"""What happens beyond the trained length? A task that is nothing but position.

Every token is drawn at random, and each place must name the token before it. One layer
of attention learns that on sentences of 16 tokens, with one way or another of telling
places apart. Then it meets longer ones. "any start" is sinusoidal too, but in training
a sentence may begin at any place, so that every place is met, though no long distance.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
)
from course_lib.training import set_seed

VOCAB, WIDTH = 20, 32
TRAINED = 16  # tokens in a sentence, in training
LENGTHS = [16, 24, 32, 64, 128, 256]
STEPS, BATCH, RATE = 400, 64, 5e-3
ANY_START = "any start"
KINDS = ["none", "learned", "sinusoidal", ANY_START, "rotary"]


class Previous(nn.Module):
    """Name the token before each place, with one layer of attention.

    Args:
        kind: how places are told apart, a word of KINDS.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.place: nn.Module | None = None
        self.turn: nn.Module = nn.Identity()
        if kind == "learned":
            self.place = LearnedPositions(TRAINED, WIDTH)
        elif kind in ("sinusoidal", ANY_START):
            self.place = SinusoidalPositions(WIDTH)
        elif kind == "rotary":
            self.turn = RotaryPositions(WIDTH)
        self.to_query = nn.Linear(WIDTH, WIDTH)
        self.to_key = nn.Linear(WIDTH, WIDTH)
        self.to_value = nn.Linear(WIDTH, WIDTH)
        self.to_logits = nn.Linear(WIDTH, VOCAB)

    def forward(
        self, tokens: Int[Tensor, "B T"], start: int = 0
    ) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "B T T"]]:
        """Logits of the token before each place, and the weights."""
        x = self.embed(tokens)  # (B, T, D)
        if self.place is not None:
            x = self.place(x, start)  # (B, T, D)
        query = self.turn(self.to_query(x))  # (B, T, d_k)
        key = self.turn(self.to_key(x))  # (B, T, d_k)
        scores = query @ key.transpose(-2, -1) / math.sqrt(WIDTH)  # (B, T, T)
        weights = scores.softmax(dim=-1)  # (B, T, T)
        return self.to_logits(weights @ self.to_value(x)), weights


def trained(kind: str, seed: int = 0) -> Previous:
    """Train a model on fresh sentences of TRAINED tokens."""
    set_seed(seed)
    cores = torch.get_num_threads()
    torch.set_num_threads(1)  # for so little work, two cores mostly wait for each other
    model = Previous(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    starts = LENGTHS[-1] - TRAINED + 1 if kind == ANY_START else 1
    for _ in range(STEPS):
        start = int(torch.randint(starts, ()))
        tokens = torch.randint(VOCAB, (BATCH, TRAINED))  # (B, T)
        logits, _ = model(tokens, start)  # (B, T, V)
        named = logits[:, 1:].transpose(1, 2)  # (B, V, T-1): none stands before 0
        loss = F.cross_entropy(named, tokens[:, :-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(cores)
    return model


@torch.no_grad()
def judge(model: Previous, length: int, count: int = 200) -> dict[str, float]:
    """Judge a model on new sentences.

    Returns:
        "right": share of tokens named rightly; "far": share of all weight that lies on
        keys farther away than any key was in training.

    Raises:
        ValueError: when the sentence is longer than a learned table of positions.
    """
    generator = torch.Generator().manual_seed(length)
    tokens = torch.randint(VOCAB, (count, length), generator=generator)  # (B, T)
    logits, weights = model(tokens)  # (B, T, V), (B, T, T)
    right = logits[:, 1:].argmax(dim=-1) == tokens[:, :-1]  # (B, T-1)
    place = torch.arange(length)  # (T,)
    far = (place[:, None] - place).abs() >= TRAINED  # (T, T)
    return {
        "right": right.float().mean().item(),
        "far": (weights * far).sum(dim=-1).mean().item(),
    }


def lengths_of(kind: str) -> list[int]:
    """The lengths at which a model of this kind gives an answer at all."""
    return [TRAINED] if kind == "learned" else LENGTHS


def run(seed: int = 0) -> dict[str, dict[int, dict[str, float]]]:
    """Train every kind once and judge it at the trained and at longer lengths."""
    results = {}
    for kind in KINDS:
        model = trained(kind, seed)
        results[kind] = {n: judge(model, n) for n in lengths_of(kind)}
    return results


def measure() -> dict[str, dict[str, dict[str, list[float]]]]:
    """Three seeds for each kind: what `judge` says at each length."""
    runs = [run(seed) for seed in range(3)]
    return {
        kind: {
            what: {
                str(n): [round(one[kind][n][what], 3) for one in runs]
                for n in lengths_of(kind)
            }
            for what in ("right", "far")
        }
        for kind in KINDS
    }
