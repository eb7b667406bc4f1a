"""The party of chapter 2: who belongs to whom, and what a shared matrix rules out."""

import pytest
import torch

from course_lib.experiments import load, one_projection


def test_partners_are_an_animal_and_its_own_sound() -> None:
    party = one_projection.parties(50, torch.Generator().manual_seed(0))
    assert party.words.shape == (50, 2 * one_projection.COUPLES)
    rows = zip(party.words.tolist(), party.partner.tolist(), strict=True)
    for words, partner in rows:
        assert len(set(words)) == len(words)
        for place, other in enumerate(partner):
            assert partner[other] == place
            pair = sorted((words[place], words[other]))
            assert pair[1] == pair[0] + len(one_projection.ANIMALS)


@pytest.mark.parametrize("d_k", [1, 2, 7])
@pytest.mark.parametrize("shared", ["query and key", "all three"])
def test_a_shared_matrix_rules_out_couples_whatever_the_weights(
    d_k: int, shared: str
) -> None:
    torch.manual_seed(d_k)
    model = one_projection.Guest(d_k, shared).double()
    judged = one_projection.judge(model, count=200)
    assert judged["mutual"] == 0
    assert judged["itself"] == 1


def test_what_is_shared_is_shared_and_nothing_else() -> None:
    for shared in one_projection.SHARED:
        model = one_projection.Guest(3, shared)
        same = [
            model.to_query is model.to_key,
            model.to_key is model.to_value,
        ]
        wanted = {
            "nothing": [False, False],
            "query and key": [True, False],
            "key and value": [False, True],
            "all three": [True, True],
        }
        assert same == wanted[shared]


def test_the_stored_results_say_what_the_chapter_says() -> None:
    narrow, wide = load("one_projection")["results"].values()
    for results in (narrow, wide):
        assert min(results["nothing"]["right"]) > 0.99
        assert max(results["query and key"]["right"]) < 0.56
        assert set(results["query and key"]["mutual"]) == {0}
    assert max(narrow["key and value"]["right"]) < 0.3
    assert min(wide["key and value"]["right"]) > 0.99
