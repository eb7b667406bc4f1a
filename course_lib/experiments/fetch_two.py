"""The fetching task of chapter 6: one query has to bring back two words at once.

Eight slots hold a word each. A question names two slots, and the answer is the word in
the first and the word in the second, in this order. The attention has the same number
of parameters, however many heads it is cut into; a linear layer reads the answer.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.training import set_seed, threads

SLOTS, WORDS, D_MODEL = 8, 16, 64
BATCH, STEPS, RATE = 256, 500, 1e-3
TEST = 4000  # questions that no training step has seen


class Fetch(nn.Module):
    """One query looks at all slots once; a read-out names the words asked for.

    Args:
        num_heads: number of heads; it divides d_model.
        d_model: width of the vectors.
        slots: how many words there are to look at.
        asked: how many of them a question names.
        hidden: width of a hidden layer in the read-out; 0 for a linear read-out.
    """

    def __init__(
        self,
        num_heads: int,
        *,
        d_model: int = D_MODEL,
        slots: int = SLOTS,
        asked: int = 2,
        hidden: int = 0,
    ) -> None:
        super().__init__()
        self.slots, self.asked = slots, asked
        self.word = nn.Embedding(WORDS, d_model)
        self.slot = nn.Embedding(slots, d_model)
        self.question = nn.Embedding(asked * slots, d_model)  # a table for each place
        self.attention = MultiHeadAttention(d_model, num_heads)
        answer = asked * WORDS
        self.read = nn.Linear(d_model, answer)
        if hidden:
            first, last = nn.Linear(d_model, hidden), nn.Linear(hidden, answer)
            self.read = nn.Sequential(first, nn.ReLU(), last)  # type: ignore[assignment]

    def forward(
        self, words: Int[Tensor, "B slots"], places: Int[Tensor, "B asked"]
    ) -> tuple[Float[Tensor, "B asked words"], Float[Tensor, "B H slots"]]:
        """Return the logits of the answers, and where every head looked."""
        tokens = self.word(words) + self.slot.weight  # (B, slots, D)
        table = torch.arange(self.asked) * self.slots
        query = self.question(places + table).sum(dim=1, keepdim=True)  # (B, 1, D)
        mixture, weights = self.attention(query, tokens, need_weights=True)
        logits = self.read(mixture.squeeze(1))  # (B, asked * words)
        return logits.unflatten(-1, (self.asked, WORDS)), weights.squeeze(2)


def questions(
    count: int,
    generator: torch.Generator,
    *,
    slots: int = SLOTS,
    asked: int = 2,
    two_kinds: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw words (B, slots), the places asked for (B, asked), the answers (B, asked).

    With `two_kinds` the first half of the slots hold words of the first half of the
    vocabulary, the second half those of the second; a question asks for one of each.
    """
    words = torch.randint(WORDS, (count, slots), generator=generator)  # (B, slots)
    order = torch.rand(count, slots, generator=generator)  # (B, slots)
    places = order.argsort(dim=1)[:, :asked]  # (B, asked), all different
    if two_kinds:
        kind = torch.arange(slots) // (slots // 2)  # 0 0 0 0 1 1 1 1
        words = words % (WORDS // 2) + kind * (WORDS // 2)  # (B, slots)
        half = slots // 2
        places = places % half + torch.tensor([0, half])  # (B, 2), one of each kind
    return words, places, words.gather(1, places)


@threads(1)
def train(
    model: Fetch, seed: int, *, steps: int = STEPS, batch: int = BATCH, **kind: Any
) -> Fetch:
    """Train on fresh questions in every step."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(steps):
        words, places, answers = questions(batch, generator, **kind)
        logits, _ = model(words, places)  # (B, asked, words)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def judge(model: Fetch, **kind: Any) -> dict[str, Any]:
    """Share of new questions answered right, and where the heads look on average."""
    generator = torch.Generator().manual_seed(2**31)
    words, places, answers = questions(TEST, generator, **kind)
    logits, weights = model(words, places)  # (B, asked, words), (B, H, slots)
    right = logits.argmax(dim=-1) == answers  # (B, asked)
    index = places[:, None].expand(-1, weights.shape[1], -1)  # (B, H, asked)
    looks = weights.gather(2, index).mean(dim=0)  # (H, asked)
    return {
        "all": right.all(dim=1).float().mean().item(),
        "each": right.float().mean(dim=0).tolist(),
        "looks": looks.tolist(),
    }


def run(
    seed: int = 0, num_heads: int = 1, *, hidden: int = 0, two_kinds: bool = False
) -> dict[str, Any]:
    """Train and judge one model."""
    set_seed(seed)
    model = Fetch(num_heads, hidden=hidden)
    return judge(train(model, seed, two_kinds=two_kinds), two_kinds=two_kinds)


def measure() -> dict[str, dict[str, Any]]:
    """Three seeds each: share with both words right; where the first one looks."""
    settings: dict[str, dict[str, Any]] = {
        "1 head": {"num_heads": 1},
        "2 heads": {"num_heads": 2},
        "4 heads": {"num_heads": 4},
        "8 heads": {"num_heads": 8},
        "1 head, two kinds of words": {"two_kinds": True},
        "1 head, hidden layer in the read-out": {"hidden": 256},
    }
    results = {}
    for name, setting in settings.items():
        seeds = [run(seed, **setting) for seed in range(3)]
        results[name] = {
            "all": [round(seed["all"], 3) for seed in seeds],
            "looks": [[round(w, 2) for w in head] for head in seeds[0]["looks"]],
        }
    return results
