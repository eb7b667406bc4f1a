"""Known mistakes in `kv_cache_bytes`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy

from ..catalogue import Catalogue
from ..language import mark as N_

CACHE_SECTION = N_("chapter 7, What a cache holds")

MISTAKES = Catalogue()
# Two layers, 3 heads of width 2, 4 tokens, a batch of 2, 4 bytes: 768 bytes.
SMALL = (2, 3, 2, 4, 2, 4)
LARGE = (8, 8, 64, 16384, 16, 2)


def _bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return 2 * layers * kv_heads * head_dim * length * batch * bytes_per_value


@MISTAKES.add(
    N_("That is one half: the cache holds keys and values, two tensors of one size."),
    SMALL,
    CACHE_SECTION,
    "https://github.com/rohitg00/ai-engineering-from-scratch/pull/57",
)
def keys_only(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return layers * kv_heads * head_dim * length * batch * bytes_per_value


@MISTAKES.add(
    N_(
        "Queries are counted too. A query is used once, by its own token, and never "
        "again: only keys and values are kept."
    ),
    SMALL,
    CACHE_SECTION,
    "classroom: 'QKV cache'",
)
def queries_too(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return 3 * layers * kv_heads * head_dim * length * batch * bytes_per_value


@MISTAKES.add(
    N_("The layers are left out: every layer keeps keys and values of its own."),
    SMALL,
    CACHE_SECTION,
    "classroom: the formula of one layer taken for the model's",
)
def one_layer(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(1, kv_heads, head_dim, length, batch, bytes_per_value)


@MISTAKES.add(
    N_(
        "That is the cache of one head: every key/value head keeps keys and values of "
        "width head_dim. The width is head_dim as it is given, not divided by the "
        "heads."
    ),
    SMALL,
    CACHE_SECTION,
    "https://github.com/rohitg00/ai-engineering-from-scratch/pull/57",
)
def one_head(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, 1, head_dim, length, batch, bytes_per_value)


@MISTAKES.add(
    N_(
        "The width of a head is left out: a key is no single number, it holds "
        "head_dim of them."
    ),
    SMALL,
    CACHE_SECTION,
    "classroom: one key counted as one value",
)
def one_number_for_a_key(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, 1, length, batch, bytes_per_value)


@MISTAKES.add(
    N_(
        "That is what one token adds. The cache holds keys and values of all tokens so "
        "far: it grows with the length."
    ),
    SMALL,
    CACHE_SECTION,
    "classroom: bytes a token, and bytes",
)
def one_token(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, head_dim, 1, batch, bytes_per_value)


@MISTAKES.add(
    N_("The batch is left out: every sentence in it has a cache of its own."),
    SMALL,
    CACHE_SECTION,
    "classroom: an estimate for one user, served to many",
)
def one_sentence(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, head_dim, length, 1, bytes_per_value)


@MISTAKES.add(
    N_("Numbers are counted, not bytes: each takes bytes_per_value of them."),
    SMALL,
    CACHE_SECTION,
    "classroom: numel() taken for nbytes",
)
def numbers_not_bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, head_dim, length, batch, 1)


@MISTAKES.add(
    N_("Bits are counted, not bytes: 8 times too many."),
    SMALL,
    CACHE_SECTION,
    "classroom: '16-bit' put in for 2 bytes",
)
def bits_not_bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return 8 * _bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value)


@MISTAKES.add(
    N_(
        "Two bytes a number are taken for granted. That is so for half precision only; "
        "use bytes_per_value."
    ),
    SMALL,
    CACHE_SECTION,
    "https://github.com/AlexsJones/llmfit/issues/418",
)
def always_two_bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, head_dim, length, batch, 2)


@MISTAKES.add(
    N_(
        "The heads are counted twice over. The width of all heads together is "
        "kv_heads · head_dim; it is not multiplied by the heads again."
    ),
    SMALL,
    CACHE_SECTION,
    "https://github.com/jranaraki/vllm-fit/issues/2",
)
def heads_squared(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads**2, head_dim, length, batch, bytes_per_value)


@MISTAKES.add(
    N_(
        "The length is squared. That is the size of the scores; a cache holds one key "
        "and one value for each token."
    ),
    SMALL,
    CACHE_SECTION,
    "classroom: the cache taken for the matrix of weights",
)
def length_squared(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    return _bytes(layers, kv_heads, head_dim, length**2, batch, bytes_per_value)


@MISTAKES.add(
    N_("The size is given in GiB. Asked for are bytes, as an int."),
    SMALL,
    CACHE_SECTION,
    "https://github.com/jranaraki/vllm-fit/issues/2",
)
def in_gib(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    size = _bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value)
    return size / 1024**3


@MISTAKES.add(
    N_(
        "The number is right, but it is a float. Bytes are counted: give an int. Use "
        "// where something is divided."
    ),
    SMALL,
    CACHE_SECTION,
    "classroom: bits / 8",
)
def float_result(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    size = _bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value)
    return 8 * size / 8


@MISTAKES.add(
    N_(
        "Large caches overflow: whole numbers of 32 bits end at 2,147,483,647, which "
        "is 2 GiB. Use ints of Python, which have no end, or 64 bits."
    ),
    LARGE,
    CACHE_SECTION,
    "classroom: sizes in an int32 tensor",
)
def overflow_in_32_bits(layers, kv_heads, head_dim, length, batch, bytes_per_value):
    size = _bytes(layers, kv_heads, head_dim, length, batch, bytes_per_value)
    return int(numpy.array(size, dtype=numpy.int64).astype(numpy.int32))
