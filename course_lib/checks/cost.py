"""Exercises of chapter 7: what attention computes, and what its cache holds."""

from . import solutions
from .cases import Case, Draw
from .exercise import Exercise
from .language import mark as N_
from .mistakes import attention_flops as attention_flops_mistakes
from .mistakes import kv_cache_bytes as kv_cache_bytes_mistakes
from .properties.cost import (
    heads_cost_nothing,
    twice_is_twice,
    twice_the_length_four_times_the_work,
)

COUNT_SECTION = N_("chapter 7, Counting the operations")
CACHE_SECTION = N_("chapter 7, What a cache holds")

# attention_flops --------------------------------------------------------------


def flops_reference(length: int, d_model: int, num_heads: int) -> int:
    """Count by head: T · T scores and T · d_k outputs, each a sum of products."""
    d_k, count = d_model // num_heads, 0
    for _ in range(num_heads):
        score, output = 2 * d_k, 2 * length  # a dot product of width n: 2 n
        count += length * length * score + length * d_k * output
    return count


def flops_cases(draw: Draw) -> list[Case]:
    """Small and large; every size once as 1; sizes drawn from the seed."""
    sizes = [(7, 12, 3), (5, 8, 2), (1, 6, 3), (4, 1, 1), (9, 16, 4), (8, 8, 8)]
    sizes += [(6, 10, 1), (3, 20, 10), (512, 512, 8), (100003, 4095, 35)]
    length, d_k, heads = draw.integers(3, 60, 3).tolist()
    sizes.append((length, d_k * heads, heads))
    return [Case(f"T = {T}, D = {D}, H = {H}", (T, D, H)) for T, D, H in sizes]


attention_flops = Exercise(
    id="attention_flops",
    parameters=("length", "d_model", "num_heads"),
    results=("flops",),
    task=N_(
        "Count what QK^T and weights · V of one attention layer compute, over all "
        "heads, a multiply-add as 2: length, d_model and num_heads to an int. "
        "Projections and softmax are left out, nothing is masked."
    ),
    section=COUNT_SECTION,
    difficulty=1,
    minutes=8,
    hints=(
        N_(
            "How many scores are there in one head? How many multiplications does one "
            "score take, and how many additions?"
        ),
        N_(
            "A product of an (a, b) and a (b, c) matrix takes a · b · c multiply-adds, "
            "that is 2 · a · b · c operations. Write down the shapes of both products "
            "of a head of width D/H."
        ),
        N_(
            "scores: 2 · T · T · d_k; weights · V: as many again; then all of it for H "
            "heads. What is left of H?"
        ),
    ),
    right_answer=solutions.attention_flops,
    reference=flops_reference,
    make_cases=flops_cases,
    properties=(twice_the_length_four_times_the_work(), heads_cost_nothing()),
    misconceptions=attention_flops_mistakes.MISTAKES,
)

# kv_cache_bytes ---------------------------------------------------------------


def cache_reference(
    layers: int,
    kv_heads: int,
    head_dim: int,
    length: int,
    batch: int,
    bytes_per_value: int,
) -> int:
    """Add up the tensors that a cache holds, one by one."""
    count = 0
    for _layer in range(layers):
        for _tensor in ("key", "value"):
            shape = (batch, kv_heads, length, head_dim)
            values = 1
            for size in shape:
                values *= size
            count += values * bytes_per_value
    return count


def cache_cases(draw: Draw) -> list[Case]:
    """Every size once as 1; sizes of real models; sizes drawn from the seed."""
    sizes = [(3, 5, 7, 11, 2, 4), (2, 4, 3, 5, 6, 1), (1, 2, 3, 4, 5, 2)]
    sizes += [(2, 1, 4, 3, 5, 2), (2, 3, 1, 5, 4, 2), (2, 3, 4, 1, 5, 2)]
    sizes += [(3, 2, 5, 4, 1, 2), (32, 8, 128, 8192, 4, 2), (2, 2, 2, 2, 2, 2)]
    sizes.append((80, 8, 128, 100003, 15, 2))  # more than 32 bits can count
    drawn = draw.integers(2, 30, 5).tolist()
    sizes.append((*drawn, 8))
    return [Case(f"sizes {', '.join(map(str, each))}", each) for each in sizes]


CACHE_PARAMETERS = (
    "layers",
    "kv_heads",
    "head_dim",
    "length",
    "batch",
    "bytes_per_value",
)
kv_cache_bytes = Exercise(
    id="kv_cache_bytes",
    parameters=CACHE_PARAMETERS,
    results=("size",),
    task=N_(
        "Count the bytes of a key/value cache that holds length tokens of each of "
        "batch sentences: layers, kv_heads, head_dim, length, batch and "
        "bytes_per_value to an int."
    ),
    section=CACHE_SECTION,
    difficulty=1,
    minutes=5,
    hints=(
        N_("What does one token leave behind in one head of one layer?"),
        N_(
            "A key and a value, each of head_dim numbers. Who keeps such a pair? Every "
            "key/value head, in every layer, for every token of every sentence."
        ),
        N_(
            "2 · head_dim numbers, times kv_heads, times layers, times length, times "
            "batch; then bytes for each number."
        ),
    ),
    right_answer=solutions.kv_cache_bytes,
    reference=cache_reference,
    make_cases=cache_cases,
    properties=(twice_is_twice(CACHE_PARAMETERS),),
    misconceptions=kv_cache_bytes_mistakes.MISTAKES,
)
