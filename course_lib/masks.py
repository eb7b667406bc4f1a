"""Masks: who may attend to whom. One convention everywhere: True = may attend."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(
    lengths: Int[Tensor, "B"], max_len: int | None = None
) -> Bool[Tensor, "B max_len"]:
    """Mark the real tokens of sentences that are padded on the right.

    Hand it to attention as `padding_mask(lengths)[:, None, None, :]`: it hides keys
    (columns) from every query, in every head.

    Args:
        lengths: (B,), how many real tokens each sentence has, 0 allowed.
        max_len: how many tokens wide the batch is; the longest sentence if not given.

    Returns:
        (B, max_len), True at real tokens, False at padding.

    Raises:
        ValueError: when lengths are not a row of integers from 0 to max_len.
    """
    _check_lengths(lengths, max_len)
    if max_len is None:
        max_len = int(lengths.max())
    positions = torch.arange(max_len, device=lengths.device)  # (max_len,)
    return positions < lengths[:, None]  # (B, max_len)


def causal_mask(
    query_len: int,
    key_len: int | None = None,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "query_len key_len"]:
    """Let each query see the keys up to its own position, and none after it.

    The last query sees the last key. With a cache there are more keys than queries:
    the queries are the newest tokens, and they see all that came before.

    Args:
        query_len: how many queries there are.
        key_len: how many keys there are; as many as queries if not given.
        device: where to make the mask.

    Returns:
        (query_len, key_len), True where the row may attend to the column.

    Raises:
        ValueError: when a length is negative.
    """
    key_len = query_len if key_len is None else key_len
    if query_len < 0 or key_len < 0:
        raise ValueError(f"no mask of {query_len} queries and {key_len} keys")
    rows = torch.arange(query_len, device=device)[:, None]  # (query_len, 1)
    columns = torch.arange(key_len, device=device)  # (key_len,)
    return columns <= rows + (key_len - query_len)  # (query_len, key_len)


def sliding_window_mask(
    length: int, window: int, device: torch.device | str | None = None
) -> Bool[Tensor, "length length"]:
    """Let each query see its own position and the `window - 1` before it.

    Args:
        length: how many tokens there are.
        window: how many keys a query may see at most, its own included.
        device: where to make the mask.

    Returns:
        (length, length), True where the row may attend to the column.

    Raises:
        ValueError: when the window is smaller than 1.

    Source: Beltagy et al. 2020, section 3.1, here one-sided.
    """
    if window < 1:
        raise ValueError(f"a window holds at least 1 token, got {window}")
    rows = torch.arange(length, device=device)[:, None]  # (length, 1)
    columns = torch.arange(length, device=device)  # (length,)
    return (columns <= rows) & (columns > rows - window)  # (length, length)


def _check_lengths(lengths: Tensor, max_len: int | None) -> None:
    """Refuse lengths that are no whole numbers, or that the batch cannot hold."""
    if lengths.dim() != 1 or lengths.dtype not in (torch.int64, torch.int32):
        raise ValueError(
            f"lengths must be integers of shape (B,), "
            f"got {lengths.dtype} of shape {tuple(lengths.shape)}"
        )
    # Numbers can be looked at only where there are some, and not while compiling.
    if torch.compiler.is_compiling() or type(lengths) is not Tensor or lengths.is_meta:
        return
    longest = int(lengths.max()) if max_len is None else max_len
    for length in lengths.tolist():
        if not 0 <= length <= longest:
            raise ValueError(f"lengths must be from 0 to {longest}, got {length}")
