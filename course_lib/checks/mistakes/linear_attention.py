"""Known mistakes in `linear_attention`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
import torch.nn.functional as F

from ..cases import Limit, tensor
from ..catalogue import Catalogue
from ..language import mark as N_

LINEAR_SECTION = N_("chapter 7, Linear attention")
CAUSAL_SECTION = N_("chapter 4, The causal mask")

MISTAKES = Catalogue()
# Two tokens, all of q and k 0: both features are 1, the weights of token 1 are 1/2.
TWO_TOKENS = (tensor([[0.0], [0.0]]), tensor([[0.0], [0.0]]), tensor([[1.0], [3.0]]))
# Token 1 has the feature 3, token 0 the feature 1: weights 1/4 and 3/4.
UNEQUAL = (tensor([[0.0], [0.0]]), tensor([[0.0], [2.0]]), tensor([[4.0], [0.0]]))
# Features of 0.0025, their product is 0.000006.
LOW = (tensor([[-6.0], [-6.0]]), tensor([[-6.0], [-6.0]]), tensor([[4.0], [8.0]]))
# A negative key, and two widths, so that the query matters.
NEGATIVE = (
    tensor([[0.0, 0.0], [1.0, 0.0]]),
    tensor([[-1.0, 0.0], [0.0, -1.0]]),
    tensor([[0.0], [4.0]]),
)
LONG = tuple(
    tensor([[math.sin((i + 1) * (j + seed)) for j in range(width)] for i in range(500)])
    for seed, width in ((1, 4), (2, 4), (3, 1))
)


def work(tokens: int) -> Limit:
    """Enough for chunks of 64, with width 4 and values of width 1."""
    return Limit(
        operations=900 * tokens,
        sentence=N_(
            "the numbers are right, but your code computes {operations} numbers: that "
            "grows with T². Running sums need fewer than {most}."
        ),
    )


def _map(x):
    return F.elu(x) + 1


def _linear(query, key, v):
    """Causal linear attention of features: from here wrong answers are made."""
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0)
    total = (query * key.cumsum(dim=0)).sum(dim=1, keepdim=True)
    return (query[:, :, None] * pairs).sum(dim=1) / total


def _numerator(query, key, v):
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0)
    return (query[:, :, None] * pairs).sum(dim=1)


@MISTAKES.add(
    N_(
        "It is not causal: the sums run over all tokens, so that each token sees what "
        "comes later. Running sums (cumsum) hold the past only."
    ),
    TWO_TOKENS,
    LINEAR_SECTION,
    "https://github.com/lucidrains/linear-attention-transformer/issues/5",
)
def not_causal(q, k, v):
    query, key = _map(q), _map(k)
    return query @ (key.T @ v) / (query @ key.sum(dim=0))[:, None]


@MISTAKES.add(
    N_(
        "That is softmax attention, with the future hidden. Linear attention has no "
        "softmax: the weight of a key is φ(q) · φ(k), divided by the sum of these."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://arxiv.org/abs/2006.16236, section 3.2",
)
def softmax_attention(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf).softmax(dim=1) @ v


@MISTAKES.add(
    N_(
        "The sums are never divided: the weights of a token do not sum to 1. Divide by "
        "φ(q) · (running sum of φ(k))."
    ),
    TWO_TOKENS,
    LINEAR_SECTION,
    "https://github.com/lucidrains/performer-pytorch/issues/40",
)
def no_normaliser(q, k, v):
    return _numerator(_map(q), _map(k), v)


@MISTAKES.add(
    N_(
        "The denominator runs over all keys, also over later ones. It is the same "
        "running sum as above the line: the keys up to this token."
    ),
    TWO_TOKENS,
    LINEAR_SECTION,
    "https://github.com/lucidrains/performer-pytorch/issues/40",
)
def normaliser_over_all_keys(q, k, v):
    query, key = _map(q), _map(k)
    return _numerator(query, key, v) / (query @ key.sum(dim=0))[:, None]


@MISTAKES.add(
    N_(
        "The sum is divided by the running sum of the keys, number by number, before "
        "the query comes in. The denominator of a token is one number: φ(q) · (running "
        "sum of φ(k))."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://github.com/lucidrains/performer-pytorch/issues/21",
)
def divided_by_the_keys_alone(q, k, v):
    query, key = _map(q), _map(k)
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0)
    pairs = pairs / key.cumsum(dim=0)[:, :, None]
    return (query[:, :, None] * pairs).sum(dim=1)


@MISTAKES.add(
    N_(
        "The sum is divided by the number of tokens so far. That makes weights that "
        "sum to 1 only if all of them are 1: divide by φ(q) · (running sum of φ(k))."
    ),
    UNEQUAL,
    LINEAR_SECTION,
    "classroom: a mean taken for a weighted mean",
)
def divided_by_the_count(q, k, v):
    count = torch.arange(1, len(q) + 1, dtype=q.dtype)[:, None]
    return _numerator(_map(q), _map(k), v) / count


@MISTAKES.add(
    N_("The feature map is e^x. Here it is elu(x) + 1, which is x + 1 for positive x."),
    UNEQUAL,
    LINEAR_SECTION,
    "https://arxiv.org/abs/2009.14794, section 2.3",
)
def exponential_map(q, k, v):
    return _linear(q.exp(), k.exp(), v)


@MISTAKES.add(
    N_(
        "The feature map is relu. It makes 0 of all that is negative, so that a token "
        "may be left with 0 / 0. Here it is elu(x) + 1, which is always positive."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://arxiv.org/abs/2006.16236, section 3.2.1",
)
def relu_map(q, k, v):
    return _linear(q.relu(), k.relu(), v)


@MISTAKES.add(
    N_(
        "The feature map is relu(x) + 1: it makes 1 of all that is negative. elu(x) + "
        "1 is e^x there."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: relu and elu confused",
)
def relu_plus_one(q, k, v):
    return _linear(q.relu() + 1, k.relu() + 1, v)


@MISTAKES.add(
    N_(
        "The feature map is elu without the + 1. It is negative for negative numbers, "
        "and so are the weights. The + 1 makes it positive."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://arxiv.org/abs/2006.16236, section 3.2.1",
)
def one_forgotten(q, k, v):
    return _linear(F.elu(q), F.elu(k), v)


@MISTAKES.add(
    N_(
        "The feature map is softmax over the width, of query and key. Here it is "
        "elu(x) + 1, entry by entry."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://arxiv.org/abs/1812.01243, section 3",
    convention=True,
)
def softmax_map(q, k, v):
    return _linear(q.softmax(dim=1), k.softmax(dim=1), v)


@MISTAKES.add(
    N_("There is no feature map: q and k are used as they are."),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: 'linear' read as 'without softmax'",
)
def no_feature_map(q, k, v):
    return _linear(q, k, v)


@MISTAKES.add(
    N_("The feature map is applied to the queries only. The keys need it as well."),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: one of two lines forgotten",
)
def keys_not_mapped(q, k, v):
    return _linear(_map(q), k, v)


@MISTAKES.add(
    N_("The feature map is applied to the keys only. The queries need it as well."),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: one of two lines forgotten",
)
def queries_not_mapped(q, k, v):
    return _linear(q, _map(k), v)


@MISTAKES.add(
    N_(
        "The feature map is applied to the values too. They are what is mixed, and "
        "stay as they are."
    ),
    TWO_TOKENS,
    LINEAR_SECTION,
    "classroom: all three treated alike",
)
def values_mapped_too(q, k, v):
    return _linear(_map(q), _map(k), _map(v))


@MISTAKES.add(
    N_(
        "No token sees itself: the running sums are used before the token is added. "
        "The first one is left with 0 / 0."
    ),
    TWO_TOKENS,
    CAUSAL_SECTION,
    "https://github.com/pbloem/former/issues/10",
)
def itself_left_out(q, k, v):
    query, key = _map(q), _map(k)
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0).roll(1, dims=0)
    sums = key.cumsum(dim=0).roll(1, dims=0)
    pairs[0] = sums[0] = 0.0
    total = (query * sums).sum(dim=1, keepdim=True)
    return (query[:, :, None] * pairs).sum(dim=1) / total


@MISTAKES.add(
    N_(
        "Each token gets its own value back: the sums are made anew for each token, "
        "and do not hold those before it. Add to them, do not replace them."
    ),
    TWO_TOKENS,
    LINEAR_SECTION,
    "classroom: = instead of +=",
)
def sums_replaced(q, k, v):
    query, key = _map(q), _map(k)
    above = (query[:, :, None] * key[:, :, None] * v[:, None, :]).sum(dim=1)
    return above / (query * key).sum(dim=1, keepdim=True)


@MISTAKES.add(
    N_(
        "Queries and keys are divided by √d before the feature map. There is no "
        "softmax here that could saturate, and the division changes φ."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: the scale of softmax attention kept",
)
def scaled_before_the_map(q, k, v):
    root = math.sqrt(q.shape[1])
    return _linear(_map(q / root), _map(k / root), v)


@MISTAKES.add(
    N_(
        "The sums run over the width instead of the tokens: cumsum along the wrong "
        "axis."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "https://github.com/fla-org/flash-linear-attention/pull/594",
)
def normaliser_along_the_width(q, k, v):
    query, key = _map(q), _map(k)
    total = (query * key.cumsum(dim=1)).sum(dim=1, keepdim=True)
    return _numerator(query, key, v) / total


@MISTAKES.add(
    N_(
        "The numbers are right, but the work grows with T²: all pairs of tokens, or "
        "all sums anew for each token. Carry the sums along: one step for each token."
    ),
    LONG,
    LINEAR_SECTION,
    "https://github.com/lucidrains/linear-attention-transformer/issues/5",
    limit=work(500),
)
def all_pairs(q, k, v):
    weights = (_map(q) @ _map(k).T).tril()
    return weights @ v / weights.sum(dim=1, keepdim=True)


@MISTAKES.add(
    N_(
        "A number is added to the denominator. It is never 0, for elu + 1 is positive; "
        "but it may be as small as 0.000006, and then what is added counts."
    ),
    LOW,
    LINEAR_SECTION,
    "https://github.com/idiap/fast-transformers",
)
def number_added_below(q, k, v):
    query, key = _map(q), _map(k)
    total = (query * key.cumsum(dim=0)).sum(dim=1, keepdim=True)
    return _numerator(query, key, v) / (total + 1e-6)


@MISTAKES.add(
    N_(
        "A number is added to the denominator. It is never 0, for elu + 1 is positive; "
        "but it may be as small as 0.000006, and then what is added counts."
    ),
    LOW,
    LINEAR_SECTION,
    "classroom: 1e-3 against a division by 0",
    id="number-added-below",
)
def much_added_below(q, k, v):
    query, key = _map(q), _map(k)
    total = (query * key.cumsum(dim=0)).sum(dim=1, keepdim=True)
    return _numerator(query, key, v) / (total + 1e-3)


@MISTAKES.add(
    N_(
        "The query is missing below: the numerator holds φ(q), the denominator only "
        "the sum of all entries of φ(k). Both hold φ(q) · φ(k)."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: the query taken out of one sum, and lost in the other",
)
def no_query_below(q, k, v):
    query, key = _map(q), _map(k)
    total = key.cumsum(dim=0).sum(dim=1, keepdim=True)
    return _numerator(query, key, v) / total


@MISTAKES.add(
    N_(
        "The feature map is softplus. It is close to elu + 1, and not the same: at 0 "
        "it is 0.69 instead of 1."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: another smooth and positive map",
)
def softplus_map(q, k, v):
    return _linear(F.softplus(q), F.softplus(k), v)


@MISTAKES.add(
    N_(
        "The products of keys and values are summed over the width instead of the "
        "tokens: cumsum along the wrong axis."
    ),
    NEGATIVE,
    LINEAR_SECTION,
    "classroom: dim=1 for dim=0",
)
def products_along_the_width(q, k, v):
    query, key = _map(q), _map(k)
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=1)
    total = (query * key.cumsum(dim=0)).sum(dim=1, keepdim=True)
    return (query[:, :, None] * pairs).sum(dim=1) / total


@MISTAKES.add(
    N_(
        "It runs backwards: each token sees itself and what comes later. The sums "
        "begin with the first token."
    ),
    TWO_TOKENS,
    CAUSAL_SECTION,
    "classroom: flipped once too often",
)
def runs_backwards(q, k, v):
    return _linear(_map(q).flip(0), _map(k).flip(0), v.flip(0)).flip(0)


@MISTAKES.add(
    N_(
        "From the second on, no token sees itself: the sums used are those of the "
        "token before. Add a token, then use the sums."
    ),
    TWO_TOKENS,
    CAUSAL_SECTION,
    "classroom: the sums shifted by one, and 0 / 0 avoided at the first token",
)
def itself_left_out_later(q, k, v):
    query, key = _map(q), _map(k)
    place = (torch.arange(len(q), device=q.device) - 1).clamp(min=0)
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0)[place]
    total = (query * key.cumsum(dim=0)[place]).sum(dim=1, keepdim=True)
    return (query[:, :, None] * pairs).sum(dim=1) / total


@MISTAKES.add(
    N_(
        "No token sees itself: the sums are used before the token is added. A number "
        "in the denominator hides the 0 / 0 of the first one, which comes out as 0."
    ),
    TWO_TOKENS,
    CAUSAL_SECTION,
    "classroom: the output before the update, and eps below",
)
def itself_left_out_and_hidden(q, k, v):
    query, key = _map(q), _map(k)
    pairs = (key[:, :, None] * v[:, None, :]).cumsum(dim=0).roll(1, dims=0)
    sums = key.cumsum(dim=0).roll(1, dims=0)
    pairs[0] = sums[0] = 0.0
    total = (query * sums).sum(dim=1, keepdim=True) + 1e-9
    return (query[:, :, None] * pairs).sum(dim=1) / total
