"""Cases of public reports that touch chapter 9, named by their number."""

import pickle

import pytest
import torch
import torch.nn.functional as F

from course_lib import checks
from course_lib.checks.script import PATIENCE, Script

forcing, loss = checks.teacher_forcing, checks.masked_loss
rate, greedy = checks.noam_rate, checks.greedy_decode


def test_h23_the_example() -> None:
    target = torch.tensor([[5, 6, 7, 2]])
    read, labels = forcing.right_answer(target, 1)
    assert read.tolist() == [[1, 5, 6, 7]]
    assert labels.tolist() == [[5, 6, 7, 2]]


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda target, bos: (target, target), "not-shifted"),
        (lambda target, bos: (target[:, :-1], target[:, 1:]), "as-if-bos-were-there"),
        (
            lambda target, bos: (F.pad(target, (2, -2), value=bos), target),
            None,  # of one word nothing is left: two faults
        ),
        (
            lambda target, bos: (F.pad(target, (1, -1), value=bos), target[:, 1:]),
            "labels-shifted-too",
        ),
    ],
)
def test_h23_not_shifted_or_shifted_twice(answer, diagnosis: str | None) -> None:
    report = forcing.check(answer)
    assert not report.passed
    if diagnosis:
        assert report.diagnosis == diagnosis, str(report)


def test_h23_a_model_that_sees_its_answer_is_told_so() -> None:
    def late(target, bos):
        """Right but for the last place, which reads its own label."""
        read = F.pad(target, (1, -1), value=bos)
        read[:, -1] = target[:, -1]
        return read, target

    report = forcing.check(late)
    assert report.diagnosis is None
    assert "sees its answer" in report.message


def test_h24_the_example() -> None:
    logits = torch.zeros(1, 4, 5)
    logits[..., 0] = 4
    labels = torch.tensor([[2, 0, 0, 0]])
    assert float(loss.right_answer(logits, labels, 0)) == pytest.approx(
        4.0707, abs=1e-4
    )
    (counted,) = {
        m.wrong for m in loss.misconceptions if m.wrong.__name__ == "pads_counted"
    }
    assert float(counted(logits, labels, 0)) == pytest.approx(1.0707, abs=1e-4)


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (
            lambda logits, labels, pad: F.cross_entropy(logits.mT, labels),
            "ignore-index-forgotten",
        ),
        (
            lambda logits, labels, pad: F.cross_entropy(
                logits.mT, labels, ignore_index=pad, reduction="none"
            ).mean(),
            "divided-by-all-places",
        ),
        (
            lambda logits, labels, pad: torch.stack(
                [
                    F.cross_entropy(rows[words != pad], words[words != pad])
                    for rows, words in zip(logits, labels, strict=True)
                    if (words != pad).any()
                ]
            ).mean(),
            "mean-of-sentence-means",
        ),
    ],
)
def test_h24_padding_in_the_loss(answer, diagnosis: str) -> None:
    assert loss.check(answer).diagnosis == diagnosis


def test_h24_a_padded_place_that_changes_the_loss_is_told() -> None:
    def half(logits, labels, pad):
        real = loss.right_answer(logits, labels, pad)
        return real + 0.1 * logits[..., 0].mean()

    report = loss.check(half)
    assert report.diagnosis is None
    assert "Changing the logits of a padded place changed the loss" in report.message


def test_h25_the_example() -> None:
    found = [rate.right_answer(step, 16, 4) for step in range(1, 6)]
    assert found == pytest.approx([0.0312, 0.0625, 0.0938, 0.1250, 0.1118], abs=1e-4)


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda s, d, w: rate.right_answer(s - 1, d, w), "counted-from-zero"),
        (
            lambda s, d, w: rate.right_answer(s - 1, d, w) if s > 1 else 0.0,
            "counted-from-zero",
        ),
        (lambda s, d, w: rate.right_answer(s + 1, d, w), "one-added-to-the-step"),
    ],
)
def test_h25_steps_are_counted_from_one(answer, diagnosis: str) -> None:
    assert rate.check(answer).diagnosis == diagnosis


def test_h26_a_loop_without_a_bound_ends_with_a_sentence() -> None:
    def no_end(next_logits, bos, eos, max_len):
        while True:
            next_logits([bos])

    report = greedy.check(no_end)
    assert report.status == "error"
    assert f"asked {PATIENCE} times" in report.message
    assert "in `next_logits([bos])`" in report.message, "the learner's own line"


@pytest.mark.parametrize("prefix", [torch.tensor([1]), 1, [[1]], [1.0], ["a"]])
def test_a_script_refuses_what_is_no_prefix(prefix) -> None:
    with pytest.raises(TypeError, match="list of whole numbers"):
        Script((3, 2), 1, 5)(prefix)


def test_a_script_says_its_sentence_and_notes_what_it_was_asked() -> None:
    script = pickle.loads(pickle.dumps(Script((3, 0, 2), 1, 5)))
    prefix = [1]
    for word in (3, 0, 2):
        assert int(script(prefix).argmax()) == word
        prefix.append(word)
    assert script.asked == [(1,), (1, 3), (1, 3, 0)], "copies, not the list itself"
    assert script.fresh().asked == []
    assert torch.equal(script([0, 3]), script([0, 3]))
    assert not torch.equal(script([0, 3]), script([3]))
    with pytest.raises(ValueError, match="0 to 4"):
        Script((5,), 1, 5)


@pytest.mark.parametrize(
    "answer",
    [
        lambda ask, bos, *rest: [ask([bos])],
        lambda ask, bos, *rest: ["word"],
        lambda ask, bos, *rest: torch.tensor([1, 2]),
        lambda ask, bos, *rest: [[1, 2]],
    ],
)
def test_a_result_that_is_no_list_of_words_becomes_a_report(answer) -> None:
    report = greedy.check(answer)
    assert report.status == "wrong"
    assert "should be a list" in report.message
