"""How a model of this course is trained: seeds, the device, the rate, the loop."""

import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.optim import Optimizer

from course_lib.corpus import BOS, PAD

Batches = Iterable[tuple[Tensor, Tensor]]


def set_seed(seed: int) -> None:
    """Seed every generator that the course uses, and ask for deterministic algorithms.

    The generators are those of Python, of NumPy if it is loaded, and of PyTorch on the
    CPU and on every GPU. Where PyTorch has no deterministic algorithm, it warns.

    Args:
        seed: a whole number from 0 to 2**32 - 1, the range of NumPy.

    Raises:
        ValueError: for a seed outside that range.
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"a seed is a whole number from 0 to 2**32 - 1, got {seed}")
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    torch.manual_seed(seed)  # CPU, CUDA and MPS
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)


def get_device(prefer: str | None = None) -> torch.device:
    """Choose the device to compute on: the one asked for, or the best there is.

    Args:
        prefer: "cuda", "mps" or "cpu". If not given, the environment variable
            COURSE_DEVICE decides, and without it the first of the three that works.

    Raises:
        ValueError: for a name that is not one of the three, or not available here.
    """
    available = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    name = prefer or os.environ.get("COURSE_DEVICE")
    if not name:
        name = next(name for name, works in available.items() if works)
    if name not in available:
        raise ValueError(f'the device must be "cuda", "mps" or "cpu", not {name!r}')
    if not available[name]:
        raise ValueError(f"this machine has no working {name!r} device")
    return torch.device(name)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute on so many CPU cores for a while.

    Small matrices are not worth sharing: two cores that wait for each other after
    every step of a recurrent network are slower than one, on a busy machine by far.

    Args:
        count: how many threads PyTorch may use inside one operation.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def learning_rate(step: int, d_model: int, warmup: int) -> float:
    """Rate that climbs evenly for `warmup` steps, then falls with the root of the step.

    Args:
        step: which update this is, counted from 1.
        d_model: width of the model; a wider one gets a smaller rate.
        warmup: the update at which the rate is highest; 0 for no climb.

    Raises:
        ValueError: for a step below 1, a width below 1 or a negative warm-up.

    Source: Vaswani et al. 2017, section 5.3, equation 3.
    """
    if step < 1 or d_model < 1 or warmup < 0:
        raise ValueError(
            "step and d_model must be at least 1 and warmup at least 0, "
            f"got step {step}, d_model {d_model}, warmup {warmup}"
        )
    falling = step**-0.5
    climbing = step * warmup**-1.5 if warmup else falling
    return float(d_model**-0.5 * min(falling, climbing))


def teacher_forcing(
    target: Int[Tensor, "B T"], bos: int = BOS
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """Split a target into what the decoder reads and what it should write.

    Args:
        target: (B, T), ends with eos, padded on the right, without bos.
        bos: the token that begins every sentence.

    Returns:
        The decoder's input (B, T), bos and then the target without its last token;
        and the labels (B, T), the target itself.
    """
    first = torch.full_like(target[:, :1], bos)  # (B, 1)
    return torch.cat([first, target[:, :-1]], dim=1), target  # (B, T), (B, T)


def masked_loss(
    logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"], pad: int = PAD
) -> Float[Tensor, ""]:
    """Mean cross-entropy in nats over the real tokens of a batch.

    Args:
        logits: (B, T, V), one score for each word of the vocabulary.
        labels: (B, T), the words that should be written.
        pad: the label that does not count.
    """
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=pad)


def train(
    model: nn.Module,
    batches: Batches,
    optimizer: Optimizer,
    *,
    rate: Callable[[int], float] | None = None,
    clip: float = 1.0,
    progress: bool = False,
) -> list[float]:
    """Train a model that translates, one update for each batch.

    Args:
        model: takes source (B, S) and decoder input (B, T) and returns logits
            (B, T, V), alone or first in a tuple.
        batches: pairs of source (B, S) and target (B, T) on the device of the model;
            the target ends with eos and is padded on the right.
        optimizer: holds the parameters of the model.
        rate: learning rate for each update, counted from 1; the optimizer's own rate
            if not given.
        clip: longest gradient allowed, over all parameters; a longer one is shortened.
        progress: show a progress bar.

    Returns:
        The loss of each update, in nats for each real token.

    Raises:
        ValueError: when there is no batch, for instance from a generator used up.
    """
    losses = []
    model.train()
    for step, (source, target) in enumerate(_shown(batches, progress), start=1):
        if rate:
            _set_rate(optimizer, rate(step))
        loss = translation_loss(model, source, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.detach())
    return _numbers(losses)


def translation_loss(
    model: nn.Module, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
) -> Float[Tensor, ""]:
    """Loss of a batch when the teacher hands the decoder every right word."""
    decoder_input, labels = teacher_forcing(target)  # (B, T), (B, T)
    logits = predict(model, source, decoder_input)  # (B, T, V)
    return masked_loss(logits, labels)


@torch.no_grad()
def exact_match(model: nn.Module, batches: Batches) -> float:
    """Share of sentences that greedy decoding would translate without a mistake.

    No sentence is decoded. Greedy decoding reads what the teacher would give it for as
    long as every word so far was right, so it writes the whole target if and only if
    the teacher-forced argmax is right at every real position, eos included.

    Args:
        model: as in `train`; it is judged in `eval()` and left in the mode it was in.
        batches: as in `train`.

    Raises:
        ValueError: when there is no sentence to judge.
    """
    right = sentences = 0
    with evaluating(model):
        for source, target in batches:
            decoder_input, labels = teacher_forcing(target)  # (B, T), (B, T)
            guess = predict(model, source, decoder_input).argmax(dim=-1)  # (B, T)
            correct = ((guess == labels) | (labels == PAD)).all(dim=1)  # (B,)
            right += int(correct.sum())
            sentences += len(labels)
    if sentences == 0:
        raise ValueError("batches is empty: there is no sentence to judge")
    return right / sentences


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Switch a model to `eval()` for a while; each submodule gets its mode back."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def predict(
    model: nn.Module, source: Int[Tensor, "B S"], decoder_input: Int[Tensor, "B T"]
) -> Float[Tensor, "B T V"]:
    """Logits of a model, whether or not it returns weights beside them."""
    result = model(source, decoder_input)
    logits: Tensor = result[0] if isinstance(result, tuple) else result  # (B, T, V)
    return logits


def _set_rate(optimizer: Optimizer, rate: float) -> None:
    """Give every group of parameters the same learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def _numbers(losses: list[Tensor]) -> list[float]:
    """Read the losses once, at the end: a GPU need not wait after every update."""
    if not losses:
        raise ValueError("batches is empty: there is nothing to train on")
    return torch.stack(losses).tolist()


def _shown(batches: Batches, progress: bool) -> Batches:
    """The same batches, with a progress bar around them if asked for."""
    if not progress:
        return batches
    from tqdm.auto import tqdm

    return tqdm(batches)
