"""A whole transformer: encoder, decoder, and writing a translation word by word."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.layers import (
    DecoderCache,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    last_norm,
    recorded,
)
from course_lib.positions import SinusoidalPositions
from course_lib.training import evaluating

__all__ = ["DecoderLayer", "Encoder", "EncoderLayer", "Transformer"]


class Transformer(nn.Module):
    """Translate with an encoder and a decoder.

    Args:
        vocab_size: number of source tokens.
        d_model: width D of every token.
        num_heads: number of heads H; it divides d_model.
        num_layers: number of layers of the encoder, and of the decoder.
        d_ff: width inside the feed-forward layers.
        target_vocab_size: number of target tokens V; vocab_size if not given.
        dropout: probability of dropping, in training only.
        pad: the token that fills up short sentences on the right.
        norm_first: pre-norm if True, post-norm if False.

    Source: Vaswani et al. 2017, section 3.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        *,
        target_vocab_size: int | None = None,
        dropout: float = 0.1,
        pad: int = 0,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        if target_vocab_size is None:
            target_vocab_size = vocab_size
        self.pad = pad
        settings: dict[str, Any] = {"dropout": dropout, "norm_first": norm_first}
        self.source_embedding = nn.Embedding(vocab_size, d_model)
        self.target_embedding = nn.Embedding(target_vocab_size, d_model)
        self.positions = SinusoidalPositions(d_model, dropout)
        self.encoder = Encoder(d_model, num_heads, num_layers, d_ff, **settings)
        layers = [
            DecoderLayer(d_model, num_heads, d_ff, **settings)
            for _ in range(num_layers)
        ]
        self.decoder = nn.ModuleList(layers)
        self.decoder_norm = last_norm(d_model, **settings)
        self.output = nn.Linear(d_model, target_vocab_size)

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """Predict each next target token from the source and the tokens before it.

        Args:
            source: (B, S), padded on the right.
            target: (B, T), the decoder's input: bos first, the caller shifts.

        Returns:
            The logits (B, T, V).

        Raises:
            ValueError: when the two are not batches of the same size, or a source is
                padded on the left.
        """
        check_batches(source, target, self.pad)
        memory, visible = self.encode(source)  # (B, S, D), (B, 1, 1, S)
        return self.decode(target, memory, visible)  # (B, T, V)

    def encode(
        self, source: Int[Tensor, "B S"]
    ) -> tuple[Float[Tensor, "B S D"], Bool[Tensor, "B 1 1 S"]]:
        """Give the memory of a source, and where it holds no padding."""
        visible = (source != self.pad)[:, None, None, :]  # (B, 1, 1, S)
        x = self.positions(self.source_embedding(source))  # (B, S, D)
        return self.encoder(x, visible), visible

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S D"],
        visible: Bool[Tensor, "B 1 1 S"],
        caches: list[DecoderCache] | None = None,
    ) -> Float[Tensor, "B T V"]:
        """Give the logits for target tokens; with caches, for the newest ones."""
        offset = len(caches[0]) if caches else 0
        x = self.positions(self.target_embedding(target), offset)  # (B, T, D)
        for number, layer in enumerate(self.decoder):
            cache = caches[number] if caches else None
            x = layer(x, memory, memory_mask=visible, cache=cache)  # (B, T, D)
        logits: Tensor = self.output(self.decoder_norm(x))  # (B, T, V)
        return logits

    def attention_maps(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> dict[str, Tensor]:
        """Weights (B, H, Tq, Tk) of every attention layer, by the layer's name."""
        with recorded(self) as maps:
            self(source, target)
        return maps

    @torch.no_grad()
    def generate(
        self,
        source: Int[Tensor, "B S"],
        *,
        bos: int,
        eos: int,
        max_new_tokens: int,
        cache: bool = True,
    ) -> tuple[Int[Tensor, "B T"], Bool[Tensor, "B"]]:
        """Write a translation, at each step the likeliest token.

        Args:
            source: (B, S), padded on the right.
            bos: the token that every translation starts from, at position 0.
            eos: the token that ends a translation.
            max_new_tokens: how many tokens to write at most.
            cache: keep keys and values, so that each step computes one token only.

        Returns:
            The tokens (B, T), T at most max_new_tokens, without bos, with eos, then
            pad; and whether each row ended by itself (B,), not by the limit.
        """
        check_batches(source, source, self.pad)
        tokens = source.new_full((len(source), 1), bos)  # (B, 1)
        finished = torch.zeros_like(tokens[:, 0], dtype=torch.bool)  # (B,)
        caches = [DecoderCache() for _ in self.decoder] if cache else None
        with evaluating(self):
            memory, visible = self.encode(source)  # (B, S, D), (B, 1, 1, S)
            for _ in range(max_new_tokens):
                newest = tokens[:, -1:] if cache else tokens  # (B, 1) or (B, T)
                logits = self.decode(newest, memory, visible, caches)  # (B, …, V)
                token = logits[:, -1].argmax(dim=-1)  # (B,)
                token = token.masked_fill(finished, self.pad)  # (B,)
                tokens = torch.cat([tokens, token[:, None]], dim=1)  # (B, T + 1)
                finished = finished | (token == eos)  # (B,)
                if finished.all():
                    break
        return tokens[:, 1:], finished


def check_batches(source: Tensor, target: Tensor, pad: int) -> None:
    """Refuse batches that do not belong together, and padding on the left."""
    two_batches = source.dim() == target.dim() == 2
    if not two_batches or source.shape[0] != target.shape[0]:
        raise ValueError(
            f"source {tuple(source.shape)} and target {tuple(target.shape)} must be "
            "(B, S) and (B, T) with the same B"
        )
    if torch.compiler.is_compiling() or source.is_meta:
        return
    padding = source == pad  # (B, S)
    late = (padding[:, :-1] & ~padding[:, 1:]).any(dim=1)  # (B,)
    if bool(late.any()):
        row = int(late.nonzero()[0])
        raise ValueError(
            f"source {row} has a token after padding: pad on the right, not on the left"
        )
