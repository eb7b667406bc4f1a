"""The exercises of the course: `checks.softmax.check(my_softmax)`.

Each exercise has `check`, `hint` and `solution`; `EXERCISES` holds them all, in
course order, and `progress()` shows what passed in this session.
"""

from .attention import scaled_dot_product_attention, softmax
from .decoding import greedy_decode
from .exercise import SESSION, Exercise
from .heads import merge_heads, split_heads
from .language import set_language
from .language import translate as _
from .lookup import project_qkv, soft_lookup
from .masks import causal_mask, masked_attention, padding_mask
from .multi_head import multi_head_attention
from .positions import add_positions, shift_matrix, sinusoidal_encoding
from .recurrent import additive_scores, context_vector
from .report import Note, Report
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
        teacher_forcing,
        masked_loss,
        noam_rate,
        greedy_decode,
    )
}


def progress() -> Note:
    """Show which exercises passed in this session, and what comes next."""
    words = {True: _("passed"), False: _("not yet"), None: _("not tried")}
    rows = [(name, words[SESSION.get(name)]) for name in EXERCISES]
    passed = sum(SESSION.get(name, False) for name in EXERCISES)
    head = _("{passed} of {count} passed in this session").format(
        passed=passed, count=len(EXERCISES)
    )
    width = max(map(len, EXERCISES))
    text = "\n".join([head, *(f"{name:{width}}  {word}" for name, word in rows)])
    table = "\n".join(f"| `{name}` | {word} |" for name, word in rows)
    column = _("exercise")
    return Note(text, f"**{head}**\n\n| {column} | |\n|:--|:--|\n{table}")


__all__ = [
    "EXERCISES",
    "Exercise",
    "Note",
    "Report",
    "progress",
    "set_language",
    *EXERCISES,
]
