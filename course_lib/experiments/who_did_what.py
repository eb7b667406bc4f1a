"""Who did it? The same sentences in two languages, with and without positions.

"the cat chased the fox" and "the fox chased the cat" hold the same words: who does not
know their order can only guess between the two animals. Korean marks who acts with a
particle, and may then put the object first. Attached to its noun, the particle is part
of a word; split off, it is a word of its own that belongs to nobody without an order.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.grammar import particle
from course_lib.positions import SinusoidalPositions
from course_lib.training import set_seed

# Every noun ends in a vowel. Otherwise its particle would betray it, even split off:
# 가 and 를 stand behind a vowel, 이 and 을 behind a consonant.
NOUNS = {
    "cat": "고양이",
    "rabbit": "토끼",
    "fox": "여우",
    "duck": "오리",
    "goat": "염소",
    "lion": "사자",
    "elephant": "코끼리",
    "whale": "고래",
    "hippo": "하마",
    "raccoon": "너구리",
}
CONSONANTS = {"bear": "곰", "horse": "말", "deer": "사슴", "snake": "뱀", "crane": "학"}
MIXED = dict(list(NOUNS.items())[:5]) | CONSONANTS  # the trap, set on purpose
VERBS = {
    "chased": "쫓았다",
    "saw": "보았다",
    "called": "불렀다",
    "found": "찾았다",
    "followed": "따라갔다",
    "bit": "물었다",
}
WAYS = ["English", "Korean, split", "Korean, attached"]
WIDTH, STEPS, BATCH, RATE = 32, 300, 64, 5e-3


class Sentences(NamedTuple):
    """All sentences of one way of writing, as numbers, and who did it."""

    tokens: Int[Tensor, "N T"]
    agent: Int[Tensor, "N"]
    held_out: Bool[Tensor, "N"]
    words: list[str]


def write(
    agent: str, patient: str, verb: str, way: str, nouns: dict[str, str] = NOUNS
) -> list[list[str]]:
    """Write one event in every word order that the language allows.

    Args:
        agent: the English noun that does it.
        patient: the English noun that it is done to.
        verb: the English verb.
        way: a word of WAYS.
        nouns: English -> Korean.
    """
    if way == "English":
        return [["the", agent, verb, "the", patient]]
    subject = [nouns[agent], particle(nouns[agent], "subject")]
    target = [nouns[patient], particle(nouns[patient], "object")]
    if way == "Korean, attached":
        subject, target = ["".join(subject)], ["".join(target)]
    return [[*subject, *target, VERBS[verb]], [*target, *subject, VERBS[verb]]]


def sentences(way: str, nouns: dict[str, str] = NOUNS) -> Sentences:
    """Write every event: any animal, any verb, any other animal.

    Held out is one event in five, and always together with its reverse, so that nobody
    can know an event from having met its reverse.
    """
    rows, agents, held_out = [], [], []
    for a, agent in enumerate(nouns):
        for p, patient in enumerate(nouns):
            for v, verb in enumerate(VERBS):
                for row in write(agent, patient, verb, way, nouns) if a != p else []:
                    rows.append(row)
                    agents.append(a)
                    held_out.append((a + p + v) % 5 == 0)
    words = sorted({word for row in rows for word in row})
    numbers = {word: number for number, word in enumerate(words)}
    tokens = torch.tensor([[numbers[word] for word in row] for row in rows])  # (N, T)
    return Sentences(tokens, torch.tensor(agents), torch.tensor(held_out), words)


class WhoDidIt(nn.Module):
    """One layer of self-attention that names the animal that acts.

    Args:
        vocab: how many words there are.
        nouns: how many animals can be the answer.
        positions: whether the words are told their places.
    """

    def __init__(self, vocab: int, nouns: int, positions: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, WIDTH)
        self.place = SinusoidalPositions(WIDTH) if positions else nn.Identity()
        self.attention = MultiHeadAttention(WIDTH, num_heads=1)
        self.name = nn.Linear(WIDTH, nouns)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B nouns"]:
        """Logits of the animals."""
        x = self.place(self.embed(tokens))  # (B, T, D)
        mixed, _ = self.attention(x)  # (B, T, D)
        logits: Tensor = self.name(mixed.mean(dim=1))  # (B, nouns)
        return logits


def share_right(
    way: str, positions: bool, seed: int = 0, nouns: dict[str, str] = NOUNS
) -> float:
    """Train a model, then judge it on the events that were held out."""
    set_seed(seed)
    cores = torch.get_num_threads()
    torch.set_num_threads(1)  # for so little work, two cores mostly wait for each other
    data = sentences(way, nouns)
    model = WhoDidIt(len(data.words), len(nouns), positions)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    seen = (~data.held_out).nonzero().flatten()  # (N_seen,)
    for _ in range(STEPS):
        rows = seen[torch.randint(len(seen), (BATCH,))]  # (B,)
        loss = F.cross_entropy(model(data.tokens[rows]), data.agent[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(cores)
    with torch.no_grad():
        named = model(data.tokens[data.held_out]).argmax(dim=-1)  # (N_held_out,)
    right: float = (named == data.agent[data.held_out]).float().mean().item()
    return right


def run(seed: int = 0) -> dict[str, dict[str, float]]:
    """Judge every way of writing, without and with positions."""
    return {
        way: {
            "without": share_right(way, positions=False, seed=seed),
            "with": share_right(way, positions=True, seed=seed),
        }
        for way in WAYS
    }


def measure() -> dict[str, dict[str, list[float]]]:
    """Three seeds each; and split particles behind nouns of both kinds."""
    tries = {way: (way, NOUNS) for way in WAYS}
    tries["Korean, split, mixed nouns"] = ("Korean, split", MIXED)
    return {
        name: {
            key: [
                round(share_right(way, key == "with", seed, nouns), 3)
                for seed in range(3)
            ]
            for key in ("without", "with")
        }
        for name, (way, nouns) in tries.items()
    }
