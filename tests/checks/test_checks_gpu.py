"""What the owner of a GPU should check: every exercise, on the learner's own device."""

import pytest
import torch

from course_lib import checks


@pytest.mark.gpu
@pytest.mark.parametrize("device", ["cuda", "mps"])
@pytest.mark.parametrize("name", list(checks.EXERCISES))
def test_a_right_answer_passes_on_the_gpu(name: str, device: str) -> None:
    available = (
        torch.cuda.is_available()
        if device == "cuda"
        else torch.backends.mps.is_available()
    )
    if not available:
        pytest.skip(f"no {device} device")
    exercise = checks.EXERCISES[name]
    report = exercise.check(exercise.right_answer, device=device)
    assert report, str(report)
