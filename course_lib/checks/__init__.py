"""The exercises of the course: `checks.softmax.check(my_softmax)`.

Each exercise has `check`, `hint` and `solution`; `EXERCISES` holds them all, in
course order, and `progress()` shows what passed and what comes next.
"""

from .attention import scaled_dot_product_attention, softmax
from .cost import attention_flops, kv_cache_bytes
from .decoding import greedy_decode
from .exercise import Exercise
from .heads import merge_heads, split_heads
from .language import set_language
from .lookup import project_qkv, soft_lookup
from .masks import causal_mask, masked_attention, padding_mask
from .multi_head import multi_head_attention
from .overview import Overview, overview
from .positions import add_positions, shift_matrix, sinusoidal_encoding
from .recurrent import additive_scores, context_vector
from .remedies import blockwise_attention, linear_attention, sliding_window_mask
from .report import Note, Report
from .store import export_progress, import_progress
from .training import masked_loss, noam_rate, teacher_forcing

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise
    for exercise in (
        additive_scores,
        context_vector,
        project_qkv,
        soft_lookup,
        softmax,
        scaled_dot_product_attention,
        padding_mask,
        causal_mask,
        masked_attention,
        sinusoidal_encoding,
        add_positions,
        shift_matrix,
        split_heads,
        merge_heads,
        multi_head_attention,
        attention_flops,
        kv_cache_bytes,
        sliding_window_mask,
        blockwise_attention,
        linear_attention,
        teacher_forcing,
        masked_loss,
        noam_rate,
        greedy_decode,
    )
}


def progress() -> Overview:
    """Show which exercises are passed, chapter by chapter, and what comes next."""
    return overview(EXERCISES)


__all__ = [
    "EXERCISES",
    "Exercise",
    "Note",
    "Report",
    "export_progress",
    "import_progress",
    "progress",
    "set_language",
    *EXERCISES,
]
