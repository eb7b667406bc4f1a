"""Positions: sinusoidal, learned and rotary. All are added or applied from outside;
attention itself does not know the order of its tokens."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

BASE = 10_000.0


def sinusoidal_encoding(
    length: int,
    d_model: int,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "length d_model"]:
    """Give each position a row of sines and cosines, from fast to slow.

    Columns 2i and 2i + 1 are the sine and the cosine of
    position / 10000^(2i / d_model). An odd d_model drops the last cosine.

    Args:
        length: how many positions; the first row is position 0.
        d_model: width of a row.
        device, dtype: of the result; the angles are computed in float64.

    Raises:
        ValueError: when the length is negative or the width below 1.

    Source: Vaswani et al. 2017, section 3.5.
    """
    if length < 0 or d_model < 1:
        raise ValueError(f"no encoding of length {length} and width {d_model}")
    angles = _angles(range(length), d_model, device)  # (length, ceil(d_model / 2))
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (length, pairs, 2)
    table = pairs.flatten(-2)[:, :d_model]  # (length, d_model)
    return table.to(torch.get_default_device() if device is None else device, dtype)


class SinusoidalPositions(nn.Module):
    """Add the sinusoidal encoding to the tokens; any length, nothing to learn.

    Args:
        d_model: width D of the tokens.
        dropout: probability that an entry of the sum is dropped, in training only.
    """

    def __init__(self, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.d_model = d_model
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "B T D"], offset: int = 0) -> Tensor:
        """Add positions offset, offset + 1, … to x (B, T, D).

        Raises:
            ValueError: when x is not (B, T, D), or the offset is negative.
        """
        _check_tokens(x, self.d_model, offset)
        length = offset + x.shape[1]
        table = sinusoidal_encoding(
            length, self.d_model, device=x.device, dtype=x.dtype
        )  # (offset + T, D)
        output: Tensor = self.dropout(x + table[offset:])  # (B, T, D)
        return output


class LearnedPositions(nn.Module):
    """Add a learned vector for each position.

    Args:
        max_len: how many positions there are to learn.
        d_model: width D of the tokens.

    Source: Gehring et al. 2017, section 3.1.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x: Float[Tensor, "B T D"], offset: int = 0) -> Tensor:
        """Add positions offset, offset + 1, … to x (B, T, D).

        Raises:
            ValueError: when x is not (B, T, D), or reaches past max_len.
        """
        max_len, d_model = self.table.shape
        _check_tokens(x, d_model, offset)
        end = offset + x.shape[1]
        if end > max_len:
            raise ValueError(
                f"sequence length {x.shape[1]} at offset {offset} "
                f"exceeds max_len {max_len}"
            )
        return x + self.table[offset:end]  # (B, T, D)


class RotaryPositions(nn.Module):
    """Turn each pair of channels by an angle that grows with the position.

    The score of a turned query and a turned key depends on their distance alone.
    The two layouts differ in which channels make a pair: "half" pairs channel i with
    i + head_dim / 2 (GPT-NeoX, Hugging Face's Llama), "pairs" 2i with 2i + 1 (the
    paper, Meta's Llama). Each is right with weights that were trained with it.

    Args:
        head_dim: width of a head, even.
        layout: "half" or "pairs".

    Raises:
        ValueError: when the width is odd or the layout unknown.

    Source: Su et al. 2021, section 3.2.2, equation 15.
    """

    def __init__(self, head_dim: int, layout: str = "half") -> None:
        super().__init__()
        if head_dim < 2 or head_dim % 2:
            raise ValueError(f"head_dim must be even, to turn pairs, got {head_dim}")
        if layout not in ("half", "pairs"):
            raise ValueError(f'layout must be "half" or "pairs", got "{layout}"')
        self.head_dim, self.layout = head_dim, layout

    def forward(self, x: Float[Tensor, "*batch T d_k"], offset: int = 0) -> Tensor:
        """Turn x (..., T, head_dim), whose first token stands at `offset`.

        Raises:
            ValueError: when the width of x is not head_dim, or the offset is negative.
        """
        if x.dim() < 2 or x.shape[-1] != self.head_dim or offset < 0:
            raise ValueError(
                f"x must be (..., T, {self.head_dim}) at an offset of 0 or more, "
                f"got {tuple(x.shape)} at {offset}"
            )
        positions = range(offset, offset + x.shape[-2])
        angles = _angles(positions, self.head_dim, x.device)  # (T, d_k / 2)
        cos = angles.cos().to(x.device, x.dtype)  # (T, d_k / 2)
        sin = angles.sin().to(x.device, x.dtype)  # (T, d_k / 2)
        half = self.layout == "half"
        a, b = x.chunk(2, -1) if half else (x[..., 0::2], x[..., 1::2])
        turned = a * cos - b * sin, a * sin + b * cos  # (..., T, d_k / 2) each
        return torch.cat(turned, -1) if half else torch.stack(turned, -1).flatten(-2)


def _angles(
    positions: range, width: int, device: torch.device | str | None
) -> Float[Tensor, "T pairs"]:
    """Angles position / 10000^(2i / width) in float64, one column a pair.

    Apple's GPU has no float64: there the CPU computes them.
    """
    device = torch.get_default_device() if device is None else torch.device(device)
    exact = "cpu" if device.type == "mps" else device
    real = {"dtype": torch.float64, "device": exact}
    position = torch.arange(positions.start, positions.stop, **real)  # type: ignore[call-overload]
    exponent = torch.arange(0, width, 2, **real) / width  # type: ignore[call-overload]
    angles: Tensor = position[:, None] / BASE**exponent  # (T, pairs)
    return angles


def _check_tokens(x: Tensor, d_model: int, offset: int) -> None:
    if x.dim() != 3 or x.shape[-1] != d_model or offset < 0:
        raise ValueError(
            f"x must be (B, T, {d_model}) at an offset of 0 or more, "
            f"got {tuple(x.shape)} at {offset}"
        )
