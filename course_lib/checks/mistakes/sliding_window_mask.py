"""Known mistakes in `sliding_window_mask`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..catalogue import Catalogue
from ..language import mark as N_

WINDOW_SECTION = N_("chapter 7, A sliding window")
CAUSAL_SECTION = N_("chapter 4, The causal mask")
CONVENTIONS_SECTION = N_("chapter 4, True means may attend")

MISTAKES = Catalogue()


def _ago(length):
    """How many steps ago the column was, seen from the row: (length, length)."""
    places = torch.arange(length)
    return places[:, None] - places[None, :]


def _right(length, window):
    ago = _ago(length)
    return (ago >= 0) & (ago < window)


@MISTAKES.add(
    N_(
        "The window is one too wide: a row sees itself and `window` tokens before it. "
        "It counts itself, so window - 1 before it. Some libraries count the other "
        "way: that is a convention, and one has to know which one holds."
    ),
    (2, 1),
    WINDOW_SECTION,
    "https://github.com/huggingface/transformers/issues/39408",
    convention=True,
)
def one_too_wide(length, window):
    return _right(length, window + 1)


@MISTAKES.add(
    N_(
        "The window is one too narrow: a row sees itself and window - 2 tokens before "
        "it, and with a window of 1 nothing at all."
    ),
    (1, 1),
    WINDOW_SECTION,
    "classroom: > and >=",
)
def one_too_narrow(length, window):
    return _right(length, window - 1)


@MISTAKES.add(
    N_(
        "No row sees itself: the window holds the `window` tokens before it. It is to "
        "hold the token itself and window - 1 before it."
    ),
    (1, 1),
    WINDOW_SECTION,
    "https://github.com/rasbt/LLMs-from-scratch/pull/879",
)
def before_itself_only(length, window):
    ago = _ago(length)
    return (ago >= 1) & (ago <= window)


@MISTAKES.add(
    N_(
        "The window reaches to both sides: a row sees the window - 1 tokens after it "
        "too. Causal means that nothing later is seen."
    ),
    (2, 2),
    CAUSAL_SECTION,
    "https://github.com/huggingface/transformers/issues/39408",
)
def both_sides(length, window):
    return _ago(length).abs() < window


@MISTAKES.add(
    N_(
        "The window is centred: half of it lies before the token and half of it after. "
        "That is the window of an encoder, as in Longformer; this one is causal, and "
        "all of it lies before."
    ),
    (3, 2),
    WINDOW_SECTION,
    "https://arxiv.org/abs/2004.05150, section 3.1",
    convention=True,
)
def centred(length, window):
    return _ago(length).abs() <= window // 2


@MISTAKES.add(
    N_(
        "The past is limited, but all of the future is visible. Hide what comes later "
        "too."
    ),
    (2, 1),
    CAUSAL_SECTION,
    "https://github.com/huggingface/transformers/pull/41228",
)
def future_visible(length, window):
    return _ago(length) < window


@MISTAKES.add(
    N_("The window is not used: a row sees all that stands before it."),
    (2, 1),
    WINDOW_SECTION,
    "https://github.com/huggingface/transformers/pull/41228",
)
def window_ignored(length, window):
    return _ago(length) >= 0


@MISTAKES.add(
    N_(
        "The mask is cut into blocks: the first row of each sees itself only. A "
        "sliding window moves along with each row."
    ),
    (3, 2),
    WINDOW_SECTION,
    "classroom: 'local' attention in blocks taken for a sliding window",
)
def blocks_instead(length, window):
    block = torch.arange(length) // window
    return (_ago(length) >= 0) & (block[:, None] == block[None, :])


@MISTAKES.add(
    N_(
        "The first rows are filled up to `window` tokens with tokens that come later. "
        "Row 0 has nothing before it, and sees itself only."
    ),
    (2, 2),
    CAUSAL_SECTION,
    "classroom: 'each row has `window` True'",
)
def first_rows_filled_up(length, window):
    places = torch.arange(length)
    first = (places - window + 1).clamp(min=0)[:, None]
    return (places >= first) & (places < first + window)


@MISTAKES.add(
    N_(
        "The mask is transposed: a row sees itself and the window - 1 tokens after it. "
        "The row is the one that looks."
    ),
    (2, 2),
    CAUSAL_SECTION,
    "classroom: rows and columns exchanged",
)
def transposed(length, window):
    return _right(length, window).T


@MISTAKES.add(
    N_(
        "The mask is inverted: True stands on what is hidden. Here True means may "
        "attend. In nn.MultiheadAttention True means hidden; that is a convention, and "
        "one has to know which one a function follows."
    ),
    (2, 1),
    CONVENTIONS_SECTION,
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    convention=True,
)
def inverted(length, window):
    return ~_right(length, window)


@MISTAKES.add(
    N_(
        "Only the token window - 1 steps back is visible: the edge of the window, not "
        "the window."
    ),
    (2, 2),
    WINDOW_SECTION,
    "classroom: one diagonal instead of a band",
)
def edge_only(length, window):
    return _ago(length) == window - 1


@MISTAKES.add(
    N_(
        "The mask hides the window and shows what stands before it: the two triangles "
        "were taken the wrong way round."
    ),
    (2, 1),
    WINDOW_SECTION,
    "classroom: tril(-window) kept instead of taken away",
)
def older_tokens_only(length, window):
    return _ago(length) >= window


@MISTAKES.add(
    N_(
        "The mask holds 0 and 1 as floats. Such a mask would be added to the scores "
        "and hide nothing: make it bool."
    ),
    (2, 1),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/21518",
)
def float_mask(length, window):
    return _right(length, window).float()


@MISTAKES.add(
    N_(
        "The mask holds whole numbers. The ~ of a bool mask means something else for "
        "them (~1 is -2): make it bool."
    ),
    (2, 1),
    CONVENTIONS_SECTION,
    "https://github.com/pytorch/pytorch/issues/92554",
)
def integer_mask(length, window):
    return _right(length, window).long()


@MISTAKES.add(
    N_(
        "The mask holds 0 and -inf, to be added to scores. That is another convention; "
        "here a mask is bool."
    ),
    (2, 1),
    CONVENTIONS_SECTION,
    "https://github.com/huggingface/transformers/pull/41228",
    convention=True,
)
def additive_mask(length, window):
    return torch.zeros(length, length).masked_fill(~_right(length, window), -math.inf)
