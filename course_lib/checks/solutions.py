"""One right answer to each exercise, as short as it can be said.

`checks.<id>.solution()` shows these functions.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
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


def teacher_forcing(
    target: Int[Tensor, "B T"], bos: int
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B T"]]:
    """Let the decoder read, at each place, the words before the one it is to write."""
    first = torch.full_like(target[:, :1], bos)  # (B, 1)
    return torch.cat([first, target[:, :-1]], dim=1), target  # (B, T), (B, T)


def masked_loss(
    logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"], pad: int
) -> Float[Tensor, ""]:
    """Average -log p(label) over the labels that are not padding."""
    real = labels != pad  # (B, T)
    return F.cross_entropy(logits[real], labels[real])  # ()


def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """Climb evenly for `warmup` steps, then fall with the root of the step."""
    falling = step**-0.5
    climbing = step * warmup**-1.5
    return float(d_model**-0.5 * min(falling, climbing))


def greedy_decode(
    next_logits: Callable[[list[int]], Float[Tensor, "V"]],
    bos: int,
    eos: int,
    max_len: int,
) -> list[int]:
    """Append the most likely word until it is eos, or until there are enough."""
    tokens: list[int] = []
    for _ in range(max_len):
        logits = next_logits([bos, *tokens])  # (V,)
        tokens.append(int(logits.argmax()))
        if tokens[-1] == eos:
            break
    return tokens


def attention_flops(length: int, d_model: int, num_heads: int) -> int:
    """Count the two matrix products of every head, a multiply-add as 2."""
    d_k = d_model // num_heads
    scores = 2 * length * length * d_k  # QK^T: (T, d_k) by (d_k, T)
    mixing = 2 * length * length * d_k  # weights · V: (T, T) by (T, d_k)
    return num_heads * (scores + mixing)


def kv_cache_bytes(
    layers: int,
    kv_heads: int,
    head_dim: int,
    length: int,
    batch: int,
    bytes_per_value: int,
) -> int:
    """Count a key and a value for every token, in every head of every layer."""
    tokens = batch * length
    numbers = 2 * layers * kv_heads * head_dim * tokens  # 2: keys and values
    return numbers * bytes_per_value


def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every row see itself and the `window - 1` tokens before it."""
    past = torch.ones(length, length, dtype=torch.bool).tril()  # (length, length)
    return past & ~past.tril(-window)  # (length, length)


def blockwise_attention(
    q: Float[Tensor, "Tq d_k"],
    k: Float[Tensor, "Tk d_k"],
    v: Float[Tensor, "Tk d_v"],
    block_size: int,
) -> Float[Tensor, "Tq d_v"]:
    """Attend to one block of keys at a time, and correct the sums as the top grows."""
    query = q / math.sqrt(q.shape[1])  # (Tq, d_k)
    top = torch.full_like(q[:, :1], -math.inf)  # (Tq, 1), the largest score so far
    total = output = torch.zeros_like(top)  # (Tq, 1); the output grows to (Tq, d_v)
    for keys, values in zip(k.split(block_size), v.split(block_size), strict=True):
        scores = query @ keys.T  # (Tq, block_size)
        new_top = torch.maximum(top, scores.amax(dim=1, keepdim=True))  # (Tq, 1)
        powers = (scores - new_top).exp()  # (Tq, block_size)
        keep = (top - new_top).exp()  # (Tq, 1), what the old sums are worth now
        total = keep * total + powers.sum(dim=1, keepdim=True)  # (Tq, 1)
        output = keep * output + powers @ values  # (Tq, d_v)
        top = new_top
    return output / total  # (Tq, d_v)


def linear_attention(
    q: Float[Tensor, "T d"], k: Float[Tensor, "T d"], v: Float[Tensor, "T d_v"]
) -> Float[Tensor, "T d_v"]:
    """Carry two running sums, of keys and of keys times values, instead of scores."""
    query, key = F.elu(q) + 1, F.elu(k) + 1  # (T, d)
    pairs = key[:, :, None] * v[:, None, :]  # (T, d, d_v)
    output = (query[:, :, None] * pairs.cumsum(dim=0)).sum(dim=1)  # (T, d_v)
    total = (query * key.cumsum(dim=0)).sum(dim=1, keepdim=True)  # (T, 1)
    return output / total  # (T, d_v)
