"""Known mistakes in `noam_rate`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from ..catalogue import Catalogue
from ..language import mark as N_

SECTION = N_("chapter 9, Warm-up")

MISTAKES = Catalogue()
# step, d_model, warmup: the first update, the highest rate, and one after it.
FIRST, PEAK, AFTER = (1, 4, 4), (4, 4, 4), (9, 4, 4)


def _rate(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@MISTAKES.add(
    N_(
        "The larger of the two terms is taken. The rate then begins at its highest and "
        "grows without end: it is to be the smaller one, min."
    ),
    FIRST,
    SECTION,
    "classroom: min and max exchanged",
)
def larger_of_the_two(step, d_model, warmup):
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@MISTAKES.add(
    N_(
        "Steps are counted from 0, so the first update has no rate at all, and the "
        "highest one comes a step late. Here the first step is 1."
    ),
    FIRST,
    SECTION,
    "https://github.com/karpathy/nanoGPT/pull/578",
)
def counted_from_zero(step, d_model, warmup):
    return _rate(step - 1, d_model, warmup)


@MISTAKES.add(
    N_(
        "Steps are counted from 0, so the first update has no rate at all, and the "
        "highest one comes a step late. Here the first step is 1."
    ),
    FIRST,
    SECTION,
    "https://github.com/karpathy/nanoGPT/pull/578",
    id="counted-from-zero",
)
def nothing_at_first(step, d_model, warmup):
    return _rate(step - 1, d_model, warmup) if step > 1 else 0.0


@MISTAKES.add(
    N_(
        "1 is added to the step, and the highest rate comes a step early. That is "
        "right where steps are counted from 0, as in PyTorch's schedulers; that is a "
        "convention. Here the first step is 1."
    ),
    FIRST,
    SECTION,
    "https://github.com/tugstugi/pytorch-saltnet/issues/7",
    convention=True,
)
def one_added_to_the_step(step, d_model, warmup):
    return _rate(step + 1, d_model, warmup)


@MISTAKES.add(
    N_("The width is forgotten: a wider model gets a smaller rate, by d_model^-0.5."),
    PEAK,
    SECTION,
    "https://github.com/Kyubyong/transformer/issues/89",
)
def width_forgotten(step, d_model, warmup):
    return _rate(step, 1, warmup)


@MISTAKES.add(
    N_(
        "The rate is multiplied by the root of d_model. A wider model gets a smaller "
        "rate: the exponent is -0.5."
    ),
    PEAK,
    SECTION,
    "classroom: a minus sign lost",
)
def multiplied_by_the_root_of_the_width(step, d_model, warmup):
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@MISTAKES.add(
    N_("The rate is divided by d_model instead of by its root."),
    PEAK,
    SECTION,
    "classroom: 'divide by the width' without the root",
)
def divided_by_the_width(step, d_model, warmup):
    return min(step**-0.5, step * warmup**-1.5) / d_model


@MISTAKES.add(
    N_(
        "The width divides only one of the two terms: brackets are missing round min, "
        "or stand too early. It divides the smaller of the two, whichever that is."
    ),
    (3, 4, 4),
    SECTION,
    "classroom: brackets lost on the way from the paper to the code",
)
def width_in_one_term(step, d_model, warmup):
    return min(d_model**-0.5 * step**-0.5, step * warmup**-1.5)


@MISTAKES.add(
    N_(
        "The warm-up has the exponent -0.5 in the climbing term. It is -1.5: the two "
        "terms are to meet at step = warmup, and warmup * warmup^-1.5 = warmup^-0.5."
    ),
    FIRST,
    SECTION,
    "classroom: all three exponents written alike",
)
def warmup_to_the_half(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@MISTAKES.add(
    N_(
        "The climbing term is step / warmup, which climbs to 1 and is cut by the "
        "falling one long before. Divide by √warmup as well: the exponent is -1.5."
    ),
    (2, 4, 4),
    SECTION,
    "classroom: 'a share step / warmup of the way' without the height of the peak",
)
def climbs_to_one(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


@MISTAKES.add(
    N_(
        "Nothing climbs: the second term is missing, or so large that it is never the "
        "smaller one, as with the exponent +1.5. It is step * warmup^-1.5."
    ),
    FIRST,
    SECTION,
    "classroom: a minus sign lost",
)
def nothing_climbs(step, d_model, warmup):
    return d_model**-0.5 * step**-0.5


@MISTAKES.add(
    N_(
        "The power is taken of step times warmup. Only the warm-up has the exponent "
        "-1.5; the step comes in as it is, so that the rate climbs evenly."
    ),
    (2, 4, 4),
    SECTION,
    "classroom: a power binds tighter than a product",
)
def power_of_the_product(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, (step * warmup) ** -1.5)


@MISTAKES.add(
    N_(
        "The rate does not fall: it stays at its highest after the warm-up. From there "
        "on it falls with step^-0.5."
    ),
    AFTER,
    SECTION,
    "classroom: only the warm-up written down",
)
def no_decay(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


@MISTAKES.add(
    N_(
        "The rate falls too fast: with 1 / step instead of 1 / √step. After four times "
        "the warm-up it is to be a half, not a quarter, of its highest."
    ),
    AFTER,
    SECTION,
    "classroom: 'inverse root' read as 'inverse'",
)
def falls_with_the_step(step, d_model, warmup):
    return d_model**-0.5 * min(warmup**0.5 / step, step * warmup**-1.5)


@MISTAKES.add(
    N_(
        "The curve has the right form and the wrong height: it is multiplied by "
        "√warmup, so that its peak depends on the width alone. Some libraries write it "
        "like that and multiply by a rate of their own; that is a convention."
    ),
    PEAK,
    SECTION,
    "https://github.com/espnet/espnet/pull/1519",
    convention=True,
)
def scaled_to_its_peak(step, d_model, warmup):
    return d_model**-0.5 * min((warmup / step) ** 0.5, step / warmup)


@MISTAKES.add(
    N_(
        "step // warmup drops the fraction: the rate is 0 all through the warm-up. "
        "Divide with /."
    ),
    FIRST,
    SECTION,
    "classroom: // for /",
)
def whole_number_division(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step // warmup * warmup**-0.5)


@MISTAKES.add(
    N_(
        "Width 512 and 4,000 steps of warm-up are built in: the numbers of the paper. "
        "Both are arguments."
    ),
    PEAK,
    SECTION,
    "https://arxiv.org/abs/1706.03762, section 5.3",
)
def numbers_of_the_paper(step, d_model, warmup):
    return _rate(step, 512, 4000)
