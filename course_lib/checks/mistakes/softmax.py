"""Known mistakes in `softmax`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SOFTMAX_SECTION = N_("chapter 3, A softmax that survives large scores")

MISTAKES = Catalogue()
TWO_SCORES = (tensor([2.0, 0.0]), -1)


@MISTAKES.add(
    "The exponentials overflow: e^89 is more than float32 holds, and inf / inf is "
    "nan. Subtract the largest score first; the weights stay the same.",
    (tensor([100.0, 99.0]), -1),
    SOFTMAX_SECTION,
    "classroom: the textbook formula, typed in",
    kind="large",
)
def overflow(x, dim=-1):
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The argument dim is not used: the softmax always runs along the last axis.",
    (tensor([[2.0, 0.0], [0.0, 0.0]]), 0),
    SOFTMAX_SECTION,
    "classroom: tested with the default only",
)
def dim_ignored(x, dim=-1):
    return x.softmax(dim=-1)


@MISTAKES.add(
    "The softmax always runs along the first axis.",
    (tensor([[2.0, 0.0]]), -1),
    SOFTMAX_SECTION,
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def first_axis(x, dim=-1):
    return x.softmax(dim=0)


@MISTAKES.add(
    "All entries together sum to 1. Each slice along dim is to sum to 1: divide by "
    "the sum along dim, with keepdim=True.",
    (tensor([[0.0, 0.0], [0.0, 0.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: x.sum() without dim",
)
def whole_tensor(x, dim=-1):
    return x.flatten().softmax(dim=0).reshape(x.shape)


@MISTAKES.add(
    "One largest entry of the whole tensor is subtracted. A row far below it becomes "
    "0 / 0: take the largest entry along dim.",
    (tensor([[0.0, 0.0], [200.0, 200.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: x.max() without dim",
    kind="large",
)
def one_maximum_for_all(x, dim=-1):
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "These are logarithms of the weights: a log-softmax. Weights lie between 0 and 1.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: log_softmax stands beside softmax in the documentation",
)
def log_softmax(x, dim=-1):
    return x.log_softmax(dim=dim)


@MISTAKES.add(
    "The exponentials are not divided by their sum, so the weights do not sum to 1.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: the second half of the formula forgotten",
)
def not_normalised(x, dim=-1):
    return (x - x.amax(dim=dim, keepdim=True)).exp()


@MISTAKES.add(
    "The scores are divided by their sum, without an exponential. Negative scores "
    "give negative weights.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: 'normalise' read as 'divide by the sum'",
)
def divided_by_the_sum(x, dim=-1):
    return x / x.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The scores are divided by the largest one. Subtract it: only a difference "
    "cancels out of the softmax.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: the safe softmax half remembered",
)
def divided_by_the_maximum(x, dim=-1):
    return (x / x.amax(dim=dim, keepdim=True)).softmax(dim=dim)


@MISTAKES.add(
    "Large scores are cut off, so two that lie beyond the limit become equal. "
    "Subtract the largest score instead.",
    (tensor([200.0, 100.0]), -1),
    SOFTMAX_SECTION,
    "classroom: a quick repair of the overflow",
    kind="large",
)
def large_scores_cut_off(x, dim=-1):
    powers = x.clamp(-80, 80).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The smallest score is subtracted, so that large ones still overflow. Subtract the "
    "largest: then every exponential is at most 1.",
    (tensor([150.0, 0.0]), -1),
    SOFTMAX_SECTION,
    "classroom: the safe softmax half remembered",
    kind="large",
)
def smallest_subtracted(x, dim=-1):
    powers = (x - x.amin(dim=dim, keepdim=True)).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The mean is subtracted, so that scores far above it still overflow. Subtract the "
    "largest: then every exponential is at most 1.",
    (tensor([2000.0, 0.0]), -1),
    SOFTMAX_SECTION,
    "classroom: centring taken for the safe softmax",
    kind="large",
)
def mean_subtracted(x, dim=-1):
    powers = (x - x.mean(dim=dim, keepdim=True)).exp()
    return powers / powers.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The sums have lost their axis, so they are lined up with the wrong one. Keep it: "
    "sum(dim=dim, keepdim=True).",
    (tensor([[2.0, 0.0], [0.0, 0.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: works for one dimension, and for dim=0",
)
def keepdim_forgotten(x, dim=-1):
    powers = (x - x.amax(dim=dim, keepdim=True)).exp()
    return powers / powers.sum(dim=dim)


@MISTAKES.add(
    "The largest entry is taken along dim, but the sum over the whole tensor: all "
    "slices together sum to 1. Divide by the sum along dim, with keepdim=True.",
    (tensor([[0.0, 0.0], [0.0, 1.0]]), -1),
    SOFTMAX_SECTION,
    "classroom: dim given to one of two calls, and not to the other",
)
def one_sum_for_all(x, dim=-1):
    powers = (x - x.amax(dim=dim, keepdim=True)).exp()
    return powers / powers.sum()


@MISTAKES.add(
    "The axis dim is moved to the end and not moved back, so the result lies on its "
    "side. Move it back: movedim(-1, dim).",
    (tensor([[2.0, 0.0], [0.0, 0.0]]), 0),
    SOFTMAX_SECTION,
    "classroom: code written for the last axis, fitted to another one",
)
def axis_not_moved_back(x, dim=-1):
    return x.movedim(dim, -1).softmax(dim=-1)


@MISTAKES.add(
    "A sigmoid of each score is divided by the sum of the sigmoids. The formula has "
    "e^x where a sigmoid stands here, and a sigmoid never goes above 1.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: sigmoid and softmax both turn scores into shares",
)
def sigmoids_divided_by_their_sum(x, dim=-1):
    shares = x.sigmoid()
    return shares / shares.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "These are powers of 2. The softmax takes powers of e: exp.",
    TWO_SCORES,
    SOFTMAX_SECTION,
    "classroom: 'exponential' read as 2 to the power of x",
)
def powers_of_two(x, dim=-1):
    powers = 2 ** (x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)


@MISTAKES.add(
    "The largest size is subtracted, without regard to the sign. A slice of very "
    "negative scores becomes 0 / 0: subtract the largest score itself.",
    (tensor([-200.0, -200.0]), -1),
    SOFTMAX_SECTION,
    "classroom: abs() to be safe",
    kind="large",
)
def largest_size_subtracted(x, dim=-1):
    powers = (x - x.abs().amax(dim=dim, keepdim=True)).exp()
    return powers / powers.sum(dim=dim, keepdim=True)
