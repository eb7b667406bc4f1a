"""Cases: the calls that a check makes, as data."""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from .language import mark as N_
from .language import translate as _


@dataclass(frozen=True)
class Limit:
    """How much one call may hold at once, and compute; 0 is no limit.

    Args:
        largest: How many scores may be held at once.
        operations: How many numbers may be computed in all.
        sentence: What to say when it is more.
        single: Whether `largest` is what one operation may make, not what is held.
    """

    largest: int = 0
    operations: int = 0
    sentence: str = ""
    single: bool = False

    def exceeded(self, largest: int, operations: int) -> bool:
        """Whether a call went beyond the limit."""
        return 0 < self.largest < largest or 0 < self.operations < operations


@dataclass(frozen=True)
class Case:
    """One call of an answer.

    Args:
        name: What is special about it.
        arguments: Tensors, numbers or `None`, in the order of the signature.
        kind: "numbers" for an ordinary call; "large" for large numbers; "gradient",
            "double", "strided" and "again" call an ordinary one in another way.
        tolerance: How far a number may be off, absolutely and relatively.
        limit: What the call may hold and compute, if that is asked.
        perturbed: Whether it is a copy that a property compares with the first case.
    """

    name: str
    arguments: tuple[Any, ...]
    kind: str = "numbers"
    tolerance: float = 1e-5
    limit: Limit | None = None
    perturbed: bool = False
    memo: dict[str, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # what the reference and the known mistakes did, by name

    @property
    def size(self) -> int:
        """How many numbers the arguments hold; an int counts as its value."""
        sizes = [a.numel() for a in self.arguments if isinstance(a, Tensor)]
        sizes += [abs(a) for a in self.arguments if isinstance(a, int)]
        return sum(sizes)

    def map_tensors(self, change: Any) -> "Case":
        """The same case with every tensor changed."""
        arguments = tuple(
            change(a) if isinstance(a, Tensor) else a for a in self.arguments
        )
        return replace(self, arguments=arguments)


class Draw:
    """Random inputs from a seed: the same whatever the defaults of torch are."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator(device="cpu").manual_seed(seed)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal float32 numbers."""
        return torch.randn(
            shape, generator=self.generator, dtype=torch.float32, device="cpu"
        )

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers, int64, from `low` up to `high - 1`."""
        return torch.randint(low, high, shape, generator=self.generator, device="cpu")


def tensor(values: Any, dtype: torch.dtype = torch.float32) -> Tensor:
    """Make a small tensor, float32 unless said, on the CPU."""
    return torch.tensor(values, dtype=dtype, device="cpu")


def strided(tensor: Tensor) -> Tensor:
    """Return the same numbers, laid out in memory in another order."""
    if tensor.dim() < 2:
        wide = tensor.new_zeros(*tensor.shape, 2)
        wide[..., 0] = tensor
        return wide[..., 0]
    axes = tuple(reversed(range(tensor.dim())))
    return tensor.permute(axes).contiguous().permute(axes)


def place(case: Case, device: Any, dtype: torch.dtype | None) -> Case:
    """Move a case to the learner's device and dtype; int and bool keep theirs."""
    if case.kind == "double":
        dtype = torch.float64

    def move(tensor: Tensor) -> Tensor:
        if tensor.is_floating_point() and dtype is not None:
            tensor = tensor.to(dtype)
        return tensor.to(device)

    return case.map_tensors(move)


def on_cpu(case: Case, double: bool = False) -> Case:
    """Copy a case to the CPU, there to float64 if asked."""

    def move(tensor: Tensor) -> Tensor:
        tensor = tensor.detach().cpu()  # first: not every device has float64
        wide = double and tensor.is_floating_point()
        return tensor.to(torch.float64) if wide else tensor

    return case.map_tensors(move)


def has_float64(device: Any) -> bool:
    """Whether a device knows float64 (the GPU of an Apple machine does not)."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (TypeError, RuntimeError):
        return False
    return True


def show(value: Any) -> str:
    """Write a number or a small tensor, rounded, for a message."""
    if isinstance(value, Tensor):
        return show(value.tolist())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(show, value)) + "]"
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):
            return str(value)
        if value == round(value) and abs(value) < 1e6:
            return str(int(value))
        return f"{value:.4f}" if 0.001 < abs(value) < 1000 else f"{value:.3g}"
    return str(value)


SMALL = 14  # numbers: what is smaller is written out in a message
WAYS = {
    "gradient": N_(", which require gradients"),
    "double": N_(", in float64"),
    "strided": N_(", not contiguous in memory"),
    "again": N_(", on a second call"),
}


def describe(case: Case, parameters: tuple[str, ...]) -> str:
    """Name a case by its arguments: small ones by their numbers."""
    words: list[str] = []
    shapes: dict[tuple[int, ...], str] = {}  # tensors of one shape are named together
    for name, argument in zip(parameters, case.arguments, strict=False):
        if isinstance(argument, Tensor) and case.size > SMALL:
            shape = tuple(argument.shape)
            shapes[shape] = f"{shapes[shape]}, {name}" if shape in shapes else name
        else:
            words.append(f"{name} = {show(argument)}")
    named = [
        _("{names} of shape {shape}").format(names=names, shape=shape)
        for shape, names in shapes.items()
    ]
    return ", ".join(named + words) + _(WAYS.get(case.kind, ""))
