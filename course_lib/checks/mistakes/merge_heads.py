"""Known mistakes in `merge_heads`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

MERGE_SECTION = N_("chapter 6, Merge")

MISTAKES = Catalogue()
# Values 0 to 7 as two heads of two tokens of two numbers.
SMALL_MERGE = (tensor([[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]),)


@MISTAKES.add(
    "Token 0 contains pieces of token 1: head and time are not swapped back before "
    "the heads are joined. If view complains after the swap, use reshape; do not "
    "leave the swap out.",
    SMALL_MERGE,
    MERGE_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def not_swapped_back(x):
    batch, heads, length, width = x.shape
    return x.reshape(batch, length, heads * width)


@MISTAKES.add(
    "The wrong axes are swapped: head width and time. Swap head and time, axes 1 and "
    "2.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: transpose(-2, -1) by habit",
)
def wrong_axes_swapped(x):
    batch, heads, length, width = x.shape
    return x.transpose(-2, -1).reshape(batch, length, heads * width)


@MISTAKES.add(
    "The heads are woven together number by number. Whole pieces stand one after the "
    "other: first head 0, then head 1.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: (d, H) and (H, d) exchanged",
)
def woven_together(x):
    batch, heads, length, width = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, length, heads * width)


@MISTAKES.add(
    "The heads are averaged. They are joined, so that each keeps what it found: "
    "(B, T, H·d).",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: nn.MultiheadAttention averages the weights it returns",
)
def averaged(x):
    return x.mean(dim=1)


@MISTAKES.add(
    "The heads are added up. They are joined, so that each keeps what it found: "
    "(B, T, H·d).",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: merge read as sum",
)
def added_up(x):
    return x.sum(dim=1)


@MISTAKES.add(
    "The head axis is still there, (B, T, H, d): join the last two axes.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: the swap done, the join forgotten",
)
def not_joined(x):
    return x.transpose(1, 2)


@MISTAKES.add(
    "The time stands before the batch: (T, B, H·d). The batch comes first.",
    SMALL_MERGE,
    MERGE_SECTION,
    "time-first attention code",
)
def time_first(x):
    return x.permute(2, 0, 1, 3).flatten(start_dim=2)


@MISTAKES.add(
    "Sentences are mixed: the result is right for a batch of one only, for the batch "
    "was taken for the heads. Head and time are axes 1 and 2.",
    (
        tensor(
            [
                [[[0.0], [1.0]]],
                [[[2.0], [3.0]]],
            ]
        ),
    ),
    MERGE_SECTION,
    "https://github.com/gazelle93/Transformer-Various-Positional-Encoding/issues/1",
)
def sentences_mixed(x):
    batch, heads, length, width = x.shape
    return x.permute(2, 0, 1, 3).reshape(batch, length, heads * width)


@MISTAKES.add(
    "The heads stand in the reverse order.",
    SMALL_MERGE,
    MERGE_SECTION,
    "classroom: a list of heads built from the end",
)
def heads_reversed(x):
    return x.flip(1).transpose(1, 2).flatten(start_dim=2)


@MISTAKES.add(
    "view refuses a tensor whose axes were swapped, for its numbers do not lie in "
    "order in memory. Use reshape or flatten, or contiguous() before view. Do not "
    "leave the swap out.",
    SMALL_MERGE,
    MERGE_SECTION,
    "https://github.com/jsbaan/transformer-from-scratch/issues/4",
)
def view_after_the_swap(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).view(batch, length, heads * width)
