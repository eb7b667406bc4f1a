"""A recurrent encoder-decoder: one fixed vector, or attention over all states."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_lib.fused import masked_softmax


def additive_scores(
    query: Float[Tensor, "B Tq Dq"],
    keys: Float[Tensor, "B Tk Dk"],
    W_q: Float[Tensor, "A Dq"],
    W_k: Float[Tensor, "A Dk"],
    v: Float[Tensor, "A"],
) -> Float[Tensor, "B Tq Tk"]:
    """Score each key against each query with a small network: v · tanh(W_q q + W_k k).

    Args:
        query: (B, Tq, Dq), what each step of the decoder looks for.
        keys: (B, Tk, Dk), one state of the encoder for each source word.
        W_q: (A, Dq), brings a query to the width A of the network.
        W_k: (A, Dk), brings a key to the same width.
        v: (A,), adds the A numbers up to one score.

    Returns:
        The scores (B, Tq, Tk), of any sign.

    Source: Bahdanau, Cho and Bengio 2015, appendix A.1.2.
    """
    queries = (query @ W_q.T)[:, :, None, :]  # (B, Tq, 1, A)
    offers = (keys @ W_k.T)[:, None, :, :]  # (B, 1, Tk, A)
    return torch.tanh(queries + offers) @ v  # (B, Tq, Tk)


def dot_scores(
    query: Float[Tensor, "B Tq D"], keys: Float[Tensor, "B Tk D"]
) -> Float[Tensor, "B Tq Tk"]:
    """Score each key against each query with their dot product, q · k.

    Args:
        query: (B, Tq, D), what each step of the decoder looks for.
        keys: (B, Tk, D), one state of the encoder for each source word.

    Returns:
        The scores (B, Tq, Tk), not scaled.

    Source: Luong, Pham and Manning 2015, equation 8, "dot".
    """
    return query @ keys.transpose(-2, -1)  # (B, Tq, Tk)


class RecurrentEncoderDecoder(nn.Module):
    """Translate with two GRUs, joined by one vector or by attention.

    The encoder reads the source word by word. The decoder starts from its last state
    and writes the target. Before each word it looks at a context vector: the same last
    state again (`attention=None`), or a weighted sum of all encoder states. The three
    have the same state size and the same output layer; "additive" has two matrices and
    one vector more, a quarter as wide as the state.

    Exact match needs no decoding loop here. Greedy decoding and teacher forcing feed
    the decoder the same words for as long as every word so far was right, so greedy
    decoding writes the whole target if and only if the teacher-forced argmax is right
    at every position, the end of the sentence included.

    Args:
        vocab_size: number of source tokens.
        hidden_size: width of the embeddings and of both states.
        attention: None for one fixed vector, "additive" (Bahdanau) or "dot" (Luong).
        target_vocab_size: number of target tokens; vocab_size if not given.
        pad: the token that fills up short sentences on the right.

    Raises:
        ValueError: for an unknown kind of attention or a size below 1.

    Source: Bahdanau et al. 2015, section 3; Luong et al. 2015, section 3.1 (there as
    here the context is mixed in after the recurrent step).
    """

    def __init__(
        self,
        vocab_size: int,
        hidden_size: int,
        *,
        attention: Literal["additive", "dot"] | None = None,
        target_vocab_size: int | None = None,
        pad: int = 0,
    ) -> None:
        super().__init__()
        if target_vocab_size is None:
            target_vocab_size = vocab_size
        _check_settings(attention, vocab_size, hidden_size, target_vocab_size)
        self.attention = attention
        self.pad = pad
        self.source_embedding = nn.Embedding(vocab_size, hidden_size)
        self.target_embedding = nn.Embedding(target_vocab_size, hidden_size)
        self.encoder = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.decoder = nn.GRU(hidden_size, hidden_size, batch_first=True)
        if attention == "additive":
            width = max(hidden_size // 4, 1)
            self.W_q = nn.Linear(hidden_size, width, bias=False)
            self.W_k = nn.Linear(hidden_size, width, bias=False)
            self.v = nn.Linear(width, 1, bias=False)
        self.output = nn.Linear(2 * hidden_size, target_vocab_size)

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> tuple[Float[Tensor, "B T V"], Float[Tensor, "B T S"] | None]:
        """Predict each next target word from the source and the words before it.

        Args:
            source: (B, S), padded on the right.
            target: (B, T), the decoder's input: bos first, the caller shifts.

        Returns:
            The logits (B, T, V), and the weights (B, T, S) or None without attention.

        Raises:
            ValueError: when source and target are not two batches of the same size.
        """
        _check_batches(source, target)
        visible = source != self.pad  # (B, S)
        states, _ = self.encoder(self.source_embedding(source))  # (B, S, D)
        last = last_state(states, visible)  # (B, D)
        query, _ = self.decoder(self.target_embedding(target), last[None])  # (B, T, D)
        if self.attention is None:
            context, weights = last[:, None].expand_as(query), None  # (B, T, D)
        else:
            scores = self.scores(query, states)  # (B, T, S)
            weights = masked_softmax(scores, visible[:, None, :])  # (B, T, S)
            context = weights @ states  # (B, T, D)
        return self.output(torch.cat([query, context], dim=-1)), weights  # (B, T, V)

    def scores(
        self, query: Float[Tensor, "B T D"], keys: Float[Tensor, "B S D"]
    ) -> Float[Tensor, "B T S"]:
        """Score every encoder state for every decoder state."""
        if self.attention == "dot":
            return dot_scores(query, keys)  # (B, T, S)
        W_q, W_k, v = self.W_q.weight, self.W_k.weight, self.v.weight[0]
        return additive_scores(query, keys, W_q, W_k, v)  # (B, T, S)


def last_state(
    states: Float[Tensor, "B S D"], visible: Bool[Tensor, "B S"]
) -> Float[Tensor, "B D"]:
    """Pick the state after the last real word of each sentence."""
    last = visible.sum(dim=1).sub(1).clamp(min=0)  # (B,)
    index = last[:, None, None].expand(-1, 1, states.shape[-1])  # (B, 1, D)
    return states.gather(1, index)[:, 0]  # (B, D)


def _check_settings(attention: str | None, *sizes: int) -> None:
    """Refuse a score that does not exist and sizes that hold nothing."""
    if attention not in (None, "additive", "dot"):
        raise ValueError(
            f'attention must be None, "additive" or "dot", not {attention!r}'
        )
    if min(sizes) < 1:
        names = "vocab_size, hidden_size and target_vocab_size"
        raise ValueError(f"{names} must be at least 1, got {sizes}")


def _check_batches(source: Tensor, target: Tensor) -> None:
    """Refuse two batches that do not belong together."""
    two_batches = source.dim() == target.dim() == 2
    same_size = two_batches and source.shape[0] == target.shape[0]
    if not same_size or 0 in (*source.shape, *target.shape):
        raise ValueError(
            f"source {tuple(source.shape)} and target {tuple(target.shape)} must be "
            "(B, S) and (B, T) with the same B and at least one token each"
        )
