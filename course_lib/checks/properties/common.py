"""What the tests of properties share."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ..call import Outcome
from ..cases import Case
from ..verdict import Records

CLOSE = 1e-4


def close(a: Any, b: Any) -> bool:
    """Whether two results have the same shape and the same numbers."""
    return bool(a.shape == b.shape) and torch.allclose(
        a.double(), b.double(), rtol=CLOSE, atol=CLOSE
    )


def original(records: Records) -> tuple[Case, Outcome]:
    """The first case, unchanged, and what was done with it."""
    return next(iter(records.values()))


def exchange(case: Case, name: str, changes: dict[int, Any]) -> Case:
    """The case under another name with some arguments exchanged."""
    arguments = tuple(changes.get(i, a) for i, a in enumerate(case.arguments))
    return replace(case, name=name, arguments=arguments)


def raised(tensor: Tensor, axis: int, index: int) -> Tensor:
    """A copy with 1 added at one index of an axis."""
    changed = tensor.clone()
    changed.select(axis, index).add_(1.0)
    return changed
