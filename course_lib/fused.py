"""What scaled dot-product attention does beside its four lines.

It refuses bad input, hides keys, and takes PyTorch's fused kernel when nobody asks for
the weights. Chapters 4 and 7 show these helpers.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

BLOCK = 128  # how many queries the fused path masks at a time


def masked_softmax(
    scores: Float[Tensor, "*batch Tq Tk"], mask: Tensor | None
) -> Float[Tensor, "*batch Tq Tk"]:
    """Softmax over the visible keys; a query that sees none gets zeros.

    The softmax of a row of -inf is 0/0 = NaN, and so is its gradient. Such a row is
    opened first and set to zero afterwards, so that no NaN ever comes into being.
    """
    if mask is None:
        return scores.softmax(dim=-1)  # (..., Tq, Tk)
    empty = _sees_nothing(mask)  # (..., Tq, 1)
    mask = _opened(mask, empty, scores.dtype)  # (..., Tq, Tk)
    if mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -math.inf)  # (..., Tq, Tk)
    else:
        scores = scores + mask  # (..., Tq, Tk)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)  # (..., Tq, Tk)


def _sees_nothing(mask: Tensor) -> Bool[Tensor, "*batch Tq 1"]:
    """Mark the queries to which a mask leaves no key."""
    visible = mask if mask.dtype == torch.bool else mask > -math.inf
    return ~visible.any(dim=-1, keepdim=True)  # (..., Tq, 1)


def _opened(mask: Tensor, empty: Tensor, dtype: torch.dtype) -> Tensor:
    """Open the empty rows of a mask; a float mask is brought to `dtype`, too.

    What is finite in the mask's own dtype stays finite in a smaller one.
    """
    if mask.dtype == torch.bool:
        return mask | empty  # (..., Tq, Tk)
    lowest = torch.finfo(dtype).min / 2
    finite = mask.clamp(min=lowest).to(dtype)  # (..., Tq, Tk)
    numbers = finite.masked_fill(mask == -math.inf, -math.inf)  # (..., Tq, Tk)
    return numbers.masked_fill(empty, 0.0)  # (..., Tq, Tk)


def with_limits(
    mask: Tensor | None, scores: Tensor, causal: bool, window: int | None
) -> Tensor | None:
    """Combine a mask with `causal` and `window`: a key must be visible in all."""
    query_len, key_len = scores.shape[-2:]
    queries = range(key_len - query_len, key_len)  # the last stands at the last key
    return _limited(mask, causal, window, queries, range(key_len), scores.device)


def _limited(
    mask: Tensor | None,
    causal: bool,
    window: int | None,
    queries: range,
    keys: range,
    device: torch.device,
) -> Tensor | None:
    """The same for a part of the scores: queries and keys at these positions."""
    if not causal and window is None:
        return mask
    row = torch.arange(queries.start, queries.stop, device=device)[:, None]  # (Tq, 1)
    column = torch.arange(keys.start, keys.stop, device=device)  # (Tk,)
    allowed = column <= row  # (Tq, Tk)
    if window is not None:
        allowed = allowed & (column > row - window)  # (Tq, Tk)
    if mask is None:
        return allowed
    if mask.dtype == torch.bool:
        return mask & allowed  # (..., Tq, Tk)
    return mask.masked_fill(~allowed, -math.inf)  # (..., Tq, Tk)


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    window: int | None,
    dropout: float,
) -> Float[Tensor, "*batch Tq d_v"]:
    """Attend without ever holding a (Tq, Tk) tensor, a mask included.

    The kernel itself knows plain and square causal attention. For all else the
    queries are taken BLOCK at a time, each block with the keys that it can see.
    """
    query_len, key_len = query.shape[-2], key.shape[-2]
    limited = window is not None or (causal and query_len > 1)
    if mask is None and window is None and (query_len == key_len or not limited):
        return _kernel(query, key, value, None, dropout, causal=limited)
    mask = None if mask is None else torch.atleast_2d(mask)  # (..., Tq|1, Tk|1)
    if mask is not None and mask.shape[-2] == 1 and not limited:
        return _kernel(query, key, value, mask, dropout)
    outputs = []
    for start in range(0, query_len, BLOCK):
        stop = min(start + BLOCK, query_len)
        queries = range(start + key_len - query_len, stop + key_len - query_len)
        keys = _reach(queries, key_len, limited, window)
        part = _part(mask, slice(start, stop), keys)  # (..., block|1, keys|1)
        part = _limited(part, limited, window, queries, keys, query.device)
        block = query[..., start:stop, :]  # (..., block, d_k)
        near_keys = key[..., keys.start : keys.stop, :]  # (..., keys, d_k)
        near_values = value[..., keys.start : keys.stop, :]  # (..., keys, d_v)
        outputs.append(_kernel(block, near_keys, near_values, part, dropout))
    return torch.cat(outputs, dim=-2)  # (..., Tq, d_v)


def _reach(queries: range, key_len: int, limited: bool, window: int | None) -> range:
    """The keys that some of these queries can see, one at least."""
    if not limited:
        return range(key_len)
    stop = max(queries.stop, 1)
    start = 0 if window is None else max(queries.start - window + 1, 0)
    return range(min(start, stop - 1), stop)


def _part(mask: Tensor | None, rows: slice, keys: range) -> Tensor | None:
    """Cut rows and columns out of a mask; what is 1 wide stays."""
    if mask is None:
        return None
    mask = mask if mask.shape[-2] == 1 else mask[..., rows, :]
    return mask if mask.shape[-1] == 1 else mask[..., keys.start : keys.stop]


def _kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    *,
    causal: bool = False,
) -> Float[Tensor, "*batch Tq d_v"]:
    """Call PyTorch's fused kernel in the one form that is fused everywhere.

    It wants four dimensions and one width: leading dimensions are folded into two,
    and the narrower of keys and values is filled up with zeros.
    """
    d_k, d_v = key.shape[-1], value.shape[-1]
    batch = query.shape[:-2]
    if d_k < d_v:
        query, key = F.pad(query, (0, d_v - d_k)), F.pad(key, (0, d_v - d_k))
    if d_v < d_k:
        value = F.pad(value, (0, d_k - d_v))
    empty = None
    if mask is not None:
        empty = _sees_nothing(mask)  # (..., Tq, 1)
        mask = _folded(_opened(mask, empty, query.dtype), batch)  # (B, H, Tq, Tk)
    output = F.scaled_dot_product_attention(
        _folded(query, batch), _folded(key, batch), _folded(value, batch),
        mask, dropout, causal, scale=1 / math.sqrt(d_k),
    )[..., :d_v]  # (B, H, Tq, d_v)  # fmt: skip
    output = output.reshape(*batch, *output.shape[-2:])  # (..., Tq, d_v)
    return output if empty is None else output.masked_fill(empty, 0.0)


def _folded(x: Tensor, batch: torch.Size) -> Tensor:
    """Bring the leading dimensions, `batch`, of a tensor or a mask to two."""
    x = x[(None,) * (len(batch) + 2 - x.dim())]  # (*batch, T, d)
    if len(batch) > 2:
        return x.expand(*batch, -1, -1).flatten(0, len(batch) - 2)  # (B, H, T, d)
    ones = (1,) * (2 - len(batch))
    return x.reshape(*x.shape[:-2], *ones, *x.shape[-2:])  # (B, H, T, d)


def check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    window: int | None,
) -> None:
    """Refuse what would fail later, or worse, go through as something else."""
    shapes = [tuple(x.shape) for x in (query, key, value)]
    if min(x.dim() for x in (query, key, value)) < 2:
        raise ValueError(f"query, key and value must be (..., T, d), got {shapes}")
    if not query.is_floating_point():
        raise ValueError(f"query must hold floating-point numbers, got {query.dtype}")
    one_width = query.shape[-1] == key.shape[-1]
    one_value_a_key = key.shape[-2] == value.shape[-2]
    one_batch = query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    if not (one_width and one_value_a_key and one_batch):
        raise ValueError(
            f"query {shapes[0]}, key {shapes[1]} and value {shapes[2]} do not fit: "
            f"they must be (..., Tq, d_k), (..., Tk, d_k) and (..., Tk, d_v), "
            f"with equal leading dimensions"
        )
    if window is not None and window < 1:
        raise ValueError(f"a window holds at least 1 token, got {window}")
    if mask is not None:
        _check_mask(mask, (*query.shape[:-1], key.shape[-2]))


def _check_mask(mask: Tensor, scores_shape: tuple[int, ...]) -> None:
    """Refuse a mask of the wrong shape or kind."""
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ValueError(
            f"mask is {mask.dtype}: make it bool, True = may attend, "
            f"or float, added to the scores"
        )
    ends = scores_shape[len(scores_shape) - mask.dim() :]
    if mask.dim() > len(scores_shape) or any(
        size not in (1, want) for size, want in zip(mask.shape, ends, strict=True)
    ):
        raise ValueError(
            f"mask {tuple(mask.shape)} does not broadcast to the scores {scores_shape}"
        )
    readable = type(mask) is Tensor and not mask.is_meta
    if mask.dtype == torch.bool or not readable or torch.compiler.is_compiling():
        return
    ones = mask == 1
    if bool(ones.any()) and bool((ones | (mask == 0)).all()):
        raise ValueError(
            "this float mask holds only 0 and 1: it would be added to the scores and "
            "hide nothing; make it bool, or use 0 and -inf"
        )
