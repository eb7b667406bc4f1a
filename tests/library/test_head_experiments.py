"""The experiments of chapter 6 ask what they say they ask."""

import pytest
import torch
from torch import Tensor

from course_lib.corpus import BOS, PAD
from course_lib.experiments import fetch_two, head_roles

TOKENS = torch.tensor([[BOS, 7, 8, 9, 5], [BOS, 9, 5, PAD, PAD]])  # (B, T)


def looking_at(targets: list[list[int]]) -> Tensor:
    """Weights (B, T, T) with all of a query's weight on one key."""
    return torch.nn.functional.one_hot(torch.tensor(targets), 5).float()


def test_roles_are_counted_over_words_alone() -> None:
    heads = {
        "previous": [[4, 0, 1, 2, 3], [4, 0, 1, 4, 4]],
        "next": [[4, 2, 3, 4, 0], [4, 2, 0, 4, 4]],
        "itself": [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]],
        "start": [[4, 0, 0, 0, 0], [4, 0, 0, 4, 4]],
        "full stop": [[0, 4, 4, 4, 4], [0, 2, 2, 0, 0]],
    }
    assert list(heads) == head_roles.ROLES
    weights = torch.stack([looking_at(rows) for rows in heads.values()], dim=1)
    found = head_roles.roles(lambda tokens: (None, weights), TOKENS)  # type: ignore[arg-type]
    six = torch.tensor(  # of six words; two stand after the start, two are a full stop
        [
            [6, 0, 0, 2, 0],
            [0, 4, 0, 2, 2],
            [0, 0, 6, 0, 2],
            [2, 0, 0, 6, 0],
            [0, 2, 2, 0, 6],
        ]
    )
    torch.testing.assert_close(found, six / 6)


def test_even_share_is_that_of_the_words() -> None:
    assert head_roles.even_share(TOKENS) == pytest.approx((4 / 5 + 2 / 3) / 6)


@pytest.mark.parametrize("two_kinds", [False, True])
def test_a_question_asks_for_two_different_slots(two_kinds: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    words, places, answers = fetch_two.questions(
        500, generator, slots=6, two_kinds=two_kinds
    )
    assert words.shape == (500, 6) and places.shape == answers.shape == (500, 2)
    assert (places[:, 0] != places[:, 1]).all()
    for row, asked, answer in zip(words, places, answers, strict=True):
        assert [row[p] for p in asked] == answer.tolist()
    if two_kinds:
        half = fetch_two.WORDS // 2
        assert (answers[:, 0] < half).all() and (answers[:, 1] >= half).all()


def test_the_number_of_heads_changes_no_number_of_parameters() -> None:
    sizes = {
        sum(p.numel() for p in fetch_two.Fetch(heads).parameters())
        for heads in (1, 2, 4, 8)
    }
    assert len(sizes) == 1
