"""What is wrong with one outcome, in a sentence."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .call import Outcome
from .cases import Case
from .compare import gradient_fault, result_fault
from .language import translate as _

if TYPE_CHECKING:
    from .exercise import Exercise


def fault(exercise: "Exercise", case: Case, got: Outcome, want: Outcome) -> str:
    """What is wrong with one outcome; "" when nothing is."""
    if got.error:
        return _("your code raised {error}.").format(error=got.error)
    names = ", ".join(exercise.results)
    if got.results == (None,):
        return _(
            "your function gives None instead of {names}: is a return missing?"
        ).format(names=names)
    if exercise.sequence:
        return sequence_fault(names, got, want) or limit_fault(case, got)
    if len(exercise.results) > 1 and len(got.results) != len(exercise.results):
        return _("your function should return ({names}), and gave {what}.").format(
            names=names, what=_what(got)
        )
    if len(exercise.results) == 1 and got.listed:
        return _("your function should return {names} alone, and gave {what}.").format(
            names=names, what=_what(got)
        )
    trio = list(zip(exercise.results, got.results, want.results, strict=True))
    problems = [result_fault(case, *each) for each in trio]
    if not any(problems) and got.changed:
        inputs = ", ".join(exercise.parameters[i] for i in got.changed)
        problems.append(
            _(
                "your code changes its input {inputs} in place. The caller may still "
                "need it: make a new tensor."
            ).format(inputs=inputs)
        )
    floats = [
        name
        for name, argument in zip(exercise.parameters, case.arguments, strict=False)
        if isinstance(argument, Tensor) and argument.is_floating_point()
    ]
    for result, mine, right in zip(
        exercise.results, got.gradients, want.gradients, strict=False
    ):
        for each in zip(floats, mine, right, strict=True):
            problems.append(gradient_fault(result, *each))
    problems.append(limit_fault(case, got))
    return next((problem for problem in problems if problem), "")


def limit_fault(case: Case, got: Outcome) -> str:
    """What is wrong with the memory or the work of a call."""
    if not got.over or case.limit is None:
        return ""
    return _(case.limit.sentence).format(
        largest=got.largest,
        operations=got.operations,
        most=case.limit.largest or case.limit.operations,
    )


def sequence_fault(name: str, got: Outcome, want: Outcome) -> str:
    """What is wrong with a list of whole numbers."""
    if not got.listed:
        return _("{name} should be a list, and is {what}.").format(
            name=name, what=_what(got)
        )
    for place, token in enumerate(got.results):
        whole = isinstance(token, Tensor) and token.dim() == 0
        if not whole or token.is_floating_point():
            return _(
                "{name} should be a list of whole numbers, and its entry {place} is "
                "none."
            ).format(name=name, place=place)
    mine, right = ([int(t) for t in each.results] for each in (got, want))
    if mine == right:
        return ""
    return _("{name} should be {right}, and is {mine}.").format(
        name=name, right=right, mine=mine
    )


def same_shapes(got: Outcome, want: Outcome) -> bool:
    """Whether the results can be compared number by number; a list, word by word."""
    if want.listed and _whole_numbers(want):
        return got.listed and _whole_numbers(got)
    if len(got.results) != len(want.results):
        return False
    return all(
        isinstance(mine, Tensor)
        and mine.shape == right.shape
        and mine.dtype.is_floating_point == right.dtype.is_floating_point
        and (mine.dtype == torch.bool) == (right.dtype == torch.bool)
        for mine, right in zip(got.results, want.results, strict=True)
    )


def _whole_numbers(outcome: Outcome) -> bool:
    """Whether an outcome is a list of whole numbers, of any length."""
    return not outcome.error and all(
        isinstance(each, Tensor) and each.dim() == 0 and not each.is_floating_point()
        for each in outcome.results
    )


def _what(got: Outcome) -> str:
    """What an answer gave, in words."""
    if got.listed:
        return _("{count} results").format(count=len(got.results))
    only = got.results[0]
    if isinstance(only, Tensor):
        return _("one tensor")
    return _("a {type}").format(type=only.type)
