"""What every right answer has, beside its numbers.

Each function makes a `Property`: the further calls it needs (copies of the first
case with one thing changed) and a test that compares outcomes. A test gives a
sentence when the property is missing, and "" when it holds.
"""

from .batch import (
    alone_in_the_batch,
    token_by_token,
    tokens_in_any_order,
    tokens_stay_apart,
)
from .heads import (
    later_tokens_change_nothing,
    merge_undoes_split,
    more_tokens_hidden_change_nothing,
)
from .masks import (
    empty_rows_are_zero,
    hidden_content_ignored,
    hidden_weigh_nothing,
    more_padding_changes_nothing,
    rows_of_a_causal_mask,
    rows_of_a_padding_mask,
)
from .positions import (
    bounded_encoding,
    every_sentence_the_same,
    longer_table_begins_alike,
    rotation,
)
from .weights import (
    every_key_counts,
    keys_in_any_order,
    linear_in_values,
    one_key_one_score,
    rows_sum_to_one,
    shift_changes_nothing,
    slices_sum_to_one,
)

__all__ = [
    "alone_in_the_batch",
    "bounded_encoding",
    "empty_rows_are_zero",
    "every_key_counts",
    "every_sentence_the_same",
    "hidden_content_ignored",
    "hidden_weigh_nothing",
    "keys_in_any_order",
    "later_tokens_change_nothing",
    "linear_in_values",
    "longer_table_begins_alike",
    "merge_undoes_split",
    "more_padding_changes_nothing",
    "more_tokens_hidden_change_nothing",
    "one_key_one_score",
    "rotation",
    "rows_of_a_causal_mask",
    "rows_of_a_padding_mask",
    "rows_sum_to_one",
    "shift_changes_nothing",
    "slices_sum_to_one",
    "token_by_token",
    "tokens_in_any_order",
    "tokens_stay_apart",
]
