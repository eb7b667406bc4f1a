"""The experiments of chapter 1: equal conditions, and counts that are right."""

import pytest
import torch
from torch import Tensor, nn

from course_lib import experiments
from course_lib.corpus import Pair
from course_lib.experiments import clock, fixed_vector


@pytest.fixture(scope="module")
def data():
    return fixed_vector.data(600)


def test_no_test_sentence_is_trained_on(data):
    pairs, tests = data
    trained_on = {pair.korean for pair in pairs}
    assert len(pairs) > 500
    for length, unseen in tests.items():
        assert len(unseen) == 200
        assert {len(pair.korean) for pair in unseen} == {length}
        assert not trained_on & {pair.korean for pair in unseen}


def test_every_translator_has_the_same_state_and_output_layer():
    models = [fixed_vector.build(kind) for kind in fixed_vector.KINDS.values()]
    for part in ("encoder", "decoder", "output"):
        sizes = {sum(p.numel() for p in getattr(m, part).parameters()) for m in models}
        assert len(sizes) == 1, part


def test_every_translator_makes_the_same_updates(data, monkeypatch):
    """The same batches in the same order, the rate climbing, then falling to zero."""
    seen = []

    def spy(model, batches, optimizer, *, rate):
        seen.append(([b.source for b in batches], [rate(s) for s in range(1, 16)]))

    monkeypatch.setattr(fixed_vector, "train", spy)
    monkeypatch.setattr(fixed_vector, "WARMUP", 5)
    for kind in fixed_vector.KINDS.values():
        fixed_vector.trained(kind, data[0][:320], seed=1)
    first, rates = seen[0]
    assert len(first) == 15
    for sources, _ in seen:
        assert all(torch.equal(a, b) for a, b in zip(first, sources, strict=True))
    assert 0 < rates[0] < rates[1] < max(rates) < fixed_vector.RATE
    assert rates[-1] == pytest.approx(fixed_vector.RATE / 16)


class Looks(nn.Module):
    """A translator that looks at one place for each row."""

    def __init__(self, places: list[int]):
        super().__init__()
        self.places = places
        self.unused = nn.Parameter(torch.zeros(()))

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        at = torch.tensor(self.places)
        return target, nn.functional.one_hot(at, source.shape[1])[None].float()


def test_aligned_share_counts_words_with_a_partner_in_the_row_that_writes_them():
    pair = Pair(
        ("소년", "은", "잔다", "."),
        ("the", "boy", "sleeps", "."),
        frozenset({(0, 1), (2, 2), (3, 3)}),
        (),
        (),
    )
    share = fixed_vector.aligned_share
    # rows write: the, boy, sleeps, full stop, end
    right = Looks([3, 0, 2, 0, 0])
    assert share(right, [pair]) == 1.0
    assert share(right, [pair], late=1) == 0.0
    after = Looks([0, 1, 3, 3, 3])
    assert share(after, [pair]) == 0.0
    assert share(after, [pair], reach=1) == 1.0
    before = Looks([0, 0, 1, 3, 3])
    assert share(before, [pair], reach=1) == 0.5


def test_the_clock_reads_every_layer_at_every_length():
    threads = torch.get_num_threads()
    times = clock.run(lengths=(2, 5), patience=0.01)
    assert torch.get_num_threads() == threads
    assert list(times) == ["RNN", "GRU", "LSTM", "attention"]
    assert all(len(row) == 2 and min(row) > 0 for row in times.values())


def test_stored_results_have_every_seed_and_length():
    results = experiments.load("fixed_vector")["results"]
    for name in fixed_vector.KINDS:
        shares = torch.tensor(results["exact match"][name])
        assert shares.shape == (len(fixed_vector.SEEDS), len(fixed_vector.LENGTHS))
        assert ((shares >= 0) & (shares <= 1)).all()
    measured = experiments.load("clock")["results"]
    for cores in ("1 core", "2 cores"):
        for row in measured[cores].values():
            assert len(row) == len(measured["lengths"])
