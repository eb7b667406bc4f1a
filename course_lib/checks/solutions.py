"""One right answer to each exercise, as short as it can be said.

`checks.<id>.solution()` shows these functions.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def additive_scores(
    query: Float[Tensor, "B Dq"],
    keys: Float[Tensor, "B T Dk"],
    W_q: Float[Tensor, "A Dq"],
    W_k: Float[Tensor, "A Dk"],
    v: Float[Tensor, "A"],
) -> Float[Tensor, "B T"]:
    """Score every key by v · tanh(W_q query + W_k key)."""
    projected_query = query @ W_q.T  # (B, A)
    projected_keys = keys @ W_k.T  # (B, T, A)
    hidden = torch.tanh(projected_query[:, None, :] + projected_keys)  # (B, T, A)
    return hidden @ v  # (B, T)


def context_vector(
    weights: Float[Tensor, "B T"], values: Float[Tensor, "B T Dv"]
) -> Float[Tensor, "B Dv"]:
    """Add up the values, each multiplied by its weight."""
    return (weights[:, :, None] * values).sum(dim=1)  # (B, Dv)


def project_qkv(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D d_k"],
    W_k: Float[Tensor, "D d_k"],
    W_v: Float[Tensor, "D d_v"],
) -> tuple[
    Float[Tensor, "B T d_k"], Float[Tensor, "B T d_k"], Float[Tensor, "B T d_v"]
]:
    """Give every token its query, its key and its value."""
    return x @ W_q, x @ W_k, x @ W_v


def soft_lookup(
    query: Float[Tensor, "d"],
    keys: Float[Tensor, "n d"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, "d_v"]:
    """Look a query up among the keys, and mix the values by how well they match."""
    scores = keys @ query  # (n,)
    weights = scores.softmax(dim=0)  # (n,)
    return weights @ values  # (d_v,)


def softmax(x: Float[Tensor, "..."], dim: int = -1) -> Float[Tensor, "..."]:
    """Turn scores into weights that are positive and add up to 1 along `dim`."""
    top = x.amax(dim=dim, keepdim=True)
    powers = (x - top).exp()  # at most 1, so nothing overflows
    return powers / powers.sum(dim=dim, keepdim=True)


def scaled_dot_product_attention(
    q: Float[Tensor, "... Tq d_k"],
    k: Float[Tensor, "... Tk d_k"],
    v: Float[Tensor, "... Tk d_v"],
) -> tuple[Float[Tensor, "... Tq d_v"], Float[Tensor, "... Tq Tk"]]:
    """Score, scale, softmax over the keys, mix the values."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., Tq, Tk)
    weights = scores.softmax(dim=-1)  # (..., Tq, Tk)
    return weights @ v, weights  # (..., Tq, d_v), (..., Tq, Tk)


def padding_mask(lengths: Int[Tensor, "B"], max_len: int) -> Bool[Tensor, "B max_len"]:
    """Mark the real tokens of each sentence."""
    positions = torch.arange(max_len, device=lengths.device)  # (max_len,)
    return positions[None, :] < lengths[:, None]  # (B, max_len)


def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Let every row see itself and what stands before it."""
    return torch.ones(length, length, dtype=torch.bool).tril()  # (length, length)


def masked_attention(
    q: Float[Tensor, "... Tq d_k"],
    k: Float[Tensor, "... Tk d_k"],
    v: Float[Tensor, "... Tk d_v"],
    mask: Bool[Tensor, "..."],
) -> tuple[Float[Tensor, "... Tq d_v"], Float[Tensor, "... Tq Tk"]]:
    """Attend to the visible keys only; a row that sees nothing gives zeros."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., Tq, Tk)
    scores = scores.masked_fill(~mask, -math.inf)  # (..., Tq, Tk)
    empty = ~mask.any(dim=-1, keepdim=True)  # (..., Tq, 1)
    weights = scores.masked_fill(empty, 0.0).softmax(dim=-1)  # (..., Tq, Tk)
    weights = weights.masked_fill(empty, 0.0)  # (..., Tq, Tk)
    return weights @ v, weights  # (..., Tq, d_v), (..., Tq, Tk)


def sinusoidal_encoding(length: int, d_model: int) -> Float[Tensor, "length d_model"]:
    """Give every position its sines (even columns) and cosines (odd columns)."""
    position = torch.arange(length, dtype=torch.float64)[:, None]  # (length, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # (columns,)
    angles = position / 10000 ** (even / d_model)  # (length, columns)
    encoding = torch.zeros(length, d_model)  # (length, d_model)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()[:, : d_model // 2]
    return encoding


def add_positions(
    x: Float[Tensor, "B T D"], encoding: Float[Tensor, "L D"]
) -> Float[Tensor, "B T D"]:
    """Add row t of the encoding to token t of every sentence."""
    return x + encoding[: x.shape[1]]  # (B, T, D)


def shift_matrix(k: int, d_model: int) -> Float[Tensor, "d_model d_model"]:
    """Turn each sine-cosine pair by k steps of its own clock hand."""
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)  # (d_model, d_model)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix.float()


def split_heads(x: Float[Tensor, "B T D"], num_heads: int) -> Float[Tensor, "B H T d"]:
    """Cut the last axis into heads, then bring the heads before the time."""
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)  # (B, T, H, d)
    return parts.transpose(1, 2)  # (B, H, T, d)


def merge_heads(x: Float[Tensor, "B H T d"]) -> Float[Tensor, "B T D"]:
    """Bring the time back before the heads, then join the heads."""
    return x.transpose(1, 2).flatten(start_dim=2)  # (B, T, H * d)


def multi_head_attention(
    x: Float[Tensor, "B T D"],
    W_q: Float[Tensor, "D D"],
    W_k: Float[Tensor, "D D"],
    W_v: Float[Tensor, "D D"],
    W_o: Float[Tensor, "D D"],
    num_heads: int,
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "B T D"]:
    """Project, split, attend in every head, merge, project."""
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)
    q, k, v = (split_heads(part, num_heads) for part in project_qkv(x, W_q, W_k, W_v))
    output, _ = masked_attention(q, k, v, mask)  # (B, H, T, d)
    return merge_heads(output) @ W_o  # (B, T, D)
