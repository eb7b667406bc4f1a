"""Right answers in many styles: not one of them may be rejected.

`RIGHT` maps an exercise to its answers by style.
"""

import math

import torch
import torch.nn.functional as F
from right_answers_cost import COST
from right_answers_training import RIGHT_TRAINING
from torch import Tensor, nn

# chapter 1 --------------------------------------------------------------------


class AdditiveScores(nn.Module):
    """A module without parameters of its own."""

    def forward(self, query, keys, W_q, W_k, v):
        hidden = F.linear(query, W_q).unsqueeze(1) + F.linear(keys, W_k)
        return hidden.tanh().matmul(v)


def additive_loops(query, keys, W_q, W_k, v):
    batch, length, _ = keys.shape
    scores = keys.new_zeros(batch, length)
    for b in range(batch):
        for t in range(length):
            scores[b, t] = v @ torch.tanh(W_q @ query[b] + W_k @ keys[b, t])
    return scores


def additive_scalar_loops(query, keys, W_q, W_k, v):
    rows = []
    for b in range(len(keys)):
        row = []
        for t in range(keys.shape[1]):
            total = 0.0
            for a in range(len(v)):
                inside = 0.0
                for i in range(query.shape[1]):
                    inside = inside + W_q[a, i] * query[b, i]
                for i in range(keys.shape[2]):
                    inside = inside + W_k[a, i] * keys[b, t, i]
                total = total + v[a] * torch.tanh(inside)
            row.append(total)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def additive_joined(query, keys, W_q, W_k, v):
    both = torch.cat([query[:, None].expand(-1, keys.shape[1], -1), keys], dim=-1)
    return torch.tanh(both @ torch.cat([W_q, W_k], dim=1).T) @ v


ADDITIVE = {
    "module": AdditiveScores(),
    "loops": additive_loops,
    "scalar loops": additive_scalar_loops,
    "one joined matrix": additive_joined,
    "einsum": lambda query, keys, W_q, W_k, v: torch.einsum(
        "bta,a->bt",
        (
            torch.einsum("bd,ad->ba", query, W_q)[:, None]
            + torch.einsum("btd,ad->bta", keys, W_k)
        ).tanh(),
        v,
    ),
    "bmm": lambda query, keys, W_q, W_k, v: torch.bmm(
        torch.tanh((query @ W_q.t()).unsqueeze(1) + keys @ W_k.t()),
        v.expand(len(keys), -1).unsqueeze(-1),
    ).squeeze(-1),
    "multiply and sum": lambda query, keys, W_q, W_k, v: (
        v * torch.tanh((query @ W_q.T).unsqueeze(-2) + keys @ W_k.T)
    ).sum(-1),
    "float64 inside": lambda query, keys, W_q, W_k, v: (
        torch.tanh(
            (query.double() @ W_q.double().T)[:, None] + keys.double() @ W_k.double().T
        )
        @ v.double()
    ).to(keys.dtype),
    "tanh by exponentials": lambda query, keys, W_q, W_k, v: (
        (2 * torch.sigmoid(2 * ((query @ W_q.T)[:, None] + keys @ W_k.T)) - 1) @ v
    ),
}


def context_loops(weights, values):
    rows = []
    for row, states in zip(weights, values, strict=False):
        total = torch.zeros_like(states[0])
        for weight, state in zip(row, states, strict=False):
            total = total + weight * state
        rows.append(total)
    return torch.stack(rows)


CONTEXT = {
    "loops": context_loops,
    "bmm": lambda w, v: torch.bmm(w.unsqueeze(1), v).squeeze(1),
    "einsum": lambda w, v: torch.einsum("bt,btd->bd", w, v),
    "matmul": lambda w, v: (w[:, None] @ v)[:, 0],
    "unsqueeze": lambda w, v: (v * w.unsqueeze(-1)).sum(1),
    "transposed": lambda w, v: (v.transpose(1, 2) @ w[..., None]).squeeze(-1),
    "float64 result": lambda w, v: (w.double()[..., None] * v.double()).sum(1),
    "tensordot": lambda w, v: torch.stack(
        [torch.tensordot(a, b, dims=1) for a, b in zip(w, v, strict=False)]
    ),
    "baddbmm": lambda w, v: torch.baddbmm(
        torch.zeros(1, 1, 1, dtype=v.dtype), w[:, None], v
    )[:, 0],
}

# chapter 2 --------------------------------------------------------------------


class Projections(nn.Module):
    """Gives a list, which is as good as a tuple."""

    def forward(self, x, W_q, W_k, W_v):
        return [F.linear(x, W.T) for W in (W_q, W_k, W_v)]


def project_loops(x, W_q, W_k, W_v):
    results = []
    for W in (W_q, W_k, W_v):
        rows = x.new_zeros(*x.shape[:2], W.shape[1])
        for b in range(x.shape[0]):
            for t in range(x.shape[1]):
                for j in range(W.shape[1]):
                    rows[b, t, j] = (x[b, t] * W[:, j]).sum()
        results.append(rows)
    return tuple(results)


def project_at_once(x, W_q, W_k, W_v):
    both = x @ torch.cat([W_q, W_k, W_v], dim=1)
    return both.split([W_q.shape[1], W_k.shape[1], W_v.shape[1]], dim=-1)


PROJECT = {
    "module with a list": Projections(),
    "loops": project_loops,
    "one product, then split": project_at_once,
    "einsum": lambda x, *matrices: tuple(
        torch.einsum("btd,de->bte", x, W) for W in matrices
    ),
    "generator in a tuple": lambda x, a, b, c: tuple(x @ W for W in (a, b, c)),
    "tensordot": lambda x, a, b, c: [torch.tensordot(x, W, dims=1) for W in (a, b, c)],
    "flattened mm": lambda x, a, b, c: tuple(
        torch.mm(x.reshape(-1, x.shape[-1]), W).reshape(*x.shape[:2], -1)
        for W in (a, b, c)
    ),
    "multiply and sum": lambda x, a, b, c: tuple(
        (x[..., None] * W).sum(-2) for W in (a, b, c)
    ),
    "float64": lambda x, a, b, c: tuple(x.double() @ W.double() for W in (a, b, c)),
}


def lookup_loops(query, keys, values):
    scores = []
    for key in keys:
        score = 0.0
        for a, b in zip(query, key, strict=False):
            score = score + a * b
        scores.append(score)
    top = max(score.item() for score in scores)
    powers = [(score - top).exp() for score in scores]
    total = sum(powers)
    return sum(
        power / total * value for power, value in zip(powers, values, strict=False)
    )


LOOKUP = {
    "loops": lookup_loops,
    "einsum": lambda q, k, v: torch.einsum(
        "n,nd->d", torch.einsum("d,nd->n", q, k).softmax(0), v
    ),
    "fused": lambda q, k, v: F.scaled_dot_product_attention(
        q[None], k, v, scale=1.0
    ).squeeze(0),
    "mv": lambda q, k, v: torch.mv(v.t(), torch.softmax(torch.mv(k, q), dim=-1)),
    "row vectors": lambda q, k, v: ((q[None] @ k.T).softmax(-1) @ v)[0],
    "multiply and sum": lambda q, k, v: (
        (k * q).sum(-1, keepdim=True).softmax(0) * v
    ).sum(0),
    "logsumexp": lambda q, k, v: ((k @ q) - torch.logsumexp(k @ q, 0)).exp() @ v,
    "float64 result": lambda q, k, v: (k.double() @ q.double()).softmax(0) @ v.double(),
}

# chapter 3 --------------------------------------------------------------------


def softmax_loops(x, dim=-1):
    moved = x.transpose(dim, -1)
    result = torch.empty_like(moved)
    for index in torch.cartesian_prod(
        torch.zeros(1, dtype=torch.long),
        *[torch.arange(n) for n in moved.shape[:-1]],
    ).reshape(-1, moved.dim()):
        where = tuple(index.tolist()[1:])
        powers = (moved[where] - moved[where].max()).exp()
        result[where] = powers / powers.sum()
    return result.transpose(dim, -1)


class Softmax(nn.Module):
    """Through nn.Softmax, built at the call."""

    def forward(self, x, dim=-1):
        return nn.Softmax(dim)(x)


SOFTMAX = {
    "loops": softmax_loops,
    "module": Softmax(),
    "functional": lambda x, dim=-1: F.softmax(x, dim=dim),
    "method": lambda x, dim=-1: x.softmax(dim),
    "logsumexp": lambda x, dim=-1: (x - x.logsumexp(dim, keepdim=True)).exp(),
    "log softmax": lambda x, dim=-1: x.log_softmax(dim).exp(),
    "largest, detached": lambda x, dim=-1: (lambda e: e / e.sum(dim, keepdim=True))(
        (x - x.max(dim, keepdim=True).values.detach()).exp()
    ),
    "amax": lambda x, dim=-1: (lambda e: e / e.sum(dim, keepdim=True))(
        torch.exp(x - x.amax(dim, keepdim=True))
    ),
    "float64 inside": lambda x, dim=-1: torch.softmax(x.double(), dim).to(x.dtype),
    "float64 result": lambda x, dim=-1: torch.softmax(x, dim, dtype=torch.float64),
}


def attention_loops(q, k, v):
    d_k = q.shape[-1]
    lead = q.shape[:-2]
    q3, k3, v3 = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    outputs, maps = [], []
    for a, b, c in zip(q3, k3, v3, strict=False):
        rows = []
        for query in a:
            scores = torch.stack([query @ key for key in b]) / math.sqrt(d_k)
            rows.append(scores.softmax(0))
        maps.append(torch.stack(rows))
        outputs.append(maps[-1] @ c)
    output, weights = torch.stack(outputs), torch.stack(maps)
    return (
        output.reshape(*lead, *output.shape[1:]),
        weights.reshape(*lead, *weights.shape[1:]),
    )


def attention_fused(q, k, v):
    weights = torch.softmax(q @ k.mT * q.size(-1) ** -0.5, dim=-1)
    return F.scaled_dot_product_attention(q, k, v), weights


def attention_weights_through_the_fused_call(q, k, v):
    eye = torch.eye(k.shape[-2], dtype=v.dtype, device=v.device)
    one_hot = eye.expand(*k.shape[:-1], -1)
    output = F.scaled_dot_product_attention(q, k, v)
    return output, F.scaled_dot_product_attention(q, k, one_hot)


class Attention(nn.Module):
    """Scales the query first, and gives a list."""

    def forward(self, q, k, v):
        scores = torch.einsum("...qd,...kd->...qk", q / math.sqrt(q.shape[-1]), k)
        weights = F.softmax(scores, dim=-1)
        return [torch.einsum("...qk,...kd->...qd", weights, v), weights]


def attention_bmm(q, k, v):
    lead = q.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    weights = torch.bmm(q, k.transpose(1, 2)).div(q.shape[-1] ** 0.5).softmax(-1)
    output = torch.bmm(weights, v)
    return output.view(*lead, *output.shape[1:]), weights.view(
        *lead, *weights.shape[1:]
    )


def attention_safe_by_hand(q, k, v):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / q.shape[-1] ** 0.5
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2), weights


ATTENTION = {
    "loops": attention_loops,
    "fused": attention_fused,
    "fused for the weights too": attention_weights_through_the_fused_call,
    "module with a list": Attention(),
    "bmm": attention_bmm,
    "broadcasting": attention_safe_by_hand,
    "both scaled by the fourth root": lambda q, k, v: (lambda w: (w @ v, w))(
        ((q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).mT).softmax(-1)
    ),
    "a constant added to every row": lambda q, k, v: (lambda w: (w @ v, w))(
        (q @ k.mT / q.shape[-1] ** 0.5 + 1.0).softmax(-1)
    ),
    "float64 result": lambda q, k, v: (lambda w: (w @ v.double(), w))(
        (q.double() @ k.double().mT / q.shape[-1] ** 0.5).softmax(-1)
    ),
}

# chapter 4 --------------------------------------------------------------------


def padding_loops(lengths, max_len):
    mask = torch.zeros(len(lengths), max_len, dtype=torch.bool)
    for b, length in enumerate(lengths):
        mask[b, :length] = True
    return mask


PADDING = {
    "slices": padding_loops,
    "list": lambda lengths, max_len: torch.tensor(
        [[t < int(n) for t in range(max_len)] for n in lengths]
    ),
    "greater": lambda lengths, max_len: lengths.unsqueeze(1) > torch.arange(max_len),
    "expand": lambda lengths, max_len: (
        torch.arange(max_len).expand(len(lengths), -1).lt(lengths[:, None])
    ),
    "triangle": lambda lengths, max_len: torch.ones(
        max_len + 1, max_len, dtype=torch.bool
    ).tril(-1)[lengths],
    "cumsum": lambda lengths, max_len: (
        torch.ones(len(lengths), max_len).cumsum(1) <= lengths[:, None]
    ),
    "repeat": lambda lengths, max_len: (
        torch.arange(max_len).repeat(len(lengths), 1)
        < lengths.view(-1, 1).repeat(1, max_len)
    ),
    "complement": lambda lengths, max_len: (
        ~(torch.arange(max_len)[None] >= lengths[:, None])
    ),
}


def causal_loops(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


CAUSAL = {
    "loops": causal_loops,
    "complement of triu(1)": lambda n: ~torch.ones(n, n, dtype=torch.bool).triu(1),
    "tril of floats": lambda n: torch.ones(n, n).tril().bool(),
    "tril == 0": lambda n: ~(torch.tril(torch.ones(n, n)) == 0),
    "positions": lambda n: torch.arange(n)[:, None] >= torch.arange(n)[None, :],
    "from -inf": lambda n: torch.full((n, n), -math.inf).triu(1) == 0,
    "list": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
    "transposed upper triangle": lambda n: torch.ones(n, n).triu().T > 0,
    "cumsum of the diagonal": lambda n: (
        torch.eye(n).cumsum(1).T.cumsum(0).T.gt(0).T
        if n == 0
        else torch.eye(n).flip(1).cumsum(1).flip(1).bool()
    ),
}


def masked_loops(q, k, v, mask):
    lead, Tq, Tk = q.shape[:-2], q.shape[-2], k.shape[-2]
    mask = mask.expand(*lead, Tq, Tk).reshape(-1, Tq, Tk)
    q3, k3, v3 = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    output = v3.new_zeros(len(q3), Tq, v.shape[-1])
    weights = q3.new_zeros(len(q3), Tq, Tk)
    for b in range(len(q3)):
        for i in range(Tq):
            seen = mask[b, i]
            if seen.any():
                row = (k3[b][seen] @ q3[b, i] / math.sqrt(q.shape[-1])).softmax(0)
                weights[b, i, seen] = row
                output[b, i] = row @ v3[b][seen]
    return output.reshape(*lead, Tq, -1), weights.reshape(*lead, Tq, Tk)


def masked_nan_to_num(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ v, weights


def masked_where_and_product(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1) * mask
    return weights @ v, weights


def masked_log_of_the_mask(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.shape[-1]) + mask.to(q.dtype).log()
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights


def masked_additive(q, k, v, mask):
    added = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]) + added, dim=-1)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return weights @ v, weights


def masked_visible_entries_of_one(q, k, v, mask):
    """A mask of 1 and -inf: the softmax ignores what is constant in a row."""
    added = torch.ones(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]) + added, dim=-1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights


def masked_fused(q, k, v, mask):
    eye = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-1], -1)
    mask = mask.expand(*q.shape[:-1], k.shape[-2])
    some = mask.any(-1, keepdim=True)
    opened = mask | ~some
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=opened)
    weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=opened)
    return output * some, weights * some


def masked_by_hand(q, k, v, mask):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    scores = scores.masked_fill(mask.logical_not(), -1e30)
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
    return [torch.einsum("...ij,...jd->...id", weights, v), weights]


class MaskedAttention(nn.Module):
    """Opens empty rows before the softmax and closes them after it."""

    def forward(self, q, k, v, mask):
        empty = mask.sum(dim=-1, keepdim=True) == 0
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~(mask | empty), float("-inf"))
        weights = scores.softmax(-1).masked_fill(empty, 0)
        return weights @ v, weights


MASKED = {
    "loops": masked_loops,
    "nan_to_num": masked_nan_to_num,
    "finfo.min and a product": masked_where_and_product,
    "log of the mask": masked_log_of_the_mask,
    "additive mask": masked_additive,
    "visible entries of 1": masked_visible_entries_of_one,
    "fused": masked_fused,
    "by hand": masked_by_hand,
    "module": MaskedAttention(),
}

# chapter 5 --------------------------------------------------------------------


def encoding_loops(length, d_model):
    encoding = torch.zeros(length, d_model)
    for position in range(length):
        for i in range(0, d_model, 2):
            angle = position / 10000 ** (i / d_model)
            encoding[position, i] = math.sin(angle)
            if i + 1 < d_model:
                encoding[position, i + 1] = math.cos(angle)
    return encoding


def encoding_exp_log(length, d_model):
    position = torch.arange(length).unsqueeze(1).float()
    divisor = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    encoding = torch.zeros(length, d_model)
    encoding[:, 0::2] = torch.sin(position * divisor)
    encoding[:, 1::2] = torch.cos(position * divisor)[:, : d_model // 2]
    return encoding


def encoding_where(length, d_model):
    position = torch.arange(length, dtype=torch.float64).view(-1, 1)
    column = torch.arange(d_model, dtype=torch.float64).view(1, -1)
    angles = position / 10000 ** (2 * (column // 2) / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


def encoding_one_sine(length, d_model):
    column = torch.arange(d_model)
    angles = torch.outer(
        torch.arange(length).double(), 10000.0 ** (-(column - column % 2) / d_model)
    )
    return torch.sin(angles + (column % 2) * math.pi / 2).float()


def encoding_complex(length, d_model):
    speeds = 10000 ** (-torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.outer(torch.arange(length).double(), speeds)
    turned = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.stack([turned.imag, turned.real], dim=-1)
    return pairs.reshape(length, -1)[:, :d_model]


ENCODING = {
    "loops": encoding_loops,
    "exp and log": encoding_exp_log,
    "where": encoding_where,
    "one sine, shifted": encoding_one_sine,
    "complex numbers": encoding_complex,
    "list": lambda length, d_model: torch.tensor(
        [
            [
                (math.sin, math.cos)[c % 2](p / 10000 ** (2 * (c // 2) / d_model))
                for c in range(d_model)
            ]
            for p in range(length)
        ]
    ),
    "stack and flatten": lambda length, d_model: (
        lambda a: torch.stack([a.sin(), a.cos()], 2).flatten(1)[:, :d_model]
    )(
        torch.arange(length)[:, None]
        / 10000 ** (torch.arange(0, d_model, 2)[None] / d_model)
    ),
    "einsum": lambda length, d_model: (
        lambda a: torch.stack((a.sin(), a.cos()), -1).reshape(length, -1)[:, :d_model]
    )(
        torch.einsum(
            "p,i->pi",
            torch.arange(float(length)),
            torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model),
        )
    ),
}


def add_loops(x, encoding):
    result = x.clone()
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            result[b, t] = result[b, t] + encoding[t]
    return result


class AddPositions(nn.Module):
    """Looks positions up like an embedding."""

    def forward(self, x, encoding):
        return x + F.embedding(torch.arange(x.size(1)), encoding)


ADD = {
    "loops": add_loops,
    "embedding module": AddPositions(),
    "slice": lambda x, e: x + e[: x.shape[1]],
    "unsqueeze": lambda x, e: x + e[: x.size(1), :].unsqueeze(0),
    "narrow": lambda x, e: torch.add(x, e.narrow(0, 0, x.shape[1])),
    "index_select": lambda x, e: x + e.index_select(0, torch.arange(x.shape[1])),
    "repeat": lambda x, e: x + e[: x.shape[1]].repeat(len(x), 1, 1),
    "stack": lambda x, e: torch.stack([s + e[: len(s)] for s in x]),
    "float64 result": lambda x, e: x.double() + e[: x.shape[1]].double(),
    "sum with a weight of one": lambda x, e: (
        torch.einsum("btd,->btd", x, torch.ones((), dtype=x.dtype)) + e[: x.shape[1]]
    ),
}


def shift_block_diag(k, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = torch.tensor(k / 10000 ** (2 * i / d_model), dtype=torch.float64)
        c, s = angle.cos(), angle.sin()
        blocks.append(torch.stack([torch.stack([c, s]), torch.stack([-s, c])]))
    return torch.block_diag(*blocks)


def shift_slices(k, d_model):
    angles = k / 10000 ** (torch.arange(0, d_model, 2).double() / d_model)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    even, odd = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    matrix[even, even] = matrix[odd, odd] = angles.cos()
    matrix[even, odd] = angles.sin()
    matrix[odd, even] = -angles.sin()
    return matrix


def shift_power(k, d_model):
    return torch.linalg.matrix_power(shift_slices(1, d_model), k).float()


def shift_exponential(k, d_model):
    """The matrix exponential of a generator: rotation by angle."""
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        generator[i, i + 1] = k / 10000 ** (i / d_model)
        generator[i + 1, i] = -generator[i, i + 1]
    return torch.linalg.matrix_exp(generator)


SHIFT = {
    "block_diag": shift_block_diag,
    "index arrays": shift_slices,
    "power of one step": shift_power,
    "matrix exponential": shift_exponential,
    "list": lambda k, d: torch.tensor(
        [
            [
                0.0
                if r // 2 != c // 2
                else math.cos(k / 10000 ** (2 * (r // 2) / d))
                if r == c
                else math.copysign(1, c - r) * math.sin(k / 10000 ** (2 * (r // 2) / d))
                for c in range(d)
            ]
            for r in range(d)
        ]
    ),
    "kron of diagonals": lambda k, d: (
        lambda a: (
            torch.kron(torch.diag(a.cos()), torch.eye(2, dtype=torch.float64))
            + torch.kron(
                torch.diag(a.sin()),
                torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64),
            )
        )
    )(k * 10000.0 ** (-torch.arange(0, d, 2).double() / d)),
    "transpose of the rotation backwards": lambda k, d: shift_slices(-k, d).T,
}

# chapter 6 --------------------------------------------------------------------


def split_loops(x, num_heads):
    batch, length, width = x.shape
    d = width // num_heads
    result = x.new_zeros(batch, num_heads, length, d)
    for h in range(num_heads):
        result[:, h] = x[:, :, h * d : (h + 1) * d]
    return result


SPLIT = {
    "loops": split_loops,
    "view and transpose": lambda x, h: x.view(*x.shape[:2], h, -1).transpose(1, 2),
    "unflatten": lambda x, h: x.unflatten(-1, (h, -1)).permute(0, 2, 1, 3),
    "chunk and stack": lambda x, h: torch.stack(x.chunk(h, dim=-1), dim=1),
    "split and stack": lambda x, h: torch.stack(x.split(x.shape[-1] // h, -1), 1),
    "unfold": lambda x, h: x.unfold(-1, x.shape[-1] // h, x.shape[-1] // h).transpose(
        1, 2
    ),
    "movedim": lambda x, h: x.reshape(*x.shape[:2], h, -1).movedim(2, 1),
    "einsum": lambda x, h: torch.einsum("bthd->bhtd", x.reshape(*x.shape[:2], h, -1)),
    "contiguous": lambda x, h: (
        x.reshape(x.shape[0], x.shape[1], h, x.shape[2] // h)
        .transpose(1, 2)
        .contiguous()
    ),
}


def merge_loops(x):
    batch, heads, length, d = x.shape
    result = x.new_zeros(batch, length, heads * d)
    for h in range(heads):
        result[:, :, h * d : (h + 1) * d] = x[:, h]
    return result


MERGE = {
    "loops": merge_loops,
    "contiguous and view": lambda x: (
        x.transpose(1, 2).contiguous().view(x.shape[0], x.shape[2], -1)
    ),
    "flatten": lambda x: x.transpose(1, 2).flatten(2),
    "cat": lambda x: torch.cat(list(x.unbind(1)), dim=-1),
    "permute and reshape": lambda x: x.permute(0, 2, 1, 3).reshape(
        x.shape[0], x.shape[2], x.shape[1] * x.shape[3]
    ),
    "einsum": lambda x: torch.einsum("bhtd->bthd", x).flatten(-2),
    "movedim": lambda x: x.movedim(1, 2).flatten(start_dim=-2),
    "cat of slices": lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=2),
}


def multi_loops(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    batch, length, width = x.shape
    d = width // num_heads
    if mask is not None:
        mask = mask.expand(batch, num_heads, length, length)
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    sentences = []
    for b in range(batch):
        heads = []
        for h in range(num_heads):
            part = slice(h * d, (h + 1) * d)
            scores = q[b, :, part] @ k[b, :, part].T / math.sqrt(d)
            if mask is not None:
                scores = scores.masked_fill(~mask[b, h], -math.inf)
            heads.append(scores.softmax(-1).nan_to_num() @ v[b, :, part])
        sentences.append(torch.cat(heads, dim=-1))
    return torch.stack(sentences) @ W_o


def multi_sum_over_heads(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Each head writes through its own rows of W_o, and the heads are added."""
    d = x.shape[-1] // num_heads
    output = torch.zeros_like(x)
    for h in range(num_heads):
        part = slice(h * d, (h + 1) * d)
        q, k, v = (x @ W[:, part] for W in (W_q, W_k, W_v))
        scores = q @ k.mT / math.sqrt(d)
        if mask is not None:
            seen = mask.expand(len(x), num_heads, *q.shape[1:2] * 2)[:, h]
            scores = scores.masked_fill(~seen, -1e30)
            weights = scores.softmax(-1) * seen
        else:
            weights = scores.softmax(-1)
        output = output + weights @ v @ W_o[part]
    return output


def multi_fused(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    q, k, v = (
        (x @ W).unflatten(-1, (num_heads, -1)).transpose(1, 2) for W in (W_q, W_k, W_v)
    )
    if mask is None:
        output = F.scaled_dot_product_attention(q, k, v)
    else:
        some = mask.any(-1, keepdim=True)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | ~some) * some
    return output.transpose(1, 2).flatten(2) @ W_o


def multi_einsum(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    D = x.shape[-1]
    q, k, v = (
        torch.einsum("btd,dhe->bthe", x, W.reshape(D, num_heads, -1))
        for W in (W_q, W_k, W_v)
    )
    scores = torch.einsum("bihe,bjhe->bhij", q, k) * (D / num_heads) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    weights = scores.softmax(-1).nan_to_num(0)
    mixed = torch.einsum("bhij,bjhe->bihe", weights, v)
    return torch.einsum("bthe,hed->btd", mixed, W_o.reshape(num_heads, -1, D))


class MultiHead(nn.Module):
    """Batch and heads in one axis, for bmm."""

    def forward(self, x, W_q, W_k, W_v, W_o, num_heads, mask=None):
        B, T, D = x.shape
        d = D // num_heads

        def heads(part: Tensor) -> Tensor:
            return (
                part.reshape(B, T, num_heads, d)
                .permute(0, 2, 1, 3)
                .reshape(B * num_heads, T, d)
            )

        q, k, v = heads(x @ W_q), heads(x @ W_k), heads(x @ W_v)
        scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
        if mask is not None:
            mask = mask.expand(B, num_heads, T, T).reshape(-1, T, T)
            scores = scores.masked_fill(~mask, float("-inf"))
            scores = scores.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        output = torch.bmm(weights, v).reshape(B, num_heads, T, d)
        return output.permute(0, 2, 1, 3).reshape(B, T, D) @ W_o


def multi_torch(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """PyTorch's own function, with its other convention for masks."""
    B, T, D = x.shape
    hidden = None
    some = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    if mask is not None:
        mask = mask.expand(B, num_heads, T, T)
        some = mask.any(-1, keepdim=True)
        hidden = ~(mask | ~some).reshape(B * num_heads, T, T)
    merged, _ = F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3,
        D,
        num_heads,
        torch.cat([W_q, W_k, W_v], 1).T,
        None,
        None,
        None,
        False,
        0.0,
        torch.eye(D, dtype=x.dtype),
        None,
        attn_mask=hidden,
        need_weights=False,
    )
    pieces = merged.transpose(0, 1).unflatten(-1, (num_heads, -1)).transpose(1, 2)
    return (pieces * some).transpose(1, 2).flatten(2) @ W_o


MULTI = {
    "loops": multi_loops,
    "heads added": multi_sum_over_heads,
    "fused": multi_fused,
    "einsum": multi_einsum,
    "module with bmm": MultiHead(),
    "F.multi_head_attention_forward": multi_torch,
    "float64 inside": lambda x, a, b, c, d, h, mask=None: multi_einsum(
        x.double(), a.double(), b.double(), c.double(), d.double(), h, mask
    ).to(x.dtype),
}

RIGHT = {
    "additive_scores": ADDITIVE,
    "context_vector": CONTEXT,
    "project_qkv": PROJECT,
    "soft_lookup": LOOKUP,
    "softmax": SOFTMAX,
    "scaled_dot_product_attention": ATTENTION,
    "padding_mask": PADDING,
    "causal_mask": CAUSAL,
    "masked_attention": MASKED,
    "sinusoidal_encoding": ENCODING,
    "add_positions": ADD,
    "shift_matrix": SHIFT,
    "split_heads": SPLIT,
    "merge_heads": MERGE,
    "multi_head_attention": MULTI,
    **COST,
    **RIGHT_TRAINING,
}
