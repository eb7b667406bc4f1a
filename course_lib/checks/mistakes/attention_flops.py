"""Known mistakes in `attention_flops`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy

from ..catalogue import Catalogue
from ..language import mark as N_

COUNT_SECTION = N_("chapter 7, Counting the operations")

MISTAKES = Catalogue()
# Two tokens of width 4: QK^T and weights · V take 2 · 2 · 2 · 4 = 32 each, 64 in all.
SMALL = (2, 4, 2)
LONG = (32768, 2, 1)


@MISTAKES.add(
    N_(
        "That is one half. Either a multiply-add was counted as 1, and it is 2, a "
        "multiplication and an addition; or one of the two products is missing, QK^T "
        "or weights · V; or the half that a causal mask hides was left out, and "
        "nothing is hidden here."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/facebookresearch/fvcore/issues/69",
)
def one_half(length, d_model, num_heads):
    return 2 * length**2 * d_model


@MISTAKES.add(
    N_(
        "The count is four times too small: a multiply-add counts 2, a multiplication "
        "and an addition, and there are two products, QK^T and weights · V."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/sovrasov/flops-counter.pytorch/issues/40",
)
def one_quarter(length, d_model, num_heads):
    return length**2 * d_model


@MISTAKES.add(
    N_(
        "The count grows with the number of heads. Each head works on a width of D/H "
        "only, so H heads cost what one wide head costs."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/mosaicml/llm-foundry/issues/909",
)
def times_heads(length, d_model, num_heads):
    return 4 * length**2 * d_model * num_heads


@MISTAKES.add(
    N_(
        "That is the count of one head, of width D/H. There are H heads, and together "
        "they cover the whole width D."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/mosaicml/llm-foundry/issues/909",
)
def one_head_only(length, d_model, num_heads):
    return 4 * length**2 * (d_model // num_heads)


@MISTAKES.add(
    N_(
        "The four projections (queries, keys, values, output) are counted too. They "
        "cost 8 · T · D² and are left out here: they grow with T, attention with T²."
    ),
    SMALL,
    COUNT_SECTION,
    "https://arxiv.org/abs/2001.08361, table 1",
)
def four_projections_included(length, d_model, num_heads):
    return 4 * length**2 * d_model + 8 * length * d_model**2


@MISTAKES.add(
    N_(
        "The projections to queries, keys and values are counted too. They cost "
        "6 · T · D² and are left out here: they grow with T, attention with T²."
    ),
    SMALL,
    COUNT_SECTION,
    "https://arxiv.org/abs/2001.08361, table 1",
)
def three_projections_included(length, d_model, num_heads):
    return 4 * length**2 * d_model + 6 * length * d_model**2


@MISTAKES.add(
    N_(
        "That is a whole layer, with its projections (8 · T · D²) and its feed-forward "
        "network (16 · T · D²). Asked for is what QK^T and weights · V cost."
    ),
    SMALL,
    COUNT_SECTION,
    "https://arxiv.org/abs/2104.04473, section 5.1",
)
def whole_layer(length, d_model, num_heads):
    return 4 * length**2 * d_model + 24 * length * d_model**2


@MISTAKES.add(
    N_(
        "The softmax is counted too, with 3 operations (exp, sum, division) for each "
        "score of each head. It is left out here: it is small beside the products."
    ),
    SMALL,
    COUNT_SECTION,
    "https://arxiv.org/abs/2203.15556, appendix F",
)
def softmax_included(length, d_model, num_heads):
    return 4 * length**2 * d_model + 3 * num_heads * length**2


@MISTAKES.add(
    N_(
        "The length stands there once, not squared. Every token looks at every token: "
        "T · T scores."
    ),
    SMALL,
    COUNT_SECTION,
    "classroom: a cost 'by token' taken for the cost of all",
)
def length_not_squared(length, d_model, num_heads):
    return 4 * length * d_model


@MISTAKES.add(
    N_(
        "Length and width are exchanged: the width is squared, as in a projection. In "
        "QK^T the length is."
    ),
    SMALL,
    COUNT_SECTION,
    "classroom: x @ W (T·D²) and Q @ K^T (T²·D) mixed up",
)
def width_squared(length, d_model, num_heads):
    return 4 * length * d_model**2


@MISTAKES.add(
    N_(
        "Only the pairs that a causal mask leaves are counted, T(T+1)/2 of them. "
        "Nothing is hidden here; the plain products compute all T² scores."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/NVIDIA/Megatron-LM/issues/831",
    convention=True,
)
def causal_pairs_only(length, d_model, num_heads):
    return 2 * length * (length + 1) * d_model


@MISTAKES.add(
    N_(
        "The number is right, but it is a float: / always gives one. A count is an "
        "int: use //, or divide nothing at all, since the heads cancel out."
    ),
    SMALL,
    COUNT_SECTION,
    "classroom: d_model / num_heads",
)
def true_division(length, d_model, num_heads):
    return 4 * length**2 * num_heads * (d_model / num_heads)


@MISTAKES.add(
    N_("The count is given in billions. Asked for are single operations, as an int."),
    SMALL,
    COUNT_SECTION,
    "classroom: FLOPs and GFLOPs",
)
def in_billions(length, d_model, num_heads):
    return 4 * length**2 * d_model / 1e9


@MISTAKES.add(
    N_(
        "The training step is counted, three times the forward pass. Asked for is one "
        "forward pass."
    ),
    SMALL,
    COUNT_SECTION,
    "https://github.com/pytorch/torchtitan/pull/280",
)
def training_step(length, d_model, num_heads):
    return 12 * length**2 * d_model


@MISTAKES.add(
    N_(
        "Long sequences overflow: whole numbers of 32 bits end at 2,147,483,647. Use "
        "ints of Python, which have no end, or 64 bits."
    ),
    LONG,
    COUNT_SECTION,
    "classroom: a table of sizes in int32",
)
def overflow_in_32_bits(length, d_model, num_heads):
    count = numpy.array(4, dtype=numpy.int32)
    with numpy.errstate(over="ignore"):
        for factor in (length, length, d_model):
            count = (count * numpy.int64(factor)).astype(numpy.int32)
    return int(count)
