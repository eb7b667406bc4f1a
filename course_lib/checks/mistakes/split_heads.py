"""Known mistakes in `split_heads`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SPLIT_SECTION = N_("chapter 6, Split")

MISTAKES = Catalogue()
# Two tokens of four numbers, to be cut into two heads.
SMALL_SPLIT = (tensor([[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]), 2)


@MISTAKES.add(
    "The head axis stands after the time, (B, T, H, d). Swap the two, so that each "
    "head holds a sentence of its own: (B, H, T, d).",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def not_swapped(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads)


@MISTAKES.add(
    "Heads and tokens are mixed: one reshape to (B, H, T, d) fills head 0 with the "
    "first tokens. Cut the last axis first, (B, T, H, d), then swap.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "https://github.com/ajhalthor/Transformer-Neural-Network/issues/1",
)
def heads_and_tokens_mixed(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads)


@MISTAKES.add(
    "The numbers are dealt out like cards: head h gets every H-th number. Each head "
    "gets a piece of neighbours; the two are the same up to the order of columns in "
    "the projections, a convention, but the library keeps pieces.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "classroom: (d, H) and (H, d) exchanged",
    convention=True,
)
def dealt_out(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, width // num_heads, num_heads)
    return parts.permute(0, 3, 1, 2)


@MISTAKES.add(
    "The heads stand before the batch, (H, B, T, d). The batch comes first.",
    (tensor([[[0.0, 1.0]]]), 2),
    SPLIT_SECTION,
    "https://github.com/hackiey/QAnet-pytorch/issues/2",
)
def heads_first(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1))


@MISTAKES.add(
    "Time and head width are swapped as well, (B, H, d, T). That is how keys look "
    "once they are transposed for the scores, not here.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "public code that prepares keys for the product",
)
def width_before_time(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)
    return parts.permute(0, 2, 3, 1)


@MISTAKES.add(
    "Batch and heads are joined into one axis, (B·H, T, d). Keep four axes.",
    SMALL_SPLIT,
    SPLIT_SECTION,
    "attention code written for torch.bmm",
)
def batch_and_heads_joined(x, num_heads):
    batch, length, width = x.shape
    parts = x.reshape(batch, length, num_heads, width // num_heads)
    return parts.transpose(1, 2).reshape(-1, length, width // num_heads)


@MISTAKES.add(
    "num_heads is taken for the width of a head. It is the number of heads; a head is "
    "D / num_heads wide.",
    (tensor([[[0.0, 1.0, 2.0, 3.0]]]), 1),
    SPLIT_SECTION,
    "classroom: chunk and split take different numbers",
)
def number_taken_for_width(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, width // num_heads, num_heads).transpose(1, 2)


@MISTAKES.add(
    "Every head gets the whole vector, not its piece.",
    (tensor([[[0.0, 1.0]]]), 2),
    SPLIT_SECTION,
    "classroom: heads said to 'look at the same word'",
)
def whole_vector_for_every_head(x, num_heads):
    return x[:, None].expand(-1, num_heads, -1, -1)
