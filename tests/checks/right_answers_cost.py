"""Right answers to the exercises of chapter 7, in many styles."""

import math

import numpy
import torch
import torch.nn.functional as F
from torch import nn

# attention_flops --------------------------------------------------------------


def flops_by_matrix_product(length, d_model, num_heads):
    def product(a, b, c):
        return 2 * a * b * c

    d_k = d_model // num_heads
    one = product(length, d_k, length) + product(length, length, d_k)
    return one * num_heads


def flops_by_multiplications_and_additions(length, d_model, num_heads):
    multiplications = additions = 0
    for _product in ("scores", "mixing"):
        multiplications += length * length * d_model
        additions += length * length * d_model
    return multiplications + additions


def flops_head_by_head(length, d_model, num_heads):
    return sum(4 * length**2 * (d_model // num_heads) for _ in range(num_heads))


FLOPS = {
    "in one line": lambda T, D, H: 4 * T * T * D,
    "a power": lambda T, D, H: 4 * T**2 * D,
    "by matrix product": flops_by_matrix_product,
    "multiplications and additions": flops_by_multiplications_and_additions,
    "head by head": flops_head_by_head,
    "math.prod": lambda length, d_model, num_heads: math.prod(
        [2, 2, length**2, d_model]
    ),
    "a 0-dim tensor": lambda T, D, H: torch.tensor(T) ** 2 * D * 4,
    "a NumPy number": lambda T, D, H: numpy.int64(T) ** 2 * D * 4,
    "int of a float": lambda T, D, H: int(4 * T * T * H * (D / H)),
    "heads that cancel": lambda T, D, H: H * 2 * (2 * T * T * D) // H,
}

# kv_cache_bytes ---------------------------------------------------------------


def cache_by_tensor(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    key = batch * kv_heads * length * head_dim * bytes_per_value
    value = key
    return layers * (key + value)


def cache_layer_by_layer(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    total = 0
    for _ in range(layers):
        total += 2 * batch * length * (kv_heads * head_dim) * bytes_per_value
    return total


def cache_from_meta_tensors(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    key = torch.empty(batch, kv_heads, length, head_dim, device="meta")
    return 2 * layers * key.numel() * bytes_per_value


CACHE = {
    "in one line": lambda layers, kv_heads, head_dim, length, batch, b: (
        2 * layers * kv_heads * head_dim * length * batch * b
    ),
    "by tensor": cache_by_tensor,
    "layer by layer": cache_layer_by_layer,
    "meta tensors": cache_from_meta_tensors,
    "math.prod": lambda *sizes: 2 * math.prod(sizes),
    "shifted by one bit": lambda *sizes: math.prod(sizes) << 1,
    "a tensor of sizes": lambda *sizes: torch.tensor(sizes).prod() * 2,
    "NumPy": lambda *sizes: 2 * numpy.prod(numpy.array(sizes, dtype=numpy.int64)),
    "bits": lambda *sizes: math.prod(sizes[:5]) * 2 * (8 * sizes[5]) // 8,
}

# sliding_window_mask ----------------------------------------------------------


def window_loops(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(max(0, i - window + 1), i + 1):
            mask[i, j] = True
    return mask


def window_slices(length, window):
    mask = torch.zeros(length, length)
    for i in range(length):
        mask[i, max(0, i - window + 1) : i + 1] = 1
    return mask.bool()


def window_broadcast(length, window):
    i, j = torch.arange(length)[:, None], torch.arange(length)
    return (j <= i) & (j > i - window)


def window_of_diagonals(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for back in range(min(window, length)):
        mask |= torch.diag(torch.ones(length - back, dtype=torch.bool), -back)
    return mask


class Window(nn.Module):
    def forward(self, length, window):
        return torch.ones(length, length).tril().triu(1 - window).bool()


WINDOW = {
    "loops": window_loops,
    "slices of floats": window_slices,
    "broadcasting": window_broadcast,
    "diagonals": window_of_diagonals,
    "module with tril and triu": Window(),
    "two triangles": lambda n, w: torch.ones(n, n).tril().ne(torch.ones(n, n).tril(-w)),
    "triangles subtracted": lambda n, w: (
        torch.ones(n, n, dtype=torch.int).tril()
        - torch.ones(n, n, dtype=torch.int).tril(-w)
    ).bool(),
    "a range by Python": lambda n, w: torch.tensor(
        [[0 <= i - j < w for j in range(n)] for i in range(n)]
    ),
    "NumPy": lambda n, w: torch.from_numpy(
        numpy.tri(n, dtype=bool) & ~numpy.tri(n, k=-w, dtype=bool)
    ),
    "hidden ones inverted": lambda n, w: (
        ~(
            torch.ones(n, n, dtype=torch.bool).triu(1)
            | torch.ones(n, n, dtype=torch.bool).tril(-w)
        )
    ),
}

# blockwise_attention ----------------------------------------------------------


def block_slices(q, k, v, block_size):
    """The textbook loop, with a division at the end."""
    scale = 1 / math.sqrt(q.shape[-1])
    m = torch.full((len(q), 1), -torch.inf, dtype=q.dtype)
    l = torch.zeros_like(m)  # noqa: E741
    acc = torch.zeros(len(q), v.shape[1], dtype=q.dtype)
    for start in range(0, len(k), block_size):
        s = (q @ k[start : start + block_size].T) * scale
        new = torch.maximum(m, s.max(dim=-1, keepdim=True).values)
        p = torch.exp(s - new)
        alpha = torch.exp(m - new)
        l = l * alpha + p.sum(-1, keepdim=True)  # noqa: E741
        acc = acc * alpha + p @ v[start : start + block_size]
        m = new
    return acc / l


def block_two_passes(q, k, v, block_size):
    """The maximum first, then the sums: scores are computed twice."""
    q = q / q.shape[1] ** 0.5
    top = torch.stack([(q @ b.T).amax(1) for b in k.split(block_size)]).amax(0)
    total = output = 0
    for keys, values in zip(k.split(block_size), v.split(block_size), strict=True):
        powers = (q @ keys.T - top[:, None]).exp()
        total, output = total + powers.sum(1), output + powers @ values
    return output / total[:, None]


def block_logsumexp(q, k, v, block_size):
    """Softmax of each block, merged by the weights of the blocks."""
    parts, sums = [], []
    for keys, values in zip(k.split(block_size), v.split(block_size), strict=True):
        scores = q @ keys.T / math.sqrt(q.shape[1])
        parts.append(scores.softmax(-1) @ values)
        sums.append(scores.logsumexp(-1))
    weights = torch.stack(sums).softmax(0)
    return (weights[..., None] * torch.stack(parts)).sum(0)


def block_logaddexp(q, k, v, block_size):
    """Two results merged at a time."""
    output = log_total = None
    for keys, values in zip(
        k.chunk(-(-len(k) // block_size)),
        v.chunk(-(-len(k) // block_size)),
        strict=True,
    ):
        scores = q @ keys.T / math.sqrt(q.shape[1])
        part, new = scores.softmax(-1) @ values, scores.logsumexp(-1, keepdim=True)
        if output is None:
            output, log_total = part, new
        else:
            both = torch.logaddexp(log_total, new)
            output = (log_total - both).exp() * output + (new - both).exp() * part
            log_total = both
    return output


def block_key_by_key(q, k, v, block_size):
    """One key at a time, which never holds more."""
    top = q.new_full((len(q),), -math.inf)
    total, output = q.new_zeros(len(q)), q.new_zeros(len(q), v.shape[1])
    for key, value in zip(k, v, strict=True):
        score = q @ key / math.sqrt(len(key))
        new = torch.maximum(top, score)
        keep, power = (top - new).exp(), (score - new).exp()
        total = keep * total + power
        output = keep[:, None] * output + power[:, None] * value
        top = new
    return output / total[:, None]


def block_query_by_query(q, k, v, block_size):
    """Queries one by one, and for each the keys in blocks."""
    rows = []
    for query in q:
        rows.append(block_slices(query[None], k, v, block_size)[0])
    return torch.stack(rows)


def block_padded(q, k, v, block_size):
    """Keys padded to whole blocks, and hidden with -inf."""
    missing = -len(k) % block_size
    keys = F.pad(k, (0, 0, 0, missing)).view(-1, block_size, k.shape[1])
    values = F.pad(v, (0, 0, 0, missing)).view(-1, block_size, v.shape[1])
    real = (torch.arange(len(k) + missing) < len(k)).view(-1, block_size)
    top = torch.full_like(q[:, 0], -math.inf)
    total = torch.zeros_like(top)
    output = torch.zeros(len(q), v.shape[1], dtype=v.dtype)
    for key, value, seen in zip(keys, values, real, strict=True):
        scores = torch.einsum("qd,kd->qk", q, key) / math.sqrt(q.shape[1])
        scores = scores.masked_fill(~seen, -math.inf)
        new = torch.maximum(top, scores.amax(1))
        powers = torch.exp(scores - new[:, None])
        keep = torch.exp(top - new)
        total = total * keep + powers.sum(1)
        output = output * keep[:, None] + powers @ value
        top = new
    return output / total[:, None]


def block_always_normalised(q, k, v, block_size):
    """The output is a proper average after each block, as in the first paper."""
    top = torch.full((len(q), 1), -math.inf, dtype=q.dtype)
    total, output = torch.zeros_like(top), torch.zeros_like(q[:, :1])
    for keys, values in zip(k.split(block_size), v.split(block_size), strict=True):
        scores = q @ keys.T / math.sqrt(q.shape[1])
        new = torch.maximum(top, scores.amax(1, keepdim=True).detach())
        powers, old = (scores - new).exp(), total * (top - new).exp()
        total = old + powers.sum(1, keepdim=True)
        output = (old * output + powers @ values) / total
        top = new
    return output


def block_recursive(q, k, v, block_size):
    """Halves of the keys, merged: (top, total, output) of each."""

    def sums(first, last):
        if last - first <= block_size:
            scores = q @ k[first:last].T / math.sqrt(q.shape[1])
            top = scores.amax(1, keepdim=True)
            powers = (scores - top).exp()
            return top, powers.sum(1, keepdim=True), powers @ v[first:last]
        middle = (first + last) // 2
        (a, b, c), (d, e, f) = sums(first, middle), sums(middle, last)
        top = torch.maximum(a, d)
        one, two = (a - top).exp(), (d - top).exp()
        return top, one * b + two * e, one * c + two * f

    _, total, output = sums(0, len(k))
    return output / total


def block_one_column_more(q, k, v, block_size):
    """A column of ones beside the values makes the denominator."""
    both = torch.cat([v, torch.ones_like(v[:, :1])], dim=1)
    k = k / math.sqrt(k.shape[1])
    top, sums = torch.tensor(-math.inf), 0.0
    for keys, values in zip(k.split(block_size), both.split(block_size), strict=True):
        scores = q @ keys.T
        new = torch.maximum(top, scores.amax(1, keepdim=True))
        sums = (top - new).exp() * sums + (scores - new).exp() @ values
        top = new
    return sums[:, :-1] / sums[:, -1:]


def block_number_by_number(q, k, v, block_size):
    """Plain numbers in plain loops: every query, every key, every width."""
    rows = []
    for query in q:
        top, total, output = torch.tensor(-math.inf), 0.0, 0.0
        for key, value in zip(k, v, strict=True):
            score = 0.0
            for i in range(len(query)):
                score = score + query[i] * key[i]
            score = score / math.sqrt(len(query))
            new = torch.maximum(top, score)
            keep, power = torch.exp(top - new), torch.exp(score - new)
            total, output = keep * total + power, keep * output + power * value
            top = new
        rows.append(output / total)
    return torch.stack(rows)


class Blockwise(nn.Module):
    def forward(self, q, k, v, block_size):
        return block_slices(q.double(), k.double(), v.double(), block_size).to(q.dtype)


BLOCKWISE = {
    "slices": block_slices,
    "two passes": block_two_passes,
    "softmax and logsumexp": block_logsumexp,
    "logaddexp": block_logaddexp,
    "key by key": block_key_by_key,
    "number by number": block_number_by_number,
    "query by query, blocks of keys": block_query_by_query,
    "padded and hidden": block_padded,
    "always normalised, maximum detached": block_always_normalised,
    "halves": block_recursive,
    "a column of ones": block_one_column_more,
    "float64 in a module": Blockwise(),
}

# linear_attention -------------------------------------------------------------


def linear_running_sums(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S, z, outputs = 0.0, 0.0, []
    for t in range(len(q)):
        S = S + torch.outer(k[t], v[t])
        z = z + k[t]
        outputs.append(q[t] @ S / (q[t] @ z))
    return torch.stack(outputs)


def linear_in_place(q, k, v):
    """The state is a buffer, and the output too; the state is cloned for autograd."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    state = q.new_zeros(q.shape[1], v.shape[1])
    total, output = q.new_zeros(q.shape[1]), q.new_zeros(len(q), v.shape[1])
    for t in range(len(q)):
        state = state + k[t][:, None] * v[t]
        total = total + k[t]
        output[t] = (q[t][:, None] * state).sum(0) / (q[t] * total).sum()
    return output


def linear_einsum(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    states = torch.einsum("td,te->tde", k, v).cumsum(0)
    above = torch.einsum("td,tde->te", q, states)
    return above / torch.einsum("td,td->t", q, k.cumsum(0))[:, None]


def linear_chunks(q, k, v, size=16):
    """All pairs inside a chunk, one sum for all chunks before."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S = torch.zeros(q.shape[1], v.shape[1], dtype=q.dtype)
    z, outputs = torch.zeros(q.shape[1], dtype=q.dtype), []
    for a, b, c in zip(q.split(size), k.split(size), v.split(size), strict=True):
        inside = (a @ b.T).tril()
        below = inside.sum(1, keepdim=True) + (a @ z)[:, None]
        outputs.append((inside @ c + a @ S) / below)
        S, z = S + b.T @ c, z + b.sum(0)
    return torch.cat(outputs)


def linear_column_of_ones(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    v = torch.cat([v, torch.ones_like(v[:, :1])], 1)
    both = (q[:, None] @ (k[:, :, None] * v[:, None]).cumsum(0))[:, 0]
    return both[:, :-1] / both[:, -1:]


def linear_doubling(q, k, v):
    """A parallel scan: log2(T) steps, each adds what stands 2^n before."""
    q, k = F.elu(q) + 1, F.elu(k) + 1
    states = k[:, :, None] * torch.cat([v, torch.ones_like(v[:, :1])], 1)[:, None]
    step = 1
    while step < len(q):
        states = states + F.pad(states[:-step], (0, 0, 0, 0, step, 0))
        step *= 2
    both = (q[:, :, None] * states).sum(1)
    return both[:, :-1] / both[:, -1:]


def linear_growing_output(q, k, v):
    """The output is joined row by row; a tiny number guards the denominator."""

    def feature(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    S = z = None
    output = v[:0]
    for query, key, value in zip(feature(q), feature(k), v, strict=True):
        S = key[:, None] * value if S is None else S + key[:, None] * value
        z = key if z is None else z + key
        row = (query @ S) / (query @ z + 1e-12)
        output = torch.cat([output, row[None]])
    return output


def linear_by_feature(q, k, v):
    q, k = nn.ELU()(q) + 1, nn.ELU()(k) + 1
    above = below = 0
    for i in range(q.shape[1]):
        above = above + q[:, i : i + 1] * torch.cumsum(k[:, i : i + 1] * v, 0)
        below = below + q[:, i : i + 1] * torch.cumsum(k[:, i : i + 1], 0)
    return above / below


class Linear(nn.Module):
    def forward(self, q, k, v):
        return linear_einsum(q.double(), k.double(), v.double())


LINEAR = {
    "running sums": linear_running_sums,
    "into a buffer": linear_in_place,
    "einsum": linear_einsum,
    "chunks of 16": linear_chunks,
    "chunks of 64": lambda q, k, v: linear_chunks(q, k, v, 64),
    "a column of ones": linear_column_of_ones,
    "doubling": linear_doubling,
    "output joined row by row": linear_growing_output,
    "feature by feature": linear_by_feature,
    "float64 result of a module": Linear(),
}

COST = {
    "attention_flops": FLOPS,
    "kv_cache_bytes": CACHE,
    "sliding_window_mask": WINDOW,
    "blockwise_attention": BLOCKWISE,
    "linear_attention": LINEAR,
}
