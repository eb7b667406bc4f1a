"""Compare what an answer did with what it should have done."""

from typing import Any

import torch
from torch import Tensor

from .call import Outcome
from .cases import Case, show
from .language import translate as _

HALVES = (torch.float16, torch.bfloat16)


def coarse(case: Case) -> bool:
    """Whether the inputs are in half precision."""
    return any(getattr(a, "dtype", None) in HALVES for a in case.arguments)


def tolerance(case: Case) -> float:
    """The tolerance of a case; half precision gets what it can hold."""
    return max(case.tolerance, 0.05) if coarse(case) else case.tolerance


def _family(tensor: Tensor) -> tuple[bool, bool]:
    """Whether a tensor holds bools, and whether it holds floats."""
    return tensor.dtype == torch.bool, tensor.is_floating_point()


def near(got: Any, want: Any, allowed: float) -> bool:
    """Whether two results agree: same shape, same kind, same numbers, NaN as NaN."""
    if not isinstance(got, Tensor) or not isinstance(want, Tensor):
        return not isinstance(got, Tensor | None) and bool(got == want)
    if got.shape != want.shape or _family(got) != _family(want):
        return False
    if not got.is_floating_point():
        return torch.equal(got.long(), want.long()) and (
            got.dim() == 0 or got.dtype == want.dtype  # a number may be of any width
        )
    return torch.allclose(
        got.double(), want.double(), rtol=allowed, atol=allowed, equal_nan=True
    )


def near_gradients(x: Tensor | None, y: Tensor | None) -> bool:
    """Whether two gradients agree; none at all is as good as zeros."""
    if x is None or y is None:
        some = x if y is None else y
        return some is None or bool((some.abs() < 1e-6).all())
    return near(x, y, 0.05 if x.dtype in HALVES else 1e-4)


def same(a: Outcome, b: Outcome, allowed: float) -> bool:
    """Whether two answers did the same in one call."""
    if (a.error == "") != (b.error == "") or a.changed != b.changed:
        return False
    if a.over != b.over:
        return False
    if len(a.results) != len(b.results) or len(a.gradients) != len(b.gradients):
        return False
    if not all(near(x, y, allowed) for x, y in zip(a.results, b.results, strict=True)):
        return False
    for mine, yours in zip(a.gradients, b.gradients, strict=True):
        if not all(map(near_gradients, mine, yours)):
            return False
    return True


def word(dtype: torch.dtype) -> str:
    """A dtype as one says it."""
    return str(dtype).removeprefix("torch.")


def kind_fault(case: Case, name: str, got: Any, want: Tensor) -> str:
    """What is wrong with the type of a result; "" when nothing is."""
    if got is None:
        return _("{name} is None: is a `return` missing?").format(name=name)
    if not isinstance(got, Tensor):
        return _("{name} should be a tensor, and is of type {type}.").format(
            name=name, type=got.type
        )
    dtype = word(got.dtype)
    if want.dtype == torch.bool:
        problem = _("{name} should be bool, and is {dtype}.")
        right = got.dtype == torch.bool
    elif not want.is_floating_point():
        problem = _("{name} should hold whole numbers, and holds {dtype}.")
        right = not got.is_floating_point() and got.dtype != torch.bool
        if right and got.dim() > 0:  # a single number may be of any width
            problem = _("{name} should be int64 as the tokens are, and is {dtype}.")
            right = got.dtype == want.dtype
    elif not got.is_floating_point():
        problem = _("{name} should hold floating-point numbers, and holds {dtype}.")
        right = False
    elif got.dtype in HALVES and not coarse(case):
        problem = _("{name} is {dtype}, which is too coarse: keep to float32.")
        right = False
    else:
        problem = _("{name} should be float64 as the inputs are, and is {dtype}.")
        right = case.kind != "double" or got.dtype == torch.float64
    return "" if right else problem.format(name=name, dtype=dtype)


def result_fault(case: Case, name: str, got: Any, want: Tensor) -> str:
    """What is wrong with one result; "" when nothing is."""
    problem = kind_fault(case, name, got, want)
    if problem:
        return problem
    if got.shape != want.shape:
        return _("{name} should have the shape {right}, and has {mine}.").format(
            name=name, right=tuple(want.shape), mine=tuple(got.shape)
        )
    if near(got, want, tolerance(case)):
        return ""
    off = (got.double() - want.double()).abs().nan_to_num(torch.inf, torch.inf)
    index = tuple(int(i) for i in torch.unravel_index(off.argmax(), off.shape))
    where = f"[{', '.join(map(str, index))}]" if index else ""
    mine, right = show(got[index]), show(want[index])
    if mine == right:
        mine, right = f"{float(got[index]):.8g}", f"{float(want[index]):.8g}"
    return _("{name} should be {right}, and is {mine}.").format(
        name=name + where, right=right, mine=mine
    )


def gradient_fault(result: str, name: str, x: Tensor | None, y: Tensor | None) -> str:
    """What is wrong with one gradient; "" when nothing is."""
    if near_gradients(x, y):
        return ""
    if x is None:
        return _(
            "no gradient flows from {result} to {name}: something on the way leaves "
            "the graph, such as .detach(), .item(), .data, no_grad or NumPy."
        ).format(result=result, name=name)
    if not bool(x.isfinite().all()):
        return _("the gradient of {result} in {name} is not finite.").format(
            result=result, name=name
        )
    return _(
        "{result} has the right numbers, but not the right gradient in {name}: part "
        "of the computation leaves the graph."
    ).format(result=result, name=name)
