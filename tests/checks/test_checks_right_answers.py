"""A right answer passes, however it is written."""

import pytest
import torch
from right_answers import RIGHT

from course_lib import checks

ANSWERS = [
    pytest.param(name, style, id=f"{name}: {style}")
    for name, answers in RIGHT.items()
    for style in answers
]


@pytest.mark.parametrize("name", checks.EXERCISES)
def test_every_exercise_has_six_right_answers(name: str) -> None:
    assert len(RIGHT[name]) >= 6


@pytest.mark.parametrize("name", checks.EXERCISES)
@pytest.mark.parametrize("seed", range(5))
def test_the_solution_passes_with_every_seed(name: str, seed: int) -> None:
    exercise = checks.EXERCISES[name]
    report = exercise.check(exercise.right_answer, seed=seed)
    assert report.status == "passed", str(report)


@pytest.mark.parametrize(("name", "style"), ANSWERS)
def test_right_answer(name: str, style: str) -> None:
    report = checks.EXERCISES[name].check(RIGHT[name][style])
    assert report.passed, str(report)


@pytest.mark.parametrize(("name", "style"), ANSWERS)
def test_right_answer_in_float64(name: str, style: str) -> None:
    report = checks.EXERCISES[name].check(RIGHT[name][style], dtype=torch.float64)
    assert report.passed, str(report)


@pytest.mark.parametrize(("name", "style"), ANSWERS)
def test_right_answer_after_set_default_dtype(name: str, style: str) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        report = checks.EXERCISES[name].check(RIGHT[name][style], seed=1)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert report.passed, str(report)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_the_solution_passes_in_half_precision(name: str, dtype: torch.dtype) -> None:
    exercise = checks.EXERCISES[name]
    report = exercise.check(exercise.right_answer, dtype=dtype)
    assert report.passed, str(report)
