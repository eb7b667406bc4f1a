"""Seeds, the device, the rate (case H25), the loss (H24), the loop."""

import math
import os
import random
import subprocess
import sys

import pytest
import torch
from torch import Tensor, nn

from course_lib import training
from course_lib.corpus import BOS, EOS, PAD
from course_lib.recurrent import RecurrentEncoderDecoder

V = 8


@pytest.fixture(autouse=True)
def undo_settings():
    """Take back what `set_seed` changes for the whole process."""
    before = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    state = torch.get_rng_state()
    yield
    torch.use_deterministic_algorithms(before, warn_only=warn_only)
    torch.set_rng_state(state)


def copy_batches(count: int, rows: int = 6, length: int = 3) -> training.Batches:
    """A task that a small model learns: write the source once more, then eos."""
    generator = torch.Generator().manual_seed(0)
    end = torch.full((rows, 1), EOS)
    batches = []
    for _ in range(count):
        source = torch.randint(4, V, (rows, length), generator=generator)
        batches.append((source, torch.cat([source, end], dim=1)))
    return batches


def small_model(attention: str | None = "dot") -> RecurrentEncoderDecoder:
    torch.manual_seed(0)
    return RecurrentEncoderDecoder(V, 16, attention=attention)


# Seeds


def test_the_same_seed_gives_the_same_numbers_in_every_generator():
    numpy = pytest.importorskip("numpy")

    def draw():
        return random.random(), numpy.random.rand(), torch.rand(3).tolist()

    training.set_seed(5)
    first = draw()
    training.set_seed(5)
    assert draw() == first
    training.set_seed(6)
    assert all(new != old for new, old in zip(draw(), first, strict=True))


def test_deterministic_algorithms_are_asked_for():
    torch.use_deterministic_algorithms(False)
    training.set_seed(0)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=str(seed)):
        training.set_seed(seed)


# Device


@pytest.fixture
def machine(monkeypatch):
    """A machine with the accelerators that a test names."""

    def build(*names: str) -> None:
        monkeypatch.delenv("COURSE_DEVICE", raising=False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in names)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in names)

    return build


@pytest.mark.parametrize(
    ("names", "best"),
    [((), "cpu"), (("mps",), "mps"), (("cuda",), "cuda"), (("cuda", "mps"), "cuda")],
)
def test_the_best_device_is_chosen(machine, names, best):
    machine(*names)
    assert training.get_device() == torch.device(best)


def test_the_environment_decides_unless_a_device_is_asked_for(machine, monkeypatch):
    machine("cuda", "mps")
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    assert training.get_device() == torch.device("cpu")
    assert training.get_device("mps") == torch.device("mps")
    monkeypatch.setenv("COURSE_DEVICE", "")
    assert training.get_device() == torch.device("cuda")


@pytest.mark.parametrize("name", ["tpu", "cuda", "CPU"])
def test_an_unknown_or_missing_device_is_refused(machine, monkeypatch, name):
    machine()
    with pytest.raises(ValueError, match=name):
        training.get_device(name)
    monkeypatch.setenv("COURSE_DEVICE", name)
    with pytest.raises(ValueError, match=name):
        training.get_device()


# Learning rate (H25)


def test_h25_the_rate_counts_from_one_and_peaks_at_the_end_of_the_warm_up():
    rates = [training.learning_rate(step, 16, 4) for step in range(1, 6)]
    want = [0.0312, 0.0625, 0.0938, 0.1250, 0.1118]
    assert [round(rate, 4) for rate in rates] == want
    with pytest.raises(ValueError, match="step 0"):
        training.learning_rate(0, 16, 4)


@pytest.mark.parametrize("warmup", [0, 1, 3, 10])
def test_h25_every_warm_up_works_from_none_to_all_steps(warmup):
    rates = [training.learning_rate(step, 9, warmup) for step in range(1, 11)]
    assert all(rate > 0 for rate in rates)
    assert rates.index(max(rates)) + 1 == max(warmup, 1)
    assert max(rates) == pytest.approx(1 / 3 / math.sqrt(max(warmup, 1)))


@pytest.mark.parametrize("wrong", [(1, 0, 4), (1, 16, -1)])
def test_a_rate_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=f"d_model {wrong[1]}, warmup {wrong[2]}"):
        training.learning_rate(*wrong)


def test_h25_the_optimizer_uses_the_rate_of_this_very_update():
    used = []

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            used.append([group["lr"] for group in self.param_groups])
            return super().step(closure)

    model = small_model()
    half = list(model.parameters())
    groups = [{"params": half[:3]}, {"params": half[3:]}]
    training.train(
        model,
        copy_batches(5),
        Watched(groups, lr=99.0),
        rate=lambda step: training.learning_rate(step, 16, 4),
    )
    want = [training.learning_rate(step, 16, 4) for step in range(1, 6)]
    assert used == [[rate, rate] for rate in want]


# Teacher forcing and the loss (H24)


def test_teacher_forcing_shifts_by_one():
    target = torch.tensor([[5, 6, EOS, PAD], [7, 5, 6, EOS]])
    decoder_input, labels = training.teacher_forcing(target)
    assert decoder_input.tolist() == [[BOS, 5, 6, EOS], [BOS, 7, 5, 6]]
    assert labels.tolist() == target.tolist()
    assert training.teacher_forcing(target, bos=9)[0][0, 0] == 9


def test_h24_padding_does_not_count_in_the_loss():
    logits = torch.zeros(1, 4, 5)
    logits[..., 0] = 4.0
    labels = torch.tensor([[2, 0, 0, 0]])
    loss = training.masked_loss(logits, labels)
    assert loss.item() == pytest.approx(4.0707, abs=1e-4)
    logits[:, 1:] = torch.randn(3, 5)
    assert training.masked_loss(logits, labels) == loss


@pytest.mark.parametrize("pad", [0, 3, -100, 77])
def test_the_loss_is_the_sum_over_real_tokens_divided_by_their_count(pad):
    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(2, 3, 5, generator=generator, dtype=torch.float64)
    labels = torch.tensor([[1, 4, pad], [2, pad, pad]])
    total = 0.0
    for b, t in [(0, 0), (0, 1), (1, 0)]:
        row = logits[b, t].tolist()
        log_sum = math.log(sum(math.exp(x) for x in row))
        total += log_sum - row[int(labels[b, t])]
    assert training.masked_loss(logits, labels, pad).item() == pytest.approx(total / 3)


# The loop


def test_training_makes_the_loss_fall_and_the_translation_right():
    model = small_model()
    batches = copy_batches(300, rows=32)
    before = training.exact_match(model, batches[:4])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = training.train(model, batches, optimizer)
    assert len(losses) == 300
    assert losses[0] == pytest.approx(math.log(V), abs=0.3)
    assert losses[-1] < 0.1
    assert training.exact_match(model, batches[:4]) > 0.95 > before


def test_the_same_seed_trains_the_same_model():
    def run(seed):
        training.set_seed(seed)
        model = RecurrentEncoderDecoder(V, 16)
        optimizer = torch.optim.Adam(model.parameters())
        return training.train(model, copy_batches(5), optimizer)

    assert run(3) == run(3) != run(4)


def test_long_gradients_are_shortened():
    """One step of plain descent moves the parameters by rate times clip at most."""
    model = small_model()
    before = nn.utils.parameters_to_vector(model.parameters()).detach()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    training.train(model, copy_batches(1), optimizer, clip=0.01)
    after = nn.utils.parameters_to_vector(model.parameters()).detach()
    assert (after - before).norm().item() == pytest.approx(0.01, rel=1e-3)


def test_exact_match_is_the_share_of_sentences_that_greedy_decoding_gets_right():
    model = small_model()
    training.train(
        model, copy_batches(40, rows=32), torch.optim.Adam(model.parameters(), lr=0.01)
    )
    source, target = copy_batches(1, rows=64)[0]
    right = sum(
        greedy(model, source[row], target.shape[1]) == target[row].tolist()
        for row in range(len(source))
    )
    assert 0 < right < 64, "the test needs sentences of both kinds"
    assert training.exact_match(model, [(source, target)]) == right / 64


def greedy(model: nn.Module, source: Tensor, max_len: int) -> list[int]:
    """Write word by word, each time from the words written so far."""
    words: list[int] = []
    while len(words) < max_len and (not words or words[-1] != EOS):
        logits, _ = model(source[None], torch.tensor([[BOS, *words]]))
        words.append(int(logits[0, -1].argmax()))
    return words


class Parrot(nn.Module):
    """Predicts the words that it is given, whatever it reads."""

    def __init__(self, guess: Tensor):
        super().__init__()
        self.guess = nn.functional.one_hot(guess, V).float()
        self.frozen = nn.Dropout().eval()

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        assert not self.training
        return self.guess[: len(source)]


def test_exact_match_ignores_padding_asks_for_eos_and_weighs_batches_by_their_size():
    guess = torch.tensor([[5, EOS, 6], [5, 6, 7], [5, EOS, EOS]])
    target = torch.tensor([[5, EOS, PAD], [5, 6, EOS], [5, EOS, PAD]])
    source = torch.ones(3, 2, dtype=torch.long)
    parrot = Parrot(guess)
    assert training.exact_match(parrot, [(source, target)]) == 2 / 3
    batches = [(source, target), (source[:1], target[:1])]
    assert training.exact_match(parrot, batches) == 3 / 4


def test_every_submodule_gets_its_mode_back_also_after_an_error():
    parrot = Parrot(torch.tensor([[5]]))
    with pytest.raises(RuntimeError), training.evaluating(parrot):
        assert not parrot.training
        raise RuntimeError
    assert parrot.training
    assert not parrot.frozen.training


def test_the_number_of_threads_comes_back_also_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), training.threads(before + 1):
        assert torch.get_num_threads() == before + 1
        raise RuntimeError
    assert torch.get_num_threads() == before


def test_no_batches_are_refused():
    model = small_model()
    with pytest.raises(ValueError, match="nothing to train on"):
        training.train(model, [], torch.optim.Adam(model.parameters()))
    with pytest.raises(ValueError, match="no sentence"):
        training.exact_match(model, iter(()))


def test_a_progress_bar_only_when_asked_for(capfd):
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters())
    training.train(model, copy_batches(2), optimizer)
    assert capfd.readouterr() == ("", "")
    training.train(model, copy_batches(2), optimizer, progress=True)
    assert "2/2" in capfd.readouterr().err


def test_importing_imports_no_figures_and_no_widgets():
    code = (
        "import sys, course_lib.training, course_lib.recurrent;"
        "heavy = {'matplotlib', 'ipywidgets', 'transformers', 'IPython'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert out.stdout.strip() == "[]"
