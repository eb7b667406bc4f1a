"""References: explicit loops in float64 that skip hidden keys, and nothing clever."""

import itertools
import math

import torch
from torch import Tensor


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    visible: Tensor | None = None,
    added: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention, one number at a time.

    `visible` (..., Tq, Tk) says which keys are looked at; `added` is added to the
    scores of those. A query that sees nothing keeps its row of zeros.
    """
    batch, query_len, d_k = query.shape[:-2], query.shape[-2], query.shape[-1]
    key_len, d_v = value.shape[-2:]
    shape = (*batch, query_len, key_len)
    if visible is None:
        visible = torch.ones(shape, dtype=torch.bool)
    visible = visible.expand(shape)
    added = torch.zeros(shape) if added is None else added.expand(shape)
    output = torch.zeros(*batch, query_len, d_v, dtype=torch.float64)
    weights = torch.zeros(*shape, dtype=torch.float64)
    for where in itertools.product(*(range(size) for size in batch)):
        for i in range(query_len):
            keys = [j for j in range(key_len) if visible[(*where, i, j)]]
            scores = {}
            for j in keys:
                dot = sum(
                    float(query[(*where, i, c)]) * float(key[(*where, j, c)])
                    for c in range(d_k)
                )
                scores[j] = dot / math.sqrt(d_k) + float(added[(*where, i, j)])
            top = max(scores.values(), default=0.0)
            powers = {j: math.exp(score - top) for j, score in scores.items()}
            for j in keys:
                weight = powers[j] / sum(powers.values())
                weights[(*where, i, j)] = weight
                for c in range(d_v):
                    output[(*where, i, c)] += weight * float(value[(*where, j, c)])
    return output, weights


def causal(query_len: int, key_len: int, window: int | None = None) -> Tensor:
    """Which keys a causal query sees: those up to its own, or the last `window`."""
    visible = torch.zeros(query_len, key_len, dtype=torch.bool)
    for i in range(query_len):
        own = i + key_len - query_len  # the last query stands at the last key
        for j in range(key_len):
            visible[i, j] = j <= own and (window is None or own - j < window)
    return visible


def multi_head(module: torch.nn.Module, x: Tensor, visible: Tensor) -> Tensor:
    """Self-attention of `MultiHeadAttention`, head by head, in float64."""
    width = x.shape[-1] // module.num_heads
    share = module.num_heads // module.num_kv_heads
    double = x.detach().double()

    def project(linear: torch.nn.Linear, head: int) -> Tensor:
        rows = slice(head * width, (head + 1) * width)
        weight = linear.weight.detach().double()[rows]
        bias = 0.0 if linear.bias is None else linear.bias.detach().double()[rows]
        return double @ weight.T + bias

    pieces = []
    for head in range(module.num_heads):
        query = project(module.to_query, head)
        key = project(module.to_key, head // share)
        value = project(module.to_value, head // share)
        pieces.append(attention(query, key, value, visible)[0])
    joined = torch.cat(pieces, dim=-1)
    bias = module.to_output.bias
    output = joined @ module.to_output.weight.detach().double().T
    return output if bias is None else output + bias.double()


def sinusoid(position: int, channel: int, width: int) -> float:
    """One entry of the sinusoidal table, by the formula of the paper."""
    angle = position / 10000 ** (2 * (channel // 2) / width)
    return math.sin(angle) if channel % 2 == 0 else math.cos(angle)
