"""Scaled dot-product attention, and many heads of it.

What the chapters build. The checks, the masked softmax and the path to PyTorch's fused
kernel stand in `fused.py`.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.fused import check, fused, masked_softmax, with_limits


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch Tq d_k"],
    key: Float[Tensor, "*batch Tk d_k"],
    value: Float[Tensor, "*batch Tk d_v"],
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    window: int | None = None,
    dropout: float = 0.0,
    need_weights: bool = True,
) -> tuple[Float[Tensor, "*batch Tq d_v"], Float[Tensor, "*batch Tq Tk"] | None]:
    """Mix the values, each by how well its key answers the query.

    Args:
        query: (..., Tq, d_k), what each position looks for.
        key: (..., Tk, d_k), what each position offers.
        value: (..., Tk, d_v), what each position hands over.
        mask: broadcastable to (..., Tq, Tk); bool, True = may attend; or float,
            added to the scores, where -inf hides.
        causal: hide the keys that come after the query; the last query sees the
            last key.
        window: causal, and a query sees only its own position and the
            `window - 1` before it.
        dropout: probability that a weight is dropped. It is dropped whenever this
            is above 0: a function does not know about `eval()`.
        need_weights: False takes the fused kernel, which keeps no weights.

    Returns:
        The output (..., Tq, d_v), and the weights (..., Tq, Tk) before dropout, or
        None. A query with nothing to attend to gets zeros in both.

    Raises:
        ValueError: when sizes, the mask or the window do not fit.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1.
    """
    check(query, key, value, mask, window)
    if not need_weights:
        return fused(query, key, value, mask, causal, window, dropout), None
    d_k = query.shape[-1]
    scores = query / math.sqrt(d_k) @ key.transpose(-2, -1)  # (..., Tq, Tk)
    mask = with_limits(mask, scores, causal, window)  # (..., Tq, Tk)
    weights = masked_softmax(scores, mask)  # (..., Tq, Tk)
    return F.dropout(weights, dropout) @ value, weights


class KeyValueCache:
    """The keys and values of the tokens so far, so that none is computed twice.

    `key` and `value` are (B, H, T, d_k), or None before the first token.
    """

    def __init__(self) -> None:
        self.key: Tensor | None = None
        self.value: Tensor | None = None

    def __len__(self) -> int:
        return 0 if self.key is None else self.key.shape[-2]

    def append(
        self, key: Float[Tensor, "B H T d_k"], value: Float[Tensor, "B H T d_v"]
    ) -> tuple[Float[Tensor, "B H all d_k"], Float[Tensor, "B H all d_v"]]:
        """Add the newest tokens; return the keys and values of all.

        Raises:
            ValueError: when batch, heads or widths differ from those in the cache.
        """
        if self.key is not None and self.value is not None:
            for new, old in ((key, self.key), (value, self.value)):
                if new.shape[:2] != old.shape[:2] or new.shape[3:] != old.shape[3:]:
                    raise ValueError(
                        f"the cache holds {tuple(old.shape)}, which does not go on "
                        f"with {tuple(new.shape)}: only the length may differ"
                    )
            key = torch.cat([self.key, key], dim=-2)  # (B, H, all, d_k)
            value = torch.cat([self.value, value], dim=-2)  # (B, H, all, d_v)
        self.key, self.value = key, value
        return key, value


def split_heads(
    x: Float[Tensor, "B T D"], num_heads: int
) -> Float[Tensor, "B H T d_k"]:
    """Cut each token's vector into `num_heads` pieces, one for each head."""
    x = x.unflatten(-1, (num_heads, -1))  # (B, T, H, d_k)
    return x.transpose(1, 2)  # (B, H, T, d_k)


def merge_heads(x: Float[Tensor, "B H T d_k"]) -> Float[Tensor, "B T D"]:
    """Join the pieces of each token again: the inverse of `split_heads`."""
    x = x.transpose(1, 2)  # (B, T, H, d_k)
    return x.flatten(-2)  # (B, T, D)


class MultiHeadAttention(nn.Module):
    """Attention in several heads, each with its own queries, keys and values.

    Args:
        d_model: width D of every token, in and out.
        num_heads: number of heads H; it divides d_model.
        num_kv_heads: number of key and value heads, which groups of query heads
            share (grouped-query attention); as many as num_heads if not given.
        dropout: probability that a weight is dropped, in training only.
        bias: whether the four projections have a bias.

    Raises:
        ValueError: when a number of heads does not divide.

    Source: Vaswani et al. 2017, section 3.2.2; Ainslie et al. 2023 for groups.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads < 1 or d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide d_model = {d_model}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"{num_kv_heads} key heads do not divide {num_heads} heads"
            )
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.dropout = dropout
        d_kv = d_model // num_heads * num_kv_heads
        self.to_query = nn.Linear(d_model, d_model, bias=bias)
        self.to_key = nn.Linear(d_model, d_kv, bias=bias)
        self.to_value = nn.Linear(d_model, d_kv, bias=bias)
        self.to_output = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "B Tq D"],
        key: Float[Tensor, "B Tk D"] | None = None,
        value: Float[Tensor, "B Tk D"] | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        window: int | None = None,
        need_weights: bool = False,
        cache: KeyValueCache | None = None,
    ) -> tuple[Float[Tensor, "B Tq D"], Float[Tensor, "B H Tq Tk"] | None]:
        """Project, split, attend in every head, merge, project.

        Args:
            query: (B, Tq, D), the tokens that look.
            key: (B, Tk, D), the tokens that are looked at; the query if not given.
            value: (B, Tk, D), what they hand over; the key if not given.
            mask: (Tq, Tk) or (B|1, H|1, Tq|1, Tk), as in
                `scaled_dot_product_attention`.
            causal, window: as in `scaled_dot_product_attention`.
            need_weights: True returns the weights of every head as well.
            cache: keys and values of earlier tokens; the new ones are added to it.

        Returns:
            The output (B, Tq, D), and the weights (B, H, Tq, Tk) or None.

        Raises:
            ValueError: when the sizes of tokens or mask do not fit.
        """
        key = query if key is None else key
        value = key if value is None else value
        self._check(query, key, value, mask, cache)
        query = split_heads(self.to_query(query), self.num_heads)  # (B, H, Tq, d_k)
        key = split_heads(self.to_key(key), self.num_kv_heads)  # (B, H_kv, Tk, d_k)
        value = split_heads(self.to_value(value), self.num_kv_heads)  # as key
        key, value = self._remembered(key, value, cache)  # (B, H, all, d_k)
        output, weights = scaled_dot_product_attention(
            query, key, value, mask, causal=causal, window=window,
            dropout=self.dropout * self.training, need_weights=need_weights,
        )  # (B, H, Tq, d_k), (B, H, Tq, all)  # fmt: skip
        return self.to_output(merge_heads(output)), weights

    def _remembered(
        self, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        """Put earlier keys and values in front; give each query head its own."""
        if cache is not None:
            key, value = cache.append(key, value)  # (B, H_kv, all, d_k)
        group = self.num_heads // self.num_kv_heads
        if group > 1:
            key = key.repeat_interleave(group, dim=1)  # (B, H, all, d_k)
            value = value.repeat_interleave(group, dim=1)  # (B, H, all, d_k)
        return key, value

    def _check(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        cache: KeyValueCache | None,
    ) -> None:
        """Refuse tokens and masks that do not fit, before anything is changed."""
        d_model = self.to_query.in_features
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.dim() != 3 or x.shape[-1] != d_model:
                raise ValueError(
                    f"{name} must be (B, T, {d_model}), got {tuple(x.shape)}"
                )
        if not query.shape[0] == key.shape[0] == value.shape[0]:
            sizes = [tuple(x.shape) for x in (query, key, value)]
            raise ValueError(f"query, key and value differ in batch size: {sizes}")
        if mask is None:
            return
        key_len = key.shape[1] + (0 if cache is None else len(cache))
        wanted = (query.shape[0], self.num_heads, query.shape[1], key_len)
        fits = mask.dim() == 4 and all(
            size in (1, want) for size, want in zip(mask.shape, wanted, strict=True)
        )
        if not fits and tuple(mask.shape) != wanted[2:]:
            raise ValueError(
                f"mask must be (Tq, Tk) = {wanted[2:]} or (B|1, H|1, Tq|1, Tk) with "
                f"(B, H, Tq, Tk) = {wanted}, got {tuple(mask.shape)}; a padding mask "
                f"(B, Tk) goes in as mask[:, None, None, :]"
            )

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention) -> "MultiHeadAttention":
        """Copy the weights of PyTorch's own module, whichever its `batch_first`.

        The copy takes (B, T, D), as everything in this library.

        Raises:
            ValueError: when the module has what ours has not: bias_k and bias_v,
                add_zero_attn, or keys or values of another width.
        """
        d_model = module.embed_dim
        if module.bias_k is not None or module.add_zero_attn:
            raise ValueError("add_bias_kv and add_zero_attn have no counterpart here")
        if module.kdim != d_model or module.vdim != d_model:
            raise ValueError(
                f"keys of width {module.kdim} and values of width {module.vdim} "
                f"differ from d_model = {d_model}"
            )
        bias = module.in_proj_bias is not None
        ours = cls(d_model, module.num_heads, dropout=module.dropout, bias=bias)
        ours.to(module.in_proj_weight.device, module.in_proj_weight.dtype)
        names = ("to_query", "to_key", "to_value")
        weights = dict(zip(names, module.in_proj_weight.chunk(3), strict=True))
        state = {f"{name}.weight": weight for name, weight in weights.items()}
        state["to_output.weight"] = module.out_proj.weight
        if bias:
            biases = dict(zip(names, module.in_proj_bias.chunk(3), strict=True))
            state |= {f"{name}.bias": value for name, value in biases.items()}
            state["to_output.bias"] = module.out_proj.bias
        ours.load_state_dict(state)
        return ours.train(module.training)
