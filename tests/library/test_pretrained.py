"""Real weights in our own modules: equal to `transformers`, and refused when broken."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from course_lib import pretrained
from course_lib.pretrained import TextEncoder

transformers = pytest.importorskip("transformers")
SENTENCES = ["Small birds sing at night.", "They sing, for the night is long and warm."]


def bert(**settings: object) -> "transformers.BertModel":
    """A small BERT with uneven weights that no one has trained."""
    settings = {
        "vocab_size": 29, "hidden_size": 12, "num_attention_heads": 3,
        "num_hidden_layers": 2, "intermediate_size": 20, "max_position_embeddings": 9,
    } | settings  # fmt: skip
    config = transformers.BertConfig(**settings)
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)
def test_equal_to_transformers(dtype: torch.dtype, near: float) -> None:
    theirs = bert().to(dtype)
    ours = TextEncoder.from_bert(theirs)
    tokens = torch.randint(1, 29, (2, 7))
    tokens[1, 4:] = 0
    visible = tokens != 0
    want = theirs(tokens, attention_mask=visible).last_hidden_state
    torch.testing.assert_close(
        ours(tokens)[visible], want[visible], atol=near, rtol=near
    )


def test_the_weights_are_their_weights() -> None:
    theirs = bert(attn_implementation="eager")
    ours = TextEncoder.from_bert(theirs)
    tokens = torch.randint(1, 29, (2, 7))
    maps = ours.attention_maps(tokens)
    want = theirs(tokens, output_attentions=True).attentions
    assert list(maps) == ["encoder.layers.0.attention", "encoder.layers.1.attention"]
    for mine, right in zip(maps.values(), want, strict=True):
        torch.testing.assert_close(mine, right, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"hidden_act": "relu"}, "relu"),
        ({"is_decoder": True}, "is_decoder=True"),
    ],
)
def test_another_kind_of_bert_is_refused(settings: dict, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        TextEncoder.from_bert(bert(**settings))


def test_too_many_tokens_are_refused_before_the_look_up() -> None:
    with pytest.raises(ValueError, match="exceeds max_len 9"):
        TextEncoder.from_bert(bert())(torch.ones(1, 10, dtype=torch.long))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small BERT with a tokenizer, on disk."""
    bert().save_pretrained(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "birds", "sing"]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(
        tmp_path
    )
    return tmp_path


def test_loads_from_a_folder(folder: Path) -> None:
    model, tokenizer = pretrained.load(folder)
    assert not any(module.training for module in model.modules())
    tokens = tokenizer(["birds sing"], return_tensors="pt")["input_ids"]
    assert model(tokens).shape == (1, 4, 12)


def test_truncated_weights_are_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=f"no BERT could be loaded from {folder}"):
        pretrained.load(folder)


def test_weights_that_lack_a_part_are_refused(folder: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    path = str(folder / "model.safetensors")
    state = safetensors.load_file(path)
    state.pop(next(name for name in state if "query.weight" in name))
    safetensors.save_file(state, path, metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"not whole: .*query\.weight"):
        pretrained.load(folder)


def test_foreign_files_are_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"no weights at all")
    with pytest.raises(ValueError, match="no BERT could be loaded"):
        pretrained.load(folder)
    config = transformers.GPT2Config(n_layer=1, n_head=1, n_embd=4, vocab_size=9)
    other = tmp_path / "gpt"
    transformers.GPT2Model(config).save_pretrained(other)
    shutil.copy(folder / "vocab.txt", other)
    with pytest.raises(ValueError, match="no BERT could be loaded"):
        pretrained.load(other)


def test_a_pickle_is_not_opened(folder: Path) -> None:
    """Weights in Python's own format may run code when they are read."""
    (folder / "model.safetensors").unlink()
    torch.save(bert().state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(ValueError, match="no BERT could be loaded"):
        pretrained.load(folder)


def test_without_network_or_package_one_sentence_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ValueError, match="no BERT could be loaded from nobody/nothing"):
        pretrained.load("nobody/nothing")
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"requirements-weights\.txt"):
        pretrained.load()
    with pytest.raises(ValueError, match=r"course-lib\[lab\]"):
        pretrained.load("nobody/nothing")


def test_importing_does_not_import_transformers() -> None:
    code = "import sys, course_lib.pretrained; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture(scope="module")
def english() -> tuple[TextEncoder, object]:
    if pretrained.find_spec(pretrained.ENGLISH) is None:
        pytest.skip("the English model is not installed")
    return pretrained.load()


def test_promise_8_a_real_bert(english: tuple[TextEncoder, object]) -> None:
    """The packaged English model: what `transformers` computes, weights and all."""
    ours, tokenizer = english
    theirs = transformers.BertModel.from_pretrained(
        pretrained.packaged(), add_pooling_layer=False, attn_implementation="eager"
    ).eval()
    inputs = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    visible = inputs["attention_mask"].bool()
    with torch.no_grad():
        want = theirs(**inputs, output_attentions=True)
        got = ours(inputs["input_ids"])
        maps = ours.attention_maps(inputs["input_ids"])
    near = {"atol": 1e-5, "rtol": 1e-5}
    torch.testing.assert_close(got[visible], want.last_hidden_state[visible], **near)
    for mine, right in zip(maps.values(), want.attentions, strict=True):
        real = visible[:, None].expand(mine.shape[:3])
        torch.testing.assert_close(mine[real], right[real], **near)


def test_the_real_bert_in_float64(english: tuple[TextEncoder, object]) -> None:
    _, tokenizer = english
    theirs = transformers.BertModel.from_pretrained(
        pretrained.packaged(), add_pooling_layer=False, dtype=torch.float64
    ).eval()
    tokens = tokenizer(SENTENCES[:1], return_tensors="pt")["input_ids"]
    with torch.no_grad():
        want = theirs(tokens).last_hidden_state
        got = TextEncoder.from_bert(theirs)(tokens)
    torch.testing.assert_close(got, want, atol=1e-12, rtol=1e-12)
