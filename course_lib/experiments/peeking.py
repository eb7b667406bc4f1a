"""A model that cheats: it predicts noise, and its causal mask is off by one.

Every token is drawn at random, so whoever has not seen the next one can only guess: no
honest model gets below ln V on average. A lower loss means that it can see its answer.
"""

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.positions import LearnedPositions
from course_lib.training import set_seed

VOCAB, LENGTH, WIDTH = 50, 16, 64
BATCH, STEPS, RATE = 64, 200, 3e-3
AHEAD = {"right": 0, "off by one": 1}
SEEDS = [0, 1, 2]


class NextToken(nn.Module):
    """Predict each next token from the tokens so far, with one layer of attention.

    Args:
        ahead: how many tokens too far each position sees; 0 is right.
    """

    def __init__(self, ahead: int) -> None:
        super().__init__()
        self.ahead = ahead
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.positions = LearnedPositions(LENGTH, WIDTH)
        self.attention = MultiHeadAttention(WIDTH, num_heads=1)
        self.to_logits = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """Logits of the token that follows each position."""
        length = tokens.shape[1]
        everything = torch.ones(length, length, dtype=torch.bool)  # (T, T)
        mask = everything.tril(diagonal=self.ahead)  # (T, T)
        x = self.positions(self.embed(tokens))  # (B, T, D)
        mixed, _ = self.attention(x, mask=mask)  # (B, T, D)
        logits: Tensor = self.to_logits(x + mixed)  # (B, T, V)
        return logits


def noise(batch: int = BATCH) -> Int[Tensor, "B T+1"]:
    """Draw tokens that have nothing to do with each other."""
    return torch.randint(VOCAB, (batch, LENGTH + 1))  # (B, T+1)


def next_token_loss(model: NextToken, tokens: Tensor) -> Float[Tensor, "B T"]:
    """Loss of each prediction in nats: position t should name token t + 1."""
    logits = model(tokens[:, :-1])  # (B, T, V)
    return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")


def writing_loss(model: NextToken, tokens: Tensor) -> float:
    """Mean loss in nats when the model writes: what comes next does not exist yet."""
    losses = [
        next_token_loss(model, tokens[:, : length + 1])[:, -1].mean()
        for length in range(1, LENGTH + 1)
    ]
    return torch.stack(losses).mean().item()


def train(model: NextToken) -> list[float]:
    """Train on fresh noise at every step, so that nothing can be learned by heart."""
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        loss = next_token_loss(model, noise()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def run(seed: int = 0) -> dict[str, dict[str, Any]]:
    """Train the same model with the right mask and with the mask off by one.

    Returns:
        For each mask: the loss of every step, the loss of each position on fresh
        noise after training, and the loss when the model writes; all in nats.
    """
    results = {}
    for name, ahead in AHEAD.items():
        set_seed(seed)
        model = NextToken(ahead)
        losses = train(model)
        with torch.no_grad():
            tokens = noise(1000)  # (B, T+1)
            results[name] = {
                "losses": losses,
                "positions": next_token_loss(model, tokens).mean(dim=0).tolist(),
                "writing": writing_loss(model, tokens),
            }
    return results


def measure() -> dict[str, Any]:
    """The same for three seeds, every tenth loss, to three decimals."""
    seeds = {str(seed): run(seed) for seed in SEEDS}
    for result in seeds.values():
        for numbers in result.values():
            numbers["losses"] = [round(x, 3) for x in numbers["losses"][::10]]
            numbers["positions"] = [round(x, 3) for x in numbers["positions"]]
            numbers["writing"] = round(numbers["writing"], 3)
    return {"vocab": VOCAB, "steps": STEPS, "every": 10, "seeds": seeds}
