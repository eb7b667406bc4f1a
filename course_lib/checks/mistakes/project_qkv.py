"""Known mistakes in `project_qkv`: each the wrong code, said and shown."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import math

import torch

from ..cases import tensor
from ..catalogue import Catalogue
from ..language import mark as N_

PROJECT_SECTION = N_("chapter 2, One vector, three roles")

MISTAKES = Catalogue()
SMALL_PROJECT = (
    tensor([[[1.0, 2.0]]]),
    tensor([[1.0, 1.0], [0.0, 1.0]]),
    tensor([[1.0, 0.0], [3.0, 1.0]]),
    tensor([[2.0, 1.0], [0.0, 4.0]]),
)


@MISTAKES.add(
    "One matrix makes query, key and value, so all three are the same vector. Each "
    "role has its own matrix.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: copied lines with W_q left in",
)
def one_matrix_for_all(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_q


@MISTAKES.add(
    "Query and key share one matrix. Then a word's score with another equals the "
    "score the other way round.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: copied lines with W_q left in",
)
def one_matrix_for_query_and_key(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_q, x @ W_v


@MISTAKES.add(
    "The matrices are transposed. Here tokens are rows and the matrices are (D, d): "
    "x @ W. The convention x @ W.T belongs to nn.Linear, which stores (d, D).",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "nn.Linear keeps its weight as (out, in)",
    convention=True,
)
def transposed_matrices(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


@MISTAKES.add(
    "The order is key, query, value. The exercise asks for query, key, value.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the three come in any order in public code",
)
def key_before_query(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_q, x @ W_v


@MISTAKES.add(
    "Key and value are exchanged. The exercise asks for query, key, value.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the three come in any order in public code",
)
def value_before_key(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_v, x @ W_k


@MISTAKES.add(
    "The value is the word itself, not projected. W_v chooses what a word hands over.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: the look-up example has values that are given",
)
def value_not_projected(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x


@MISTAKES.add(
    "The query is divided by the root of its width already. The exercise asks for the "
    "plain projections; the scale comes with the scores.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "public attention code that scales the query early",
)
def query_scaled(x, W_q, W_k, W_v):
    return x @ W_q / math.sqrt(W_q.shape[1]), x @ W_k, x @ W_v


@MISTAKES.add(
    "The projections are chained: the key is made from the query. All three start "
    "from x.",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: x overwritten, x = x @ W_q",
)
def chained_projections(x, W_q, W_k, W_v):
    q = x @ W_q
    k = q @ W_k
    return q, k, k @ W_v


@MISTAKES.add(
    "A relu follows the projections. They are plain products: a score must be able to "
    "be negative.",
    (
        tensor([[[1.0]]]),
        tensor([[-2.0]]),
        tensor([[1.0]]),
        tensor([[-3.0]]),
    ),
    PROJECT_SECTION,
    "classroom: a layer is thought to need an activation",
)
def activation_added(x, W_q, W_k, W_v):
    return torch.relu(x @ W_q), torch.relu(x @ W_k), torch.relu(x @ W_v)


@MISTAKES.add(
    "The results lie on their side, (B, d, T): tokens are columns. Here each token "
    "is a row, (B, T, d).",
    SMALL_PROJECT,
    PROJECT_SECTION,
    "classroom: books that write a token as a column, W x",
    convention=True,
)
def tokens_as_columns(x, W_q, W_k, W_v):
    columns = x.transpose(1, 2)
    return W_q.T @ columns, W_k.T @ columns, W_v.T @ columns
