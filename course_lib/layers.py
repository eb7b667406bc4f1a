"""The layers of a transformer: attention and a small network, around each a norm."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from course_lib.attention import KeyValueCache, MultiHeadAttention

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "gelu": nn.GELU}


class Residual(nn.Module):
    """Add to each token what a sublayer makes of it, with a norm before or after.

    Args:
        d_model: width D of the tokens.
        dropout: probability that an entry of the addition is dropped, in training only.
        norm_first: True is "pre-norm", x + f(norm(x)); False is the paper's
            "post-norm", norm(x + f(x)).
        norm_eps: added to the variance before its root is taken.

    Source: Vaswani et al. 2017, section 3.1; Xiong et al. 2020 for pre-norm.
    """

    def __init__(
        self, d_model: int, dropout: float, norm_first: bool, norm_eps: float
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self, x: Float[Tensor, "B T D"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B T D"]:
        """Apply the sublayer around x (B, T, D).

        Raises:
            ValueError: when x has another shape.
        """
        width = self.norm.normalized_shape[0]
        if x.dim() != 3 or x.shape[-1] != width:
            raise ValueError(f"tokens must be (B, T, {width}), got {tuple(x.shape)}")
        if self.norm_first:
            output: Tensor = x + self.dropout(sublayer(self.norm(x)))  # (B, T, D)
        else:
            output = self.norm(x + self.dropout(sublayer(x)))  # (B, T, D)
        return output


class EncoderLayer(nn.Module):
    """Self-attention, then two linear layers for each token by itself.

    Args:
        d_model: width D of the tokens.
        num_heads: number of heads H; it divides d_model.
        d_ff: width between the two linear layers.
        dropout: probability of dropping, in training only.
        norm_first: pre-norm if True, post-norm if False: see `Residual`.
        activation: "relu" or "gelu", between the two linear layers.
        norm_eps: see `Residual`.

    Raises:
        ValueError: for an unknown activation, or heads that do not divide.

    Source: Vaswani et al. 2017, section 3.1 and 3.3.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        norm_first: bool = True,
        activation: str = "relu",
        norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(f'activation must be "relu" or "gelu", not {activation!r}')
        around = (d_model, dropout, norm_first, norm_eps)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.around_attention = Residual(*around)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff),
            ACTIVATIONS[activation](),
            nn.Linear(d_ff, d_model),
        )
        self.around_feed_forward = Residual(*around)

    def forward(
        self, x: Float[Tensor, "B T D"], mask: Tensor | None = None
    ) -> Float[Tensor, "B T D"]:
        """Let the tokens x (B, T, D) look at each other; mask as in attention."""
        x = self.around_attention(x, lambda x: self.attention(x, mask=mask)[0])
        output: Tensor = self.around_feed_forward(x, self.feed_forward)  # (B, T, D)
        return output


class DecoderCache(KeyValueCache):
    """What a decoder layer keeps between two words: its own tokens and the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = KeyValueCache()


class DecoderLayer(EncoderLayer):
    """Causal self-attention, attention to the encoder's memory, two linear layers.

    Arguments as in `EncoderLayer`.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        norm_first: bool = True,
        activation: str = "relu",
        norm_eps: float = 1e-5,
    ) -> None:
        around = (d_model, dropout, norm_first, norm_eps)
        super().__init__(
            d_model, num_heads, d_ff, dropout=dropout, norm_first=norm_first,
            activation=activation, norm_eps=norm_eps,
        )  # fmt: skip
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.around_cross_attention = Residual(*around)

    def forward(  # type: ignore[override]
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"],
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "B T D"]:
        """Let each token look at those before it, and at the whole memory.

        Args:
            x: (B, T, D), with a cache the newest tokens only.
            memory: (B, S, D), the encoder's output.
            mask: hides tokens of x beside the future, as in attention.
            memory_mask: hides places of the memory: (T, S) or (B|1, H|1, T|1, S).
            cache: earlier tokens; a `DecoderCache` keeps the memory's keys and values
                as well, which are computed with the first token.
        """
        kept = cache.memory if isinstance(cache, DecoderCache) else None
        if kept is not None and len(kept):
            memory = memory[:, :0]  # its keys and values are in the cache
        x = self.around_attention(
            x, lambda x: self.attention(x, mask=mask, causal=True, cache=cache)[0]
        )  # (B, T, D)
        x = self.around_cross_attention(
            x,
            lambda x: self.cross_attention(
                x, memory, mask=memory_mask, cache=kept
            )[0],
        )  # fmt: skip
        output: Tensor = self.around_feed_forward(x, self.feed_forward)  # (B, T, D)
        return output


class Encoder(nn.Module):
    """A stack of encoder layers; with pre-norm, one norm more at the end.

    Args:
        d_model, num_heads, d_ff: as in `EncoderLayer`.
        num_layers: how many layers.
        settings: dropout, norm_first, activation and norm_eps of `EncoderLayer`.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_layers: int, d_ff: int, **settings: Any
    ) -> None:
        super().__init__()
        layers = [
            EncoderLayer(d_model, num_heads, d_ff, **settings)
            for _ in range(num_layers)
        ]
        self.layers = nn.ModuleList(layers)
        self.norm = last_norm(d_model, **settings)

    def forward(
        self, x: Float[Tensor, "B T D"], mask: Tensor | None = None
    ) -> Float[Tensor, "B T D"]:
        """Pass x (B, T, D) through every layer; mask as in attention."""
        for layer in self.layers:
            x = layer(x, mask)  # (B, T, D)
        output: Tensor = self.norm(x)  # (B, T, D)
        return output

    def attention_maps(
        self, x: Float[Tensor, "B T D"], mask: Tensor | None = None
    ) -> dict[str, Tensor]:
        """Weights (B, H, T, T) of every layer for tokens x, by the layer's name."""
        with recorded(self) as maps:
            self(x, mask)
        return maps


def last_norm(
    d_model: int, norm_first: bool = True, norm_eps: float = 1e-5, **_: Any
) -> nn.Module:
    """The norm at the end of a stack: pre-norm leaves its last sum without one."""
    return nn.LayerNorm(d_model, eps=norm_eps) if norm_first else nn.Identity()


@contextmanager
def recorded(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights of every attention layer of a model, by its name."""
    maps: dict[str, Tensor] = {}
    hooks = []
    for name, layer in model.named_modules():
        if isinstance(layer, MultiHeadAttention):

            def ask(_: Any, inputs: Any, settings: Any) -> Any:
                return inputs, settings | {"need_weights": True}

            def keep(_: Any, __: Any, result: Any, name: str = name) -> None:
                maps[name] = result[1]

            hooks.append(layer.register_forward_pre_hook(ask, with_kwargs=True))
            hooks.append(layer.register_forward_hook(keep))
    try:
        yield maps
    finally:
        for hook in hooks:
            hook.remove()
