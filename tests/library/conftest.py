"""Fixtures of the library's tests."""

import pytest
import torch


@pytest.fixture(autouse=True)
def seed() -> None:
    """Start each test from the same random state."""
    torch.manual_seed(0)


@pytest.fixture(
    params=[
        "cpu",
        pytest.param("cuda", marks=pytest.mark.gpu),
        pytest.param("mps", marks=pytest.mark.gpu),
    ]
)
def device(request: pytest.FixtureRequest) -> str:
    """Each device that this machine has; `make gpu` runs those that are not a CPU."""
    name = request.param
    if name != "cpu" and not getattr(torch.backends, name, torch.cuda).is_built():
        pytest.skip(f"this torch is built without {name}")
    if name == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    if name == "mps" and not torch.backends.mps.is_available():
        pytest.skip("no MPS device")
    return name
