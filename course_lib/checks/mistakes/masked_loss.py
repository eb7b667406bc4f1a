"""Known mistakes in `masked_loss`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch
import torch.nn.functional as F

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

SECTION = N_("chapter 9, A loss that skips the padding")

MISTAKES = Catalogue()
# One sentence: a real word with logits [0, 0], a loss of ln 2; and padding.
ONE_WORD = (
    tensor([[[0.0, 0.0], [4.0, 0.0]]]),
    tensor([[1, 0]], torch.int64),
    0,
)
# One word of loss ln 2 in the first sentence, two of loss ln 3 in the second.
TWO_SENTENCES = (
    tensor([[[0.0, 0.0, -99.0], [0.0, 0.0, 0.0]], [[0.0] * 3, [0.0] * 3]]),
    tensor([[1, 3], [2, 1]], torch.int64),
    3,
)
# No padding; the label has the logit 2.
SURE = (tensor([[[2.0, 0.0]]]), tensor([[0]], torch.int64), 1)
# No padding; the label's logit is 1,000 lower, and its probability is 0 for a computer.
VERY_WRONG = (tensor([[[1000.0, 0.0]]]), tensor([[1]], torch.int64), 0)


def _losses(logits, labels, pad):
    """-log p of every label, 0 at padding: from here wrong answers are made."""
    logits = logits.transpose(1, 2)
    return F.cross_entropy(logits, labels, ignore_index=pad, reduction="none")


@MISTAKES.add(
    N_(
        "Padding is counted: F.cross_entropy leaves out the label -100 and no other "
        "unless it is told to. Pass ignore_index=pad."
    ),
    ONE_WORD,
    SECTION,
    "https://github.com/lukas-blecher/LaTeX-OCR/issues/305",
)
def ignore_index_forgotten(logits, labels, pad):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


@MISTAKES.add(
    N_(
        "Padding is counted like a word. A model learns it at once, and the loss looks "
        "wonderful. Choose the real labels first."
    ),
    ONE_WORD,
    SECTION,
    "https://github.com/lucidrains/DALLE-pytorch/issues/57",
)
def pads_counted(logits, labels, pad):
    labels = labels.clamp(0, logits.shape[-1] - 1)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


@MISTAKES.add(
    N_(
        "Padding is counted like a word. A model learns it at once, and the loss looks "
        "wonderful. Choose the real labels first."
    ),
    ONE_WORD,
    SECTION,
    "https://github.com/lucidrains/DALLE-pytorch/issues/57",
    id="pads-counted",
)
def pads_counted_by_hand(logits, labels, pad):
    return -logits.log_softmax(-1).gather(-1, labels[..., None]).mean()


@MISTAKES.add(
    N_(
        "Padding costs nothing, but the sum is divided by all places, padding "
        "included: the more padding, the smaller the loss. Divide by the number of "
        "real labels."
    ),
    ONE_WORD,
    SECTION,
    "https://github.com/IBM/pytorch-seq2seq/issues/125",
)
def divided_by_all_places(logits, labels, pad):
    return _losses(logits, labels, pad).mean()


@MISTAKES.add(
    N_(
        "This is the mean of the sentences' means: a word of a short sentence counts "
        "more than one of a long sentence. Divide the sum over the batch by the number "
        "of its real labels."
    ),
    TWO_SENTENCES,
    SECTION,
    "https://github.com/meta-pytorch/torchtune/pull/1875",
)
def mean_of_sentence_means(logits, labels, pad):
    real = (labels != pad).sum(dim=1).clamp(min=1)
    return (_losses(logits, labels, pad).sum(dim=1) / real).mean()


@MISTAKES.add(
    N_(
        "The sum is divided by the number of sentences, so that long sentences have a "
        "larger loss. Divide by the number of real labels."
    ),
    TWO_SENTENCES,
    SECTION,
    "classroom: 'mean over the batch' read as 'divide by B'",
)
def divided_by_the_batch(logits, labels, pad):
    return _losses(logits, labels, pad).sum() / len(labels)


@MISTAKES.add(
    N_("This is the sum. Divide it by the number of real labels."),
    TWO_SENTENCES,
    SECTION,
    "https://github.com/huggingface/transformers/issues/24725",
)
def summed(logits, labels, pad):
    return _losses(logits, labels, pad).sum()


@MISTAKES.add(
    N_(
        "The mean also runs over the vocabulary: the sum is divided by V as well. Only "
        "the label of a place has a loss, so there is one number for each place."
    ),
    SURE,
    SECTION,
    "classroom: one-hot labels times log-probabilities, and then mean()",
)
def divided_by_the_vocabulary(logits, labels, pad):
    real = labels != pad
    one_hot = F.one_hot(labels[real], logits.shape[-1])
    return -(one_hot * logits[real].log_softmax(-1)).mean()


@MISTAKES.add(
    N_(
        "The softmax is applied twice: F.cross_entropy has one inside and takes the "
        "logits as they are. The loss can no longer come near 0."
    ),
    SURE,
    SECTION,
    "https://github.com/Lightning-Universe/lightning-bolts/issues/654",
)
def softmax_first(logits, labels, pad):
    real = labels != pad
    return F.cross_entropy(logits.softmax(-1)[real], labels[real])


@MISTAKES.add(
    N_(
        "The logarithm is missing: this is the mean probability, with a minus sign. "
        "F.nll_loss expects log-probabilities, log_softmax."
    ),
    SURE,
    SECTION,
    "classroom: nll_loss after softmax",
)
def log_missing(logits, labels, pad):
    real = labels != pad
    return F.nll_loss(logits.softmax(-1)[real], labels[real])


@MISTAKES.add(
    N_(
        "The minus sign is missing: log p is negative, and a loss that is made small "
        "would make the labels unlikely. The loss is -log p."
    ),
    SURE,
    SECTION,
    "classroom: a minus sign lost",
)
def minus_forgotten(logits, labels, pad):
    real = labels != pad
    return -F.cross_entropy(logits[real], labels[real])


@MISTAKES.add(
    N_(
        "The logits are taken for log-probabilities: there is no softmax. The loss can "
        "fall below 0 without end."
    ),
    SURE,
    SECTION,
    "classroom: nll_loss and cross_entropy confused",
)
def logits_taken_for_log_probabilities(logits, labels, pad):
    real = labels != pad
    return F.nll_loss(logits[real], labels[real])


@MISTAKES.add(
    N_(
        "The logit of pad is taken out of the softmax. pad leaves out labels, not a "
        "word of the vocabulary: a model that wants to write padding is wrong, and the "
        "loss must say so."
    ),
    (tensor([[[0.0, 0.0, 0.0]]]), tensor([[1]], torch.int64), 0),
    SECTION,
    "classroom: 'ignore pad' read as 'ignore its logit'",
)
def pad_taken_out_of_the_vocabulary(logits, labels, pad):
    if 0 <= pad < logits.shape[-1]:
        column = torch.arange(logits.shape[-1], device=logits.device) == pad
        logits = logits.masked_fill(column, -math.inf)
    real = labels != pad
    return F.cross_entropy(logits[real], labels[real])


@MISTAKES.add(
    N_(
        "0 is taken for padding, whatever pad is: word 0 is left out, and padding with "
        "another number is not. pad is an argument."
    ),
    (tensor([[[0.0, 0.0], [2.0, 0.0]]]), tensor([[1, 0]], torch.int64), 2),
    SECTION,
    "https://github.com/EleutherAI/gpt-neo/pull/45",
)
def zero_taken_for_pad(logits, labels, pad):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)


@MISTAKES.add(
    N_(
        "0 is taken for padding, whatever pad is: word 0 is left out, and padding with "
        "another number is not. pad is an argument."
    ),
    (tensor([[[0.0, 0.0], [2.0, 0.0]]]), tensor([[1, 0]], torch.int64), 2),
    SECTION,
    "https://github.com/EleutherAI/gpt-neo/pull/45",
    id="zero-taken-for-pad",
)
def words_above_zero(logits, labels, pad):
    real = labels > 0
    return F.cross_entropy(logits[real], labels[real])


@MISTAKES.add(
    N_(
        "The logits at padding are set to 0, and the places are still counted: equal "
        "logits cost ln V each. Leave the places out of the mean."
    ),
    (tensor([[[2.0, 0.0], [4.0, 0.0]]]), tensor([[1, 0]], torch.int64), 0),
    SECTION,
    "classroom: 'mask' read as 'multiply by 0'",
)
def logits_at_padding_set_to_zero(logits, labels, pad):
    real = (labels != pad)[..., None]
    return F.cross_entropy((logits * real).flatten(0, 1), labels.flatten())


@MISTAKES.add(
    N_(
        "Padding is looked up among the logits before it is left out. That works while "
        "pad is a word, 0 to V - 1; another number, such as -100, has no logit. Choose "
        "the real labels first."
    ),
    (tensor([[[0.0, 0.0], [4.0, 0.0]]]), tensor([[1, 2]], torch.int64), 2),
    SECTION,
    "classroom: gather first, mask afterwards",
)
def padding_looked_up(logits, labels, pad):
    real = labels != pad
    found = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    return -(found * real).sum() / real.sum()


@MISTAKES.add(
    N_(
        "Padding is looked up among the logits before it is left out. That works while "
        "pad is a word, 0 to V - 1; another number, such as -100, has no logit. Choose "
        "the real labels first."
    ),
    (tensor([[[0.0, 0.0], [4.0, 0.0]]]), tensor([[1, 2]], torch.int64), 2),
    SECTION,
    "classroom: gather first, mask afterwards",
    id="padding-looked-up",
)
def padding_judged_and_then_masked(logits, labels, pad):
    losses = F.cross_entropy(logits.transpose(1, 2), labels, reduction="none")
    real = labels != pad
    return (losses * real).sum() / real.sum()


@MISTAKES.add(
    N_(
        "Padding is expected at the end: the labels that are not pad are counted, and "
        "then the first so many places are taken. Padding may stand anywhere; compare "
        "each label with pad."
    ),
    (tensor([[[4.0, 0.0], [0.0, 0.0]]]), tensor([[0, 1]], torch.int64), 0),
    SECTION,
    "https://github.com/huggingface/transformers/issues/2759",
)
def padding_only_at_the_end(logits, labels, pad):
    lengths = (labels != pad).sum(dim=1, keepdim=True)
    first = torch.arange(labels.shape[1], device=labels.device) < lengths
    return F.cross_entropy(logits[first], labels[first])


@MISTAKES.add(
    N_(
        "The axes are reshaped, not exchanged: (B, T, V) as (B, V, T) mixes the logits "
        "of several places. Use transpose(1, 2), or flatten batch and time."
    ),
    (
        tensor([[[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]]),
        tensor([[2, 0]], torch.int64),
        1,
    ),
    SECTION,
    "https://github.com/weirme/FCSN/issues/32",
)
def reshaped_not_transposed(logits, labels, pad):
    B, T, V = logits.shape
    return F.cross_entropy(logits.reshape(B, V, T), labels, ignore_index=pad)


@MISTAKES.add(
    N_(
        "Logits and labels are shifted against each other once more. Here they belong "
        "together place by place: teacher forcing has shifted already."
    ),
    (
        tensor([[[0.0, 0.0], [2.0, 0.0]]]),
        tensor([[1, 1]], torch.int64),
        0,
    ),
    SECTION,
    "classroom: the loss of a language model, which shifts inside",
)
def shifted_again(logits, labels, pad):
    logits, labels = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
    return F.cross_entropy(logits, labels, ignore_index=pad)


@MISTAKES.add(
    N_(
        "The labels are smoothed: a tenth of each goes to all words. That is another "
        "loss, of the paper's section 5.4; here it is plain cross-entropy."
    ),
    SURE,
    SECTION,
    "https://arxiv.org/abs/1706.03762, section 5.4",
)
def smoothed_labels(logits, labels, pad):
    real = labels != pad
    return F.cross_entropy(logits[real], labels[real], label_smoothing=0.1)


@MISTAKES.add(
    N_(
        "The loss is in bits: the logarithm has base 2. Here it is the natural one, as "
        "in PyTorch; that is a convention, and 1 bit is ln 2 = 0.693 of it."
    ),
    SURE,
    SECTION,
    "classroom: entropy learnt in bits",
    convention=True,
)
def in_bits(logits, labels, pad):
    real = labels != pad
    return F.cross_entropy(logits[real], labels[real]) / math.log(2)


@MISTAKES.add(
    N_(
        "The logarithm is taken of a softmax that has become 0: the loss is inf where "
        "a label is very unlikely. Use log_softmax, which never leaves the logarithm."
    ),
    VERY_WRONG,
    SECTION,
    "classroom: the formula as it stands on paper",
    kind="large",
)
def log_of_a_softmax(logits, labels, pad):
    real = labels != pad
    found = logits[real].softmax(-1).gather(-1, labels[real][:, None])
    return -found.log().mean()


@MISTAKES.add(
    N_(
        "A small number inside the logarithm keeps inf away and makes every loss above "
        "about 20 the same, without a gradient: just where the model is most wrong. "
        "Use log_softmax."
    ),
    VERY_WRONG,
    SECTION,
    "classroom: an epsilon against inf",
    kind="large",
)
def epsilon_in_the_logarithm(logits, labels, pad):
    real = labels != pad
    found = logits[real].softmax(-1).gather(-1, labels[real][:, None])
    return -(found + 1e-9).log().mean()


@MISTAKES.add(
    N_(
        "The exponentials overflow: e^1000 is inf. logsumexp and log_softmax "
        "subtract the largest logit first."
    ),
    VERY_WRONG,
    SECTION,
    "classroom: the formula as it stands on paper",
    kind="large",
)
def exponentials_overflow(logits, labels, pad):
    real = labels != pad
    found = logits[real].gather(-1, labels[real][:, None])[:, 0]
    return (logits[real].exp().sum(-1).log() - found).mean()


@MISTAKES.add(
    N_(
        "The mask is the wrong way round: padding is scored, and the real words are "
        "left out. Real labels are those with labels != pad."
    ),
    ONE_WORD,
    SECTION,
    "classroom: the mask named after what it hides",
)
def padding_kept(logits, labels, pad):
    padding = labels == pad
    places = labels.clamp(0, logits.shape[-1] - 1)
    losses = F.cross_entropy(logits.transpose(1, 2), places, reduction="none")
    return (losses * padding).sum() / padding.sum().clamp(min=1)


@MISTAKES.add(
    N_(
        "This is one loss for each place. Average them: their sum over the real "
        "labels, divided by the number of these."
    ),
    ONE_WORD,
    SECTION,
    "classroom: reduction='none' left in",
)
def not_averaged(logits, labels, pad):
    return _losses(logits, labels, pad)


@MISTAKES.add(
    N_(
        "The softmax runs over the places of the sentence, dim=1. It runs over the "
        "vocabulary, the last axis: the probabilities of one place sum to 1."
    ),
    SURE,
    SECTION,
    "classroom: dim=1 copied from code for (B, V)",
)
def softmax_over_the_places(logits, labels, pad):
    real = labels != pad
    return F.nll_loss(logits.log_softmax(1)[real], labels[real])


@MISTAKES.add(
    N_(
        "The number of real labels is one too high: a 1 is added against a division by "
        "0. At least one label is not pad, so nothing needs to be added."
    ),
    ONE_WORD,
    SECTION,
    "classroom: + 1 for safety",
)
def one_added_to_the_count(logits, labels, pad):
    return _losses(logits, labels, pad).sum() / ((labels != pad).sum() + 1)


@MISTAKES.add(
    N_(
        "This is the perplexity, e to the loss. The loss itself is asked for; the "
        "perplexity is made of it for reading."
    ),
    SURE,
    SECTION,
    "classroom: loss and perplexity stand side by side in every log",
)
def perplexity(logits, labels, pad):
    real = labels != pad
    return F.cross_entropy(logits[real], labels[real]).exp()


@MISTAKES.add(
    N_(
        "This is the squared error of the probabilities, summed over the vocabulary. "
        "Cross-entropy is -log p of the label."
    ),
    SURE,
    SECTION,
    "classroom: the loss of a regression, taken along",
)
def squared_error(logits, labels, pad):
    real = labels != pad
    target = F.one_hot(labels[real], logits.shape[-1])
    return (logits[real].softmax(-1) - target).square().sum(-1).mean()


@MISTAKES.add(
    N_(
        "Each sentence ends at its first padding, and what comes after it is lost. "
        "Padding may stand anywhere; compare each label with pad."
    ),
    (
        tensor([[[2.0, 0.0], [9.0, 0.0], [0.0, 0.0]]]),
        tensor([[1, 0, 1]], torch.int64),
        0,
    ),
    SECTION,
    "https://github.com/huggingface/transformers/issues/2759",
)
def ends_at_the_first_padding(logits, labels, pad):
    real = (labels == pad).cumsum(dim=1) == 0
    if not real.any():
        real = labels != pad
    return F.cross_entropy(logits[real], labels[real])


@MISTAKES.add(
    N_(
        "Negative labels are left out, whatever pad is. That fits a pad of -100 and no "
        "other: a pad of 0 is scored. Compare each label with pad."
    ),
    ONE_WORD,
    SECTION,
    "classroom: 'padding is -100' learnt as a rule",
)
def negative_labels_left_out(logits, labels, pad):
    real = labels >= 0
    words = labels.clamp(0, logits.shape[-1] - 1)
    losses = F.cross_entropy(logits.transpose(1, 2), words, reduction="none")
    return (losses * real).sum() / real.sum()


@MISTAKES.add(
    N_(
        "All sentences are cut to the length of the first one, so longer ones lose "
        "words. Choose the real labels place by place."
    ),
    (
        tensor([[[2.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]]]),
        tensor([[1, 0], [1, 1]], torch.int64),
        0,
    ),
    SECTION,
    "classroom: batches are often sorted, the longest sentence first",
)
def cut_to_the_first_sentence(logits, labels, pad):
    length = max(int((labels[0] != pad).sum()), 1)
    labels = labels[:, :length]
    return F.cross_entropy(
        logits[:, :length].flatten(0, 1), labels.flatten(), ignore_index=pad
    )


@MISTAKES.add(
    N_(
        "The real labels are counted by their losses: a word with a loss of exactly 0, "
        "of which the model is sure, is not counted. Count labels != pad."
    ),
    (tensor([[[1000.0, 0.0], [0.0, 0.0]]]), tensor([[0, 1]], torch.int64), 2),
    SECTION,
    "classroom: what is not 0 is taken for what is not padding",
    kind="large",
)
def counted_by_the_losses(logits, labels, pad):
    losses = _losses(logits, labels, pad)
    return losses.sum() / (losses > 0).sum().clamp(min=1)


@MISTAKES.add(
    N_(
        "The exponentials overflow: e^1000 is inf, and inf / inf is nan. log_softmax "
        "subtracts the largest logit first, and takes the logarithm too."
    ),
    VERY_WRONG,
    SECTION,
    "classroom: the formula as it stands on paper",
    kind="large",
    id="exponentials-overflow",
)
def shares_of_exponentials_overflow(logits, labels, pad):
    real = labels != pad
    powers = logits[real].exp()
    shares = powers / powers.sum(-1, keepdim=True)
    return -shares.gather(-1, labels[real][:, None]).log().mean()
