"""Right answers to the exercises of chapter 9 in many styles."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course_lib import training

# teacher_forcing --------------------------------------------------------------


def forcing_loops(target, bos):
    rows = [[bos, *row[:-1]] for row in target.tolist()]
    return torch.tensor(rows, device=target.device), target


def forcing_rolled(target, bos):
    decoder_input = target.roll(1, dims=1)
    decoder_input[:, 0] = bos
    return decoder_input, target


def forcing_rolled_flat(target, bos):
    """A roll without dims runs through all sentences; bos then covers the seams."""
    decoder_input = torch.roll(target, 1)
    decoder_input[:, 0] = bos
    return decoder_input, target.clone()


def forcing_filled(target, bos):
    decoder_input = torch.empty_like(target)
    decoder_input[:, 0] = bos
    decoder_input[:, 1:] = target[:, :-1]
    return [decoder_input, target]


def forcing_new_full(target, bos):
    decoder_input = target.new_full(target.shape, bos)
    decoder_input[:, 1:].copy_(target[:, :-1])
    return decoder_input, target


def forcing_cut_in_two(target, bos):
    """Puts bos in front of the data, and then cuts it twice."""
    whole = torch.cat([torch.full((len(target), 1), bos), target], dim=1)
    return whole[:, :-1], whole[:, 1:]


def forcing_gathered(target, bos):
    places = torch.arange(target.shape[1]) - 1
    return torch.where(places < 0, bos, target[:, places.clamp(min=0)]), target


def forcing_numpy(target, bos):
    numbers = target.cpu().numpy()
    moved = np.insert(numbers, 0, bos, axis=1)[:, :-1]
    return torch.from_numpy(moved.copy()), target


class Forcing(nn.Module):
    """A module without parameters."""

    def forward(self, target, bos):
        return F.pad(target, (1, 0), value=bos)[:, :-1], target


FORCING = {
    "module with F.pad": Forcing(),
    "F.pad that cuts": lambda target, bos: (F.pad(target, (1, -1), value=bos), target),
    "loops": forcing_loops,
    "rolled": forcing_rolled,
    "rolled flat": forcing_rolled_flat,
    "filled": forcing_filled,
    "new_full and copy_": forcing_new_full,
    "bos in front, cut twice": forcing_cut_in_two,
    "gathered": forcing_gathered,
    "NumPy": forcing_numpy,
    "hstack": lambda target, bos: (
        torch.hstack([torch.zeros_like(target[:, :1]) + bos, target[:, :-1]]),
        target,
    ),
    "the library": training.teacher_forcing,
}

# masked_loss ------------------------------------------------------------------


def loss_loops(logits, labels, pad):
    total, count = 0.0, 0
    for sentence, words in zip(logits, labels, strict=True):
        for row, word in zip(sentence, words, strict=True):
            if word != pad:
                total = total - F.log_softmax(row, dim=0)[word]
                count += 1
    return total / count


def loss_gathered(logits, labels, pad):
    real = labels != pad
    log_probabilities = logits.log_softmax(dim=-1)
    safe = labels.masked_fill(~real, 0)
    found = log_probabilities.gather(-1, safe.unsqueeze(-1)).squeeze(-1)
    return -(found * real).sum() / real.sum()


def loss_by_logsumexp(logits, labels, pad):
    b, t = torch.nonzero(labels != pad, as_tuple=True)
    return (logits[b, t].logsumexp(-1) - logits[b, t, labels[b, t]]).mean()


def loss_safe_softmax(logits, labels, pad):
    real = labels != pad
    rows = logits[real]
    rows = rows - rows.amax(dim=-1, keepdim=True)
    label = rows[torch.arange(len(rows)), labels[real]]
    return (rows.exp().sum(-1).log() - label).mean()


def loss_one_hot(logits, labels, pad):
    real = labels != pad
    one_hot = F.one_hot(labels[real], logits.size(-1)).to(logits.dtype)
    return -torch.einsum("nv,nv->n", one_hot, logits[real].log_softmax(1)).mean()


def loss_unreduced(logits, labels, pad):
    losses = F.cross_entropy(
        logits.permute(0, 2, 1), labels, ignore_index=pad, reduction="none"
    )
    return losses.sum() / (labels != pad).sum()


def loss_other_number(logits, labels, pad):
    """Puts the number that F.cross_entropy leaves out anyway in the place of pad."""
    labels = torch.where(labels == pad, -100, labels)
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), labels.ravel())


def loss_token_weighted(logits, labels, pad):
    """A mean for each sentence, weighted by its number of words."""
    total = logits.new_zeros(())
    for rows, words in zip(logits, labels, strict=True):
        if (real := words != pad).any():
            total = total + real.sum() * F.cross_entropy(rows[real], words[real])
    return total / (labels != pad).sum()


def loss_of_distributions(logits, labels, pad):
    return torch.distributions.Categorical(logits=logits[labels != pad]).log_prob(
        labels[labels != pad]
    ).mean() * (-1)


class Loss(nn.Module):
    """nll_loss after log_softmax."""

    def forward(self, logits, labels, pad):
        real = labels.ne(pad)
        return F.nll_loss(F.log_softmax(logits[real], dim=-1), labels[real])


LOSS = {
    "module with nll_loss": Loss(),
    "loops": loss_loops,
    "ignore_index": lambda logits, labels, pad: F.cross_entropy(
        logits.transpose(1, 2), labels, ignore_index=pad
    ),
    "gathered": loss_gathered,
    "logsumexp": loss_by_logsumexp,
    "a softmax made safe": loss_safe_softmax,
    "one-hot": loss_one_hot,
    "unreduced": loss_unreduced,
    "pad becomes -100": loss_other_number,
    "token-weighted": loss_token_weighted,
    "sum by F.cross_entropy": lambda logits, labels, pad: (
        F.cross_entropy(
            logits.flatten(end_dim=1),
            labels.flatten(),
            ignore_index=pad,
            reduction="sum",
        )
        / labels.ne(pad).sum()
    ),
    "a distribution": loss_of_distributions,
    "float64 inside": lambda logits, labels, pad: loss_gathered(
        logits.double(), labels, pad
    ).to(logits.dtype),
    "the library": training.masked_loss,
}

# noam_rate --------------------------------------------------------------------


def rate_branches(step, d_model, warmup):
    if step < warmup:
        return step / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * step)


def rate_from_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def rate_logarithms(step, d_model, warmup):
    terms = -math.log(step) / 2, math.log(step) - 1.5 * math.log(warmup)
    return math.exp(min(terms) - math.log(d_model) / 2)


def rate_tensors(step, d_model, warmup):
    step, d_model, warmup = (torch.tensor(float(n)) for n in (step, d_model, warmup))
    return torch.rsqrt(d_model) * torch.minimum(step.rsqrt(), step * warmup**-1.5)


def rate_loop(step, d_model, warmup):
    rate, each = 0.0, d_model**-0.5 * warmup**-1.5
    for number in range(1, step + 1):
        rate = rate + each if number <= warmup else (d_model * number) ** -0.5
    return rate


def rate_sorted(step, d_model, warmup):
    return d_model**-0.5 * sorted([step**-0.5, step * warmup**-1.5])[0]


class Rate(nn.Module):
    """Counts nothing of its own."""

    def forward(self, step, d_model, warmup):
        return torch.tensor([step**-0.5, step / warmup**1.5]).min() / d_model**0.5


RATE = {
    "formula": lambda step, d_model, warmup: (
        d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ),
    "branches": rate_branches,
    "from the peak": rate_from_the_peak,
    "logarithms": rate_logarithms,
    "tensors": rate_tensors,
    "loop": rate_loop,
    "sorted": rate_sorted,
    "module": Rate(),
    "math.pow": lambda step, d_model, warmup: (
        math.pow(d_model, -0.5)
        * min(math.pow(step, -0.5), step * math.pow(warmup, -1.5))
    ),
    "NumPy": lambda step, d_model, warmup: (
        np.power(d_model, -0.5) * np.minimum(step**-0.5, step * np.power(warmup, -1.5))
    ),
    "the library": training.learning_rate,
}

# greedy_decode ----------------------------------------------------------------


def greedy_while(next_logits, bos, eos, max_len):
    tokens = []
    while len(tokens) < max_len and (not tokens or tokens[-1] != eos):
        tokens.append(next_logits([bos, *tokens]).argmax().item())
    return tokens


def greedy_prefix(next_logits, bos, eos, max_len):
    """Keeps one list, which the model is given, and cuts bos off at the end."""
    prefix = [bos]
    for _ in range(max_len):
        token = int(torch.argmax(next_logits(prefix), dim=-1))
        prefix.append(token)
        if token == eos:
            break
    return prefix[1:]


def greedy_tensors(next_logits, bos, eos, max_len):
    """Words stay 0-dim tensors."""
    tokens = []
    for _ in range(max_len):
        _, token = next_logits([bos, *tokens]).max(dim=0)
        tokens.append(token)
        if token == eos:
            return tokens
    return tokens


def greedy_listed(next_logits, bos, eos, max_len):
    words = []
    while True:
        logs = next_logits([bos, *words]).tolist()
        words.append(logs.index(max(logs)))
        if words[-1] == eos or len(words) == max_len:
            return words


def greedy_recursive(next_logits, bos, eos, max_len, words=()):
    if len(words) == max_len or (words and words[-1] == eos):
        return list(words)
    best = int(next_logits([bos, *words]).argmax())
    return greedy_recursive(next_logits, bos, eos, max_len, (*words, best))


def greedy_numpy(next_logits, bos, eos, max_len):
    words = np.zeros(0, dtype=np.int64)
    for _ in range(max_len):
        best = np.argmax(next_logits([bos, *words]).numpy())
        words = np.append(words, best)
        if best == eos:
            break
    return list(words)


def greedy_asks_to_the_end(next_logits, bos, eos, max_len):
    """Wasteful, not wrong: asks max_len times, and cuts afterwards."""
    words = []
    for _ in range(min(max_len, 100)):
        logits = next_logits([bos, *words]).tolist()
        words.append(max(range(len(logits)), key=logits.__getitem__))
    return words[: words.index(eos) + 1] if eos in words else words


def greedy_generator(next_logits, bos, eos, max_len):
    def words():
        prefix = [bos]
        while prefix[-1] != eos or len(prefix) == 1:
            logits = next_logits(tuple(prefix))
            best = min(range(len(logits)), key=lambda word: (-logits[word], word))
            prefix.append(best)
            yield best

    return [word for _, word in zip(range(max_len), words(), strict=False)]


def greedy_sorted(next_logits, bos, eos, max_len):
    tokens = []
    for _ in range(max_len):
        logits = next_logits([bos, *tokens])
        tokens.append(logits.sort(descending=True, stable=True).indices[0].item())
        if tokens[-1] == eos:
            break
    return tuple(tokens)


class Greedy(nn.Module):
    """Compares by hand, from the first logit on."""

    def forward(self, next_logits, bos, eos, max_len):
        tokens, ended = [], False
        while not ended and len(tokens) < max_len:
            logits = next_logits([bos, *tokens])
            best = 0
            for word in range(1, len(logits)):
                if logits[word] > logits[best]:
                    best = word
            tokens.append(best)
            ended = best == eos
        return tokens


GREEDY = {
    "module": Greedy(),
    "while": greedy_while,
    "one prefix": greedy_prefix,
    "0-dim tensors": greedy_tensors,
    "list and index": greedy_listed,
    "recursive": greedy_recursive,
    "NumPy": greedy_numpy,
    "asks to the end": greedy_asks_to_the_end,
    "generator": greedy_generator,
    "stable sort, tuple": greedy_sorted,
}

RIGHT_TRAINING = {
    "teacher_forcing": FORCING,
    "masked_loss": LOSS,
    "noam_rate": RATE,
    "greedy_decode": GREEDY,
}
