"""The corpus: no ambiguous sentence, gold answers that agree, the same every time."""

import hashlib
import os
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest
import torch
import translator
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.corpus import (
    BOS,
    EOS,
    PAD,
    UNK,
    Pair,
    Vocabulary,
    attach,
    batches,
    generate,
    particle,
    split,
    text,
    tokenize,
    vocabulary,
)

LANGUAGES = ["korean", "english"]
MARKERS = {"은": "는", "이": "가", "을": "를", "과": "와"}  # after consonant: vowel
PRONOUNS = {"he", "him", "she", "her", "it", "they", "them"}


@pytest.fixture(scope="module")
def pairs():
    return generate()


# What a word may be aligned with: Korean token -> English tokens


def dictionary():
    allowed = {
        ".": {"."},
        "그": {"the", *PRONOUNS},
        "들": {"they", "them"},
        "한": {"a", "an"},
        "두": {"two"},
        "세": {"three"},
        "과": {"and"},
        "와": {"and"},
        "에서": {"in", "at"},
        "에": {"in", "at"},
        "것이다": {"will"},
        "것이고": {"will", "and"},
    }
    objects = {"he": "him", "she": "her", "it": "it"}
    for korean, row in translator.NOUNS.items():
        english, plural, _, pronoun, counter = row
        names = {english, plural, pronoun, objects[pronoun], "they", "them"}
        allowed[korean] = names
        allowed["들"].add(plural)
        allowed[counter] = {"a", "an", "two", "three"}
    for korean, english in translator.ADJECTIVES.items():
        allowed[korean] = {english}
    for korean, (_, english) in translator.PLACES.items():
        allowed[korean] = {english}
    for korean, words in translator.TIMES.items():
        allowed[korean] = set(words)
    for form, (verb, tense, another) in translator.KOREAN_VERBS.items():
        plain, with_s, past = verb["english"]
        forms = {"past": {past}, "present": {plain, with_s}, "future": {plain}}
        allowed[form] = forms[tense] | ({"and"} if another else set())
    return allowed


DICTIONARY = dictionary()
KOREAN_CONTENT = {
    *translator.NOUNS,
    *translator.ADJECTIVES,
    *translator.PLACES,
    *translator.TIMES,
    *translator.NUMBERS,
    *translator.KOREAN_VERBS,
}
ENGLISH_CONTENT = {
    *translator.ENGLISH_NOUNS,
    *translator.ENGLISH_VERBS,
    *translator.ADJECTIVES.values(),
    *(row[1] for row in translator.PLACES.values()),
    *(word for words in translator.TIMES.values() for word in words),
    "two",
    "three",
}


def clause_numbers(tokens, language):
    """The clause that each token stands in."""
    if language == "english":
        return [tokens[:i].count(",") for i in range(len(tokens))]
    ends = [token in translator.KOREAN_VERBS for token in tokens]
    return [sum(ends[:i]) - (tokens[i][:2] == "것이") for i in range(len(tokens))]


def test_sixty_thousand_distinct_pairs_none_ambiguous_in_either_direction(pairs):
    assert len(pairs) == 60_000
    assert len({pair.korean for pair in pairs}) == 60_000
    assert len({pair.english for pair in pairs}) == 60_000
    # Not even as a reader sees them, with spaces and capital letters.
    assert len({text(pair.korean, "korean") for pair in pairs}) == 60_000
    assert len({text(pair.english, "english") for pair in pairs}) == 60_000


def test_each_language_determines_the_other_by_rule(pairs):
    # The translator reads one language alone and fails where it finds two readings, so
    # no sentence that this grammar can write has a second translation like these.
    for pair in pairs:
        assert translator.to_english(pair.korean) == pair.english
        assert translator.to_korean(pair.english) == pair.korean


def test_alignment_is_the_dictionary(pairs):
    for pair in pairs:
        for i, j in pair.alignment:
            assert 0 <= i < len(pair.korean) and 0 <= j < len(pair.english)
            assert pair.english[j] in DICTIONARY[pair.korean[i]], (pair, i, j)


def test_every_content_word_is_aligned(pairs):
    for pair in pairs:
        korean = {i for i, _ in pair.alignment}
        english = {j for _, j in pair.alignment}
        for i, word in enumerate(pair.korean):
            assert i in korean or word not in KOREAN_CONTENT, (pair, word)
        for j, word in enumerate(pair.english):
            assert j in english or word not in ENGLISH_CONTENT, (pair, word)


def test_alignment_stays_in_its_clause_and_with_its_noun(pairs):
    for pair in pairs:
        korean_clause = clause_numbers(pair.korean, "korean")
        english_clause = clause_numbers(pair.english, "english")
        for i, j in pair.alignment:
            if pair.english[j] not in (".", "and"):
                assert korean_clause[i] == english_clause[j], (pair, i, j)
            if pair.korean[i] in translator.ADJECTIVES:
                assert (i + 1, j + 1) in pair.alignment, (pair, i, j)


def test_a_noun_is_aligned_with_its_own_mention_only(pairs):
    for pair in pairs:
        partners = Counter(
            i for i, _ in pair.alignment if pair.korean[i] in translator.NOUNS
        )
        assert set(partners.values()) == {1}


def test_antecedents_agree_in_gender_and_number(pairs):
    subject_form = {"him": "he", "her": "she", "them": "they"}
    for pair in pairs:
        found = {}
        for pronoun, noun in pair.antecedents:
            assert noun < pronoun
            found.setdefault(pronoun, []).append(pair.english[noun])
        assert set(found) == {j for j, w in enumerate(pair.english) if w in PRONOUNS}
        for pronoun, nouns in found.items():
            word = pair.english[pronoun]
            korean, plural = translator.ENGLISH_NOUNS[nouns[0]]
            if len(nouns) == 2 or plural:
                assert word in ("they", "them")
            else:
                assert subject_form.get(word, word) == translator.NOUNS[korean][3]


def test_a_dropped_subject_is_the_english_pronoun(pairs):
    for pair in pairs:
        english_of = dict(pair.alignment)  # a noun has one counterpart
        clauses = clause_numbers(pair.korean, "korean")
        with_subject = {
            clause
            for clause, word in zip(clauses, pair.korean, strict=True)
            if word in ("은", "는", "이", "가")
        }
        dropped = {clauses[verb] for verb, _ in pair.dropped}
        assert dropped == set(clauses[:-1]) - with_subject
        means = {}
        for verb, noun in pair.dropped:
            assert pair.korean[verb] in translator.KOREAN_VERBS
            means.setdefault(clauses[verb], set()).add(english_of[noun])
        english_clauses = clause_numbers(pair.english, "english")
        for clause, nouns in means.items():
            start = english_clauses.index(clause)
            pronoun = start + (clause > 0)  # after "and"
            assert {n for p, n in pair.antecedents if p == pronoun} == nouns


def test_there_are_pronouns_of_every_kind_for_subject_and_object(pairs):
    words = Counter()
    for pair in pairs:
        named = {pair.english[noun]: pair.english[p] for p, noun in pair.antecedents}
        words.update(named.values())
    assert set(words) == PRONOUNS and min(words.values()) > 500
    assert sum(bool(pair.dropped) for pair in pairs) > 10_000


def test_sentences_make_sense(pairs):
    # Nobody eats a hat, sleeps at the market or hides what has been eaten.
    for pair in pairs:
        eaten, waiting, subjects, place = set(), [], [], None
        for i, word in enumerate(pair.korean):
            if word in translator.NOUNS:
                assert word not in eaten, pair
                waiting.append(word)
            elif word in translator.PLACES:
                place = word
            elif word in ("은", "는", "이", "가"):
                subjects, waiting = waiting, []
            elif word in translator.KOREAN_VERBS:
                verb = translator.KOREAN_VERBS[word][0]
                acting = {translator.NOUNS[noun][2] for noun in subjects}
                acted_on = {translator.NOUNS[noun][2] for noun in waiting}
                assert acting and acting <= set(verb["subjects"]), (pair, i)
                assert acted_on <= set(verb["objects"]), (pair, i)
                assert bool(acted_on) == bool(verb["objects"]), (pair, i)
                assert place is None or place in verb["places"], (pair, i)
                eaten |= set(waiting) if verb.get("uses_up") else set()
                waiting, place = [], None


def test_particles_fit_the_word_before_them(pairs):
    # Decomposed, a Hangul syllable with a final consonant has three letters, else two.
    for noun in [*translator.NOUNS, *translator.PLACES, "들", "명", "마리"]:
        has_final = len(unicodedata.normalize("NFD", noun[-1])) == 3
        for role, consonant in zip(
            ["topic", "subject", "object", "and"], MARKERS, strict=True
        ):
            want = consonant if has_final else MARKERS[consonant]
            assert particle(noun, role) == want
    for pair in pairs:
        for before, word in zip(pair.korean, pair.korean[1:], strict=False):
            if word in MARKERS or word in MARKERS.values():
                has_final = len(unicodedata.normalize("NFD", before[-1])) == 3
                assert (word in MARKERS) == has_final, (before, word)


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_and_tokenize_undo_each_other(pairs, language):
    for pair in pairs:
        tokens = getattr(pair, language)
        assert tokenize(text(tokens, language), language) == tokens


def test_text_is_written_as_a_reader_expects():
    korean = "어제 소년 두 명 이 공원 에서 그 고양이 들 을 쫓았다 .".split()
    assert text(korean, "korean") == "어제 소년 두 명이 공원에서 그 고양이들을 쫓았다."
    assert attach(korean)[1:5] == ["소년", "두", "명이", "공원에서"]
    decomposed = unicodedata.normalize("NFD", text(korean, "korean"))
    assert tokenize(decomposed, "korean") == tuple(korean)
    english = "the cat ate an apple , and it slept .".split()
    assert text(english, "english") == "The cat ate an apple, and it slept."


@pytest.mark.parametrize(
    ("sentence", "language", "word"),
    [
        ("소년은 코끼리를 보았다.", "korean", "코끼리를"),
        ("소년는 고양이를 보았다.", "korean", "소년는"),
        ("The boy saw an elephant.", "english", "elephant"),
        ("The Boy saw 고양이.", "english", "고양이"),
    ],
)
def test_an_unknown_word_is_named(sentence, language, word):
    with pytest.raises(ValueError, match=f"'{word}' is not"):
        tokenize(sentence, language)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**64), st.integers(1, 60))
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(seed, count):
    first, again = generate(count, seed), generate(count, seed)
    assert first == again and len(first) == count
    # A longer corpus begins with the shorter one; another seed shares little with it.
    assert generate(count + 5, seed)[:count] == first
    others = {pair.korean for pair in generate(40, seed + 1)}
    assert len(others & {pair.korean for pair in generate(40, seed)}) < 10


def digest(pairs):
    return hashlib.sha256(repr(
        [(p.korean, p.english, sorted(p.alignment), p.antecedents) for p in pairs]
    ).encode()).hexdigest()  # fmt: skip


def test_the_pairs_do_not_depend_on_the_order_of_hashes():
    code = "import test_corpus as t; print(t.digest(t.generate(300, seed=4)))"
    prints = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert prints == {digest(generate(300, seed=4))}


@pytest.mark.parametrize("length", [6, 12, 18, 24])
def test_there_are_enough_sentences_of_every_length(length):
    pairs = generate(1_000, seed=1, min_length=length, max_length=length)
    assert {len(pair.korean) for pair in pairs} == {length}
    assert len({pair.english for pair in pairs}) == 1_000


def test_lengths_are_kept(pairs):
    assert {len(pair.korean) for pair in pairs} == set(range(4, 27))
    few = generate(300, min_length=8, max_length=11)
    assert {len(pair.korean) for pair in few} == {8, 9, 10, 11}


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="count must be at least 1, not 0"):
        generate(0)
    with pytest.raises(ValueError, match="9 to 7 Korean tokens"):
        generate(5, min_length=9, max_length=7)
    with pytest.raises(ValueError, match="no sentence has 1 to 3 Korean tokens"):
        generate(5, min_length=1, max_length=3)
    with pytest.raises(ValueError, match=r"count is 500, but only \d+ .* 4 to 4"):
        generate(500, max_length=4)
    with pytest.raises(ValueError, match="not 'german'"):
        vocabulary(None, "german")
    with pytest.raises(ValueError, match="batch_size must be at least 1, not 0"):
        next(batches(generate(2), 0))
    with pytest.raises(ValueError, match="between 1 and 3 for 4 pairs, not 4"):
        split(generate(4), 4)
    with pytest.raises(ValueError, match="only 4 of the 8 sentences"):
        split(generate(4) * 2, 2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_vocabulary_is_the_whole_grammar_in_a_fixed_order(pairs, language):
    words = vocabulary(None, language)
    used = {token for pair in pairs for token in getattr(pair, language)}
    assert set(words.tokens[4:]) == used and len(words) == len(used) + 4
    assert 60 <= len(words) <= 130
    few = vocabulary(pairs[:3], language)
    assert few.tokens == [t for t in words.tokens if t in few.tokens]
    assert set(few.tokens[4:]) == {t for p in pairs[:3] for t in getattr(p, language)}


def test_encode_and_decode():
    words = Vocabulary(["the", "cat", "slept"])
    assert len(words) == 7
    assert words.encode(["the", "dog", "slept"]) == [4, UNK, 6]
    assert words.decode([BOS, 4, 5, 6, EOS, 5, PAD]) == ["the", "cat", "slept"]
    assert words.decode(torch.tensor([4, UNK, PAD])) == ["the", "<unk>"]
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 17),
    st.sampled_from(LANGUAGES),
    st.none() | st.integers(0, 99),
)
def test_batches_hold_every_pair_once(count, batch_size, source, seed):
    pairs = generate(count, seed=2)
    target = "english" if source == "korean" else "korean"
    source_words, target_words = vocabulary(None, source), vocabulary(None, target)
    seen = []
    found = list(batches(pairs, batch_size, source=source, seed=seed))
    assert len(found) == -(-count // batch_size)
    for batch in found:
        assert batch.source.dtype == batch.target.dtype == torch.int64
        assert len(batch.source) == len(batch.target) <= batch_size
        assert (batch.source != PAD).any(dim=0).all()  # no column of padding alone
        assert (batch.target != PAD).any(dim=0).all()
        for source_ids, target_ids in zip(*batch, strict=True):
            length = int((target_ids == EOS).nonzero().item())
            assert (target_ids[length + 1 :] == PAD).all()
            assert not torch.isin(target_ids[:length], torch.tensor([PAD, BOS])).any()
            real = int((source_ids != PAD).sum())
            assert (source_ids[real:] == PAD).all()
            assert not torch.isin(source_ids[:real], torch.tensor([BOS, EOS])).any()
            seen.append(
                (
                    tuple(source_words.decode(source_ids)),
                    tuple(target_words.decode(target_ids)),
                )
            )
    want = [(getattr(p, source), getattr(p, target)) for p in pairs]
    if seed is None:
        assert seen == want
    else:
        assert sorted(seen) == sorted(want)


def test_mixed_batches_have_little_padding_and_another_order_each_seed(pairs):
    some = pairs[:2_000]
    first, again, other = (list(batches(some, 50, seed=s)) for s in (1, 1, 2))
    assert all(
        torch.equal(a.source, b.source) for a, b in zip(first, again, strict=True)
    )
    assert any(
        a.source.shape != b.source.shape for a, b in zip(first, other, strict=True)
    )
    padding = sum((batch.source == PAD).sum().item() for batch in first)
    assert padding < 0.05 * sum(batch.source.numel() for batch in first)
    lengths = [batch.source.shape[1] for batch in first]
    assert lengths != sorted(lengths)


def test_batches_are_made_on_the_device_asked_for():
    batch = next(batches(generate(3), 2, device="meta"))
    assert batch.source.device.type == batch.target.device.type == "meta"


@given(st.integers(1, 29), st.integers(0, 5))
def test_split_shares_no_sentence(held_out, seed):
    pairs = generate(30, seed=6)
    train, test = split(pairs, held_out, seed)
    assert len(test) == held_out and len(train) == 30 - held_out
    assert {p.korean for p in train + test} == {p.korean for p in pairs}
    assert not {p.english for p in train} & {p.english for p in test}
    assert split(pairs, held_out, seed) == (train, test)


def test_a_pair_cannot_be_changed():
    pair = generate(1)[0]
    assert isinstance(pair, Pair)
    with pytest.raises(AttributeError):
        pair.korean = ()
