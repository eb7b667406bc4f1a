"""Known mistakes in `greedy_decode`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated"

import torch

from ..catalogue import Catalogue
from ..language import mark as N_
from ..script import Script

SECTION = N_("chapter 9, Greedy decoding")

MISTAKES = Catalogue()
BOS, EOS = 1, 2


def _example(*says, max_len=4, manner=""):
    """A script, bos = 1, eos = 2, and a bound."""
    return Script(says, BOS, 6, manner), BOS, EOS, max_len


ENDS = _example(4, EOS, 3, 5)
IS_CUT = _example(4, 3, 5, EOS, max_len=2)


def _best(next_logits, prefix):
    return int(next_logits(prefix).argmax())


def _greedy(next_logits, bos, eos, max_len, prefix=list):
    """What is right, with a say in what the model gets: here wrong answers begin."""
    tokens = []
    for _ in range(max_len):
        tokens.append(_best(next_logits, prefix([bos, *tokens])))
        if tokens[-1] == eos:
            break
    return tokens


@MISTAKES.add(
    N_(
        "The result begins with bos. The model reads bos, but has not written it: "
        "leave it out."
    ),
    ENDS,
    SECTION,
    "classroom: the prefix handed back as it is",
)
def bos_in_the_result(next_logits, bos, eos, max_len):
    return [bos, *_greedy(next_logits, bos, eos, max_len)]


@MISTAKES.add(
    N_(
        "eos is left out. It is a word that the model has written, and it tells a "
        "sentence that has ended from one that was cut: keep it."
    ),
    ENDS,
    SECTION,
    "https://github.com/microsoft/onnxruntime-genai/pull/1864",
)
def eos_left_out(next_logits, bos, eos, max_len):
    tokens = _greedy(next_logits, bos, eos, max_len)
    return tokens[:-1] if tokens[-1] == eos else tokens


@MISTAKES.add(
    N_(
        "The last word is cut off, whether it is eos or not. Where max_len ended the "
        "sentence, a real word is lost."
    ),
    IS_CUT,
    SECTION,
    "classroom: [1:-1] to take off bos and eos",
)
def last_word_cut_off(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len)[:-1]


@MISTAKES.add(
    N_(
        "There is no bound: the loop waits for eos alone. A model that never says eos "
        "keeps it going for ever. Stop after max_len words."
    ),
    IS_CUT,
    SECTION,
    "https://github.com/CyberZHG/keras-transformer/issues/3",
)
def no_bound(next_logits, bos, eos, max_len):
    tokens = []
    while eos not in tokens:
        tokens.append(_best(next_logits, [bos, *tokens]))
    return tokens


@MISTAKES.add(
    N_("The loop goes on after eos, up to max_len. Stop when eos has been written."),
    ENDS,
    SECTION,
    "https://github.com/DongjunLee/transformer-tensorflow/issues/5",
)
def goes_on_after_eos(next_logits, bos, eos, max_len):
    tokens = []
    for _ in range(max_len):
        tokens.append(_best(next_logits, [bos, *tokens]))
    return tokens


@MISTAKES.add(
    N_(
        "The result is filled up with eos to max_len words. Rows of a batch need that; "
        "one sentence ends where it ends."
    ),
    ENDS,
    SECTION,
    "https://github.com/huggingface/transformers/issues/23175",
)
def filled_up_with_eos(next_logits, bos, eos, max_len):
    tokens = _greedy(next_logits, bos, eos, max_len)
    return tokens + [eos] * (max_len - len(tokens))


@MISTAKES.add(
    N_(
        "eos is put at the end of a sentence that max_len has cut. The model has not "
        "written it, and the result is longer than max_len."
    ),
    IS_CUT,
    SECTION,
    "classroom: 'ends with eos' taken as a duty",
)
def eos_put_at_the_end(next_logits, bos, eos, max_len):
    tokens = _greedy(next_logits, bos, eos, max_len)
    return tokens if tokens[-1] == eos else [*tokens, eos]


@MISTAKES.add(
    N_(
        "bos is counted: the loop stops when prefix and bos together have max_len "
        "words, so the result is one too short. max_len counts what the model writes; "
        "elsewhere it may count bos as well, which is a convention."
    ),
    IS_CUT,
    SECTION,
    "https://github.com/huggingface/transformers/issues/9855",
    convention=True,
)
def bos_counted(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len - 1)


@MISTAKES.add(
    N_(
        "The result may be one longer than max_len: the loop compares with <=, or "
        "counts from 0 to max_len. At most max_len words."
    ),
    IS_CUT,
    SECTION,
    "classroom: <= for <",
)
def one_too_many(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len + 1)


@MISTAKES.add(
    N_(
        "The model is given the last word only. It has no memory of its own: give it "
        "the whole prefix each time, bos first."
    ),
    _example(5, 3, EOS),
    SECTION,
    "classroom: the loop of an RNN, which carries a state",
)
def last_word_only(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len, lambda prefix: prefix[-1:])


@MISTAKES.add(
    N_(
        "The prefix lacks bos. The model was trained on sentences that begin with it, "
        "and answers another question without: bos comes first, each time."
    ),
    _example(5, 3, EOS),
    SECTION,
    "classroom: the result handed on as the prefix",
)
def prefix_without_bos(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len, lambda prefix: prefix[1:])


@MISTAKES.add(
    N_(
        "bos is there for the first word only; afterwards the model is given the "
        "result alone. bos comes first, each time."
    ),
    _example(5, 3, EOS),
    SECTION,
    "classroom: 'begin with bos' read as 'the first call is with bos'",
)
def bos_for_the_first_word_only(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len, lambda prefix: prefix[1:] or prefix)


@MISTAKES.add(
    N_(
        "The prefix does not grow: the model is given bos alone again and again, and "
        "gives the same word again and again. Append each word to the prefix."
    ),
    _example(5, 3, EOS),
    SECTION,
    "https://github.com/jumerckx/flux-seq2seq/issues/1",
)
def prefix_does_not_grow(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len, lambda prefix: prefix[:1])


@MISTAKES.add(
    N_(
        "The prefix is turned round: new words go to its front. The model reads from "
        "left to right, bos first and the newest word last."
    ),
    _example(5, 3, EOS),
    SECTION,
    "classroom: insert(0, …) for append",
)
def prefix_turned_round(next_logits, bos, eos, max_len):
    return _greedy(next_logits, bos, eos, max_len, lambda prefix: prefix[::-1])


@MISTAKES.add(
    N_(
        "The word with the smallest logit is chosen. The most likely word has the "
        "largest one: argmax."
    ),
    ENDS,
    SECTION,
    "classroom: logits taken for a loss",
)
def smallest_logit(next_logits, bos, eos, max_len):
    return _greedy(lambda prefix: -next_logits(prefix), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "On a tie the last of the words is chosen. It is to be the first one, as "
        "argmax does it: a loop compares with >, not with >=."
    ),
    _example(4, EOS, manner="ties"),
    SECTION,
    "classroom: >= in a loop for the maximum, or the end of a sorted list",
)
def last_of_a_tie(next_logits, bos, eos, max_len):
    def flipped(prefix):
        return next_logits(prefix).flip(0)

    tokens = []
    for _ in range(max_len):
        logits = flipped([bos, *tokens])
        tokens.append(len(logits) - 1 - int(logits.argmax()))
        if tokens[-1] == eos:
            break
    return tokens


@MISTAKES.add(
    N_(
        "The search for the largest logit begins at 0: where all logits lie below 0 it "
        "finds none, and stays at word 0. Begin with the first logit, or use argmax."
    ),
    _example(4, EOS, manner="negative"),
    SECTION,
    "classroom: best = 0 before a loop for the maximum",
)
def search_begins_at_zero(next_logits, bos, eos, max_len):
    return _greedy(lambda prefix: next_logits(prefix).clamp(min=0), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "The sign of the logits is ignored: a logit far below 0 counts like one far "
        "above. The most likely word has the largest logit, not the largest size."
    ),
    _example(5, EOS, manner="negative"),
    SECTION,
    "classroom: 'the strongest' read as 'the largest size'",
)
def sign_ignored(next_logits, bos, eos, max_len):
    return _greedy(lambda prefix: next_logits(prefix).abs(), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "The loop stops at bos as well. Only eos ends a sentence; bos in the middle is "
        "odd, but it is a word like any other."
    ),
    _example(4, BOS, 3, EOS),
    SECTION,
    "classroom: all special words treated alike",
)
def stops_at_bos(next_logits, bos, eos, max_len):
    tokens = []
    for _ in range(max_len):
        tokens.append(_best(next_logits, [bos, *tokens]))
        if tokens[-1] in (bos, eos):
            break
    return tokens


@MISTAKES.add(
    N_(
        "Every bos is taken out of the result, also one that the model has written. "
        "Leave out only the bos that you put in front."
    ),
    _example(4, BOS, 3, EOS),
    SECTION,
    "classroom: special words filtered out for display",
)
def every_bos_taken_out(next_logits, bos, eos, max_len):
    return [t for t in _greedy(next_logits, bos, eos, max_len) if t != bos]


@MISTAKES.add(
    N_(
        "The loop stops when a word comes a second time. A sentence may repeat a word; "
        "only eos and max_len end it."
    ),
    _example(4, 4, EOS),
    SECTION,
    "classroom: a guard against endless repetition",
)
def stops_at_a_repetition(next_logits, bos, eos, max_len):
    tokens = []
    for _ in range(max_len):
        best = _best(next_logits, [bos, *tokens])
        if best in tokens:
            break
        tokens.append(best)
        if best == eos:
            break
    return tokens


@MISTAKES.add(
    N_(
        "The loop stops one word too late: it looks for eos in the word before the "
        "last, so one word follows eos. Look at the word just written."
    ),
    ENDS,
    SECTION,
    "classroom: the test for eos stands before the word is appended",
)
def stops_one_word_late(next_logits, bos, eos, max_len):
    tokens = []
    while len(tokens) < max_len and eos not in tokens[:-1]:
        tokens.append(_best(next_logits, [bos, *tokens]))
    return tokens


@MISTAKES.add(
    N_(
        "The loop stops at word 0, as if it were eos: `if not word` is true for 0. "
        "Compare with eos: word == eos."
    ),
    _example(4, 0, 3, EOS),
    SECTION,
    "classroom: the number 0 taken for 'nothing'",
)
def stops_at_word_0(next_logits, bos, eos, max_len):
    tokens = []
    for _ in range(max_len):
        tokens.append(_best(next_logits, [bos, *tokens]))
        if tokens[-1] in (0, eos):
            break
    return tokens


@MISTAKES.add(
    N_(
        "Nothing is written where bos and eos are one number: eos is looked for in "
        "the prefix, which begins with bos. Look for it among the words written."
    ),
    (Script((4, 3, 1), 1, 6), 1, 1, 4),
    SECTION,
    "classroom: while prefix[-1] != eos; GPT-2 has one number for both",
)
def eos_looked_for_in_the_prefix(next_logits, bos, eos, max_len):
    prefix = [bos]
    while eos not in prefix and len(prefix) <= max_len:
        prefix.append(_best(next_logits, prefix))
    return prefix[1:]


@MISTAKES.add(
    N_(
        "The last word of a sentence that max_len has cut is replaced by eos. The "
        "model has not written eos: leave its word."
    ),
    IS_CUT,
    SECTION,
    "classroom: 'ends with eos' taken as a duty, within max_len",
)
def last_word_replaced_by_eos(next_logits, bos, eos, max_len):
    return [*_greedy(next_logits, bos, eos, max_len)[:-1], eos]


@MISTAKES.add(
    N_(
        "bos is never chosen: its logit is set to -inf. Greedy decoding takes the "
        "most likely word, whichever it is; forbidding words is a further rule."
    ),
    _example(4, BOS, 3, EOS),
    SECTION,
    "classroom: the options of generate in libraries, such as bad_words_ids",
)
def bos_never_chosen(next_logits, bos, eos, max_len):
    def without_bos(prefix):
        logits = next_logits(prefix).clone()
        logits[bos : bos + 1] = -float("inf")
        return logits

    return _greedy(without_bos, bos, eos, max_len)


@MISTAKES.add(
    N_(
        "No word is written twice: the logits of words written before are set to "
        "-inf. A sentence may repeat a word; greedy decoding has no such rule."
    ),
    _example(4, 4, EOS),
    SECTION,
    "classroom: the penalty of text generators against repetition",
)
def no_word_twice(next_logits, bos, eos, max_len):
    def without_old_ones(prefix):
        logits = next_logits(prefix).clone()
        logits[prefix[1:]] = -float("inf")
        return logits

    return _greedy(without_old_ones, bos, eos, max_len)


@MISTAKES.add(
    N_(
        "This is a beam search: it keeps the two best beginnings, and gives the "
        "sentence that is most likely as a whole. Greedy decoding keeps one, and "
        "takes the most likely word each time."
    ),
    _example(5, 3, EOS),
    SECTION,
    "classroom: 'the most likely sentence' taken for the task",
)
def two_beams(next_logits, bos, eos, max_len):
    beams = [(0.0, [])]
    for _ in range(max_len):
        longer = []
        for total, tokens in beams:
            if tokens[-1:] == [eos]:
                longer.append((total, tokens))
                continue
            logs = next_logits([bos, *tokens]).double().log_softmax(dim=0)
            best = logs.topk(min(2, len(logs)))
            for log, word in zip(*map(list, best), strict=True):
                longer.append((total + float(log), [*tokens, int(word)]))
        beams = sorted(longer, key=lambda beam: -beam[0])[:2]
    return beams[0][1]


@MISTAKES.add(
    N_(
        "Two logits that nearly tie become equal in a softmax, which rounds, and the "
        "first word wins, not the better one. A softmax leaves the order as it is: "
        "leave it out, and take the argmax of the logits."
    ),
    _example(4, 5, EOS, manner="close"),
    SECTION,
    "classroom: probabilities first, then the largest",
)
def softmax_rounds(next_logits, bos, eos, max_len):
    return _greedy(lambda p: next_logits(p).softmax(dim=0), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "Large logits overflow: exp(1000) is inf, inf / inf is nan, and argmax takes "
        "the first nan. Take the argmax of the logits themselves."
    ),
    _example(4, 5, EOS, manner="huge"),
    SECTION,
    "classroom: a softmax by hand, without subtracting the maximum",
)
def exp_overflows(next_logits, bos, eos, max_len):
    def softmax(prefix):
        powers = next_logits(prefix).exp()
        return powers / powers.sum()

    return _greedy(softmax, bos, eos, max_len)


@MISTAKES.add(
    N_(
        "The logits are rounded to float32 before they are compared: in float64 the "
        "best word may be better by less than that. Compare them as they come."
    ),
    _example(4, 5, EOS, manner="double"),
    SECTION,
    "classroom: .float() out of habit",
)
def float64_rounded(next_logits, bos, eos, max_len):
    return _greedy(lambda p: next_logits(p).float(), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "The logits are rounded to half precision before they are compared, so words "
        "that nearly tie become equal. Compare the logits as they come."
    ),
    _example(4, 5, EOS, manner="close"),
    SECTION,
    "classroom: .half() to save memory",
)
def logits_in_half(next_logits, bos, eos, max_len):
    return _greedy(lambda p: next_logits(p).half(), bos, eos, max_len)


@MISTAKES.add(
    N_(
        "The result is a tensor. It should be a Python list of whole numbers, such as "
        "[4, 2]: tokens.tolist()."
    ),
    ENDS,
    SECTION,
    "classroom: a batch of sentences is a tensor",
)
def a_tensor(next_logits, bos, eos, max_len):
    return torch.tensor(_greedy(next_logits, bos, eos, max_len))


@MISTAKES.add(
    N_(
        "The result is text. It should be a list of whole numbers, such as [4, 2]; a "
        "tokenizer makes words of them later."
    ),
    ENDS,
    SECTION,
    "classroom: 'writes' taken literally",
)
def a_text(next_logits, bos, eos, max_len):
    return " ".join(map(str, _greedy(next_logits, bos, eos, max_len)))
