"""The transformer: equal to PyTorch's layers, blind to padding, honest in writing."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

from course_lib.attention import KeyValueCache, MultiHeadAttention
from course_lib.layers import DecoderCache, recorded
from course_lib.training import set_seed, train
from course_lib.transformer import DecoderLayer, Encoder, EncoderLayer, Transformer

D, H, D_FF, B, S, T = 12, 3, 20, 4, 7, 5
PAD, BOS, EOS = 0, 1, 2


def copied(ours: nn.Module, theirs: nn.Module) -> None:
    """Give one of our layers the weights of PyTorch's."""
    attention = MultiHeadAttention.from_torch(theirs.self_attn)
    ours.attention.load_state_dict(attention.state_dict())
    norms = [ours.around_attention.norm, ours.around_feed_forward.norm]
    if isinstance(ours, DecoderLayer):
        cross = MultiHeadAttention.from_torch(theirs.multihead_attn)
        ours.cross_attention.load_state_dict(cross.state_dict())
        norms.insert(1, ours.around_cross_attention.norm)
    for number, norm in enumerate(norms, start=1):
        norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())
    ours.feed_forward[0].load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward[2].load_state_dict(theirs.linear2.state_dict())


def uneven(module: nn.Module) -> nn.Module:
    """Give every parameter random numbers: norms and biases begin at 1 and 0."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_is_pytorchs(norm_first: bool, activation: str) -> None:
    settings = {"norm_first": norm_first, "activation": activation, "dropout": 0.0}
    theirs = nn.TransformerEncoderLayer(
        D, H, D_FF, batch_first=True, layer_norm_eps=1e-3, **settings
    )
    ours = EncoderLayer(D, H, D_FF, norm_eps=1e-3, **settings)
    copied(ours, uneven(theirs))
    x = torch.randn(B, S, D)
    hidden = torch.arange(S) >= torch.tensor([7, 3, 1, 5])[:, None]  # (B, S)
    want = theirs(x, src_key_padding_mask=hidden)
    torch.testing.assert_close(
        ours(x, ~hidden[:, None, None]), want, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_decoder_layer_is_pytorchs(norm_first: bool) -> None:
    settings = {"norm_first": norm_first, "dropout": 0.0}
    theirs = nn.TransformerDecoderLayer(D, H, D_FF, batch_first=True, **settings)
    ours = DecoderLayer(D, H, D_FF, **settings)
    copied(ours, uneven(theirs))
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    hidden = torch.arange(S) >= torch.tensor([7, 3, 1, 5])[:, None]  # (B, S)
    want = theirs(
        x,
        memory,
        tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),
        memory_key_padding_mask=hidden,
    )
    got = ours(x, memory, memory_mask=~hidden[:, None, None])
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


def transformer(**settings: object) -> Transformer:
    """A small model with uneven weights, 11 source and 13 target tokens."""
    settings = {"target_vocab_size": 13, "dropout": 0.0, "pad": PAD} | settings
    return uneven(Transformer(11, D, H, 2, D_FF, **settings))


def sources(*lengths: int, width: int = S) -> Tensor:
    """Random sentences of these lengths, padded on the right."""
    tokens = torch.randint(3, 11, (len(lengths), width))
    return tokens.where(torch.arange(width) < torch.tensor(lengths)[:, None], PAD)


@pytest.fixture
def model() -> Transformer:
    return transformer()


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_padding_changes_nothing(norm_first: bool) -> None:
    """In the encoder, the decoder and between them."""
    model = transformer(norm_first=norm_first)
    source, target = sources(7, 3, 1, 5), torch.randint(1, 13, (B, T))
    logits = model(source, target)
    wider = torch.cat([source, source.new_full((B, 4), PAD)], dim=1)
    longer = torch.cat([target, target.new_full((B, 3), PAD)], dim=1)
    torch.testing.assert_close(model(wider, longer)[:, :T], logits)
    for row, length in enumerate((7, 3, 1, 5)):
        alone = model(source[row : row + 1, :length], target[row : row + 1])
        torch.testing.assert_close(alone[0], logits[row])


def test_padding_of_an_encoder_changes_nothing() -> None:
    encoder = uneven(Encoder(D, H, 2, D_FF, dropout=0.0))
    x, visible = torch.randn(B, S, D), torch.arange(S) < 4
    want = encoder(x[:, :4])
    other = torch.cat([x[:, :4], torch.randn(B, S - 4, D)], dim=1)
    for tokens in (x, other):
        got = encoder(tokens, visible[None, None, None])
        torch.testing.assert_close(got[:, :4], want)


def test_the_future_does_not_leak_and_the_past_arrives(model: Transformer) -> None:
    source, target = sources(7, 3, 1, 5), torch.randint(3, 12, (B, T))
    before = model(source, target)
    for place in range(T):
        changed = target.clone()
        changed[:, place] = 12
        moved = (model(source, changed) - before).abs().amax(dim=-1) > 1e-6  # (B, T)
        assert not moved[:, :place].any()
        assert moved[:, place:].all()


def test_every_source_token_reaches_every_word(model: Transformer) -> None:
    source, target = sources(7, 7), torch.randint(3, 12, (2, T))
    before = model(source, target)
    for place in range(S):
        changed = source.clone()
        changed[:, place] = 3 + (changed[:, place] - 2) % 8
        moved = (model(changed, target) - before).abs().amax(dim=-1)
        assert (moved > 1e-7).all()


@pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])
def test_cached_decoding_is_uncached_decoding_token_by_token(norm_first: bool) -> None:
    model = transformer(norm_first=norm_first).double()
    source, target = sources(7, 3, 1, 5), torch.randint(1, 13, (B, 9))
    memory, visible = model.encode(source)
    caches = [DecoderCache() for _ in model.decoder]
    for place in range(9):
        step = model.decode(target[:, place : place + 1], memory, visible, caches)
        whole = model(source, target[:, : place + 1])
        torch.testing.assert_close(step[:, 0], whole[:, -1], atol=1e-12, rtol=1e-9)
    assert [len(cache) for cache in caches] == [9, 9]
    assert [len(cache.memory) for cache in caches] == [S, S]


def test_a_decoder_layer_takes_a_plain_cache() -> None:
    layer = uneven(DecoderLayer(D, H, D_FF, dropout=0.0))
    x, memory, cache = torch.randn(2, T, D), torch.randn(2, S, D), KeyValueCache()
    parts = [layer(x[:, i : i + 1], memory, cache=cache) for i in range(T)]
    torch.testing.assert_close(torch.cat(parts, dim=1), layer(x, memory))


@pytest.mark.parametrize("cache", [True, False])
def test_generate_writes_the_likeliest_token_again_and_again(
    model: Transformer, cache: bool
) -> None:
    model.decoder_norm.reset_parameters()  # so that some rows end, and others do not
    model.output.bias.data.zero_()
    for embedding in (model.source_embedding, model.target_embedding):
        embedding.weight.data *= 4
    source = sources(7, 3, 1, 5, 6, 2, 4)
    tokens, finished = model.generate(
        source, bos=BOS, eos=EOS, max_new_tokens=8, cache=cache
    )
    assert len({int(row) for row in finished}) == 2, "both kinds of rows are seen"
    for row in range(len(source)):
        length = int((source[row] != PAD).sum())
        written = [BOS]
        while len(written) <= 8 and written[-1] != EOS:
            prefix = torch.tensor([written])
            logits = model(source[row : row + 1, :length], prefix)
            written.append(int(logits[0, -1].argmax()))
        want = written[1:] + [PAD] * (tokens.shape[1] - len(written) + 1)
        assert tokens[row].tolist() == want
        assert bool(finished[row]) == (EOS in want)


def test_generate_stops_when_every_row_has_ended(model: Transformer) -> None:
    model.output.bias.data[EOS] = 1e4
    tokens, finished = model.generate(
        sources(7, 3), bos=BOS, eos=EOS, max_new_tokens=50
    )
    assert tokens.tolist() == [[EOS], [EOS]]
    assert finished.all()


def test_generate_is_bounded_and_says_so(model: Transformer) -> None:
    model.output.bias.data[EOS] = -1e4
    tokens, finished = model.generate(sources(7, 3), bos=BOS, eos=EOS, max_new_tokens=6)
    assert tokens.shape == (2, 6)
    assert not finished.any()


def test_h26_an_ended_row_holds_pad_alone(model: Transformer) -> None:
    """Row 0 ends at step 1, row 1 at step 3, each as it does alone."""
    wanted = [[EOS], [5, 6, EOS]]

    class Stub(Transformer):
        def decode(self, target, memory, visible, caches=None):
            for cache in caches or []:
                cache.append(*torch.zeros(2, len(target), 1, target.shape[1], 1))
            step = len(caches[0]) - 1 if caches else target.shape[1] - 1
            logits = torch.zeros(len(target), target.shape[1], 13)
            for row, length in enumerate((visible.sum(dim=(1, 2, 3))).tolist()):
                says = wanted[0] if length == 2 else wanted[1]
                logits[row, -1, says[step] if step < len(says) else 9] = 1.0
            return logits

    stub = Stub(11, D, H, 2, D_FF, target_vocab_size=13)
    for cache in (True, False):
        both, finished = stub.generate(
            sources(2, 5), bos=BOS, eos=EOS, max_new_tokens=9, cache=cache
        )
        assert both.tolist() == [[EOS, PAD, PAD], [5, 6, EOS]]
        assert finished.tolist() == [True, True]
        alone, _ = stub.generate(
            sources(2), bos=BOS, eos=EOS, max_new_tokens=9, cache=cache
        )
        assert alone.tolist() == [[EOS]]


def test_generate_restores_every_mode_after_an_error_too(model: Transformer) -> None:
    model.train()
    model.decoder[0].eval()
    modes = [module.training for module in model.modules()]
    model.generate(sources(3), bos=BOS, eos=EOS, max_new_tokens=2)
    assert [module.training for module in model.modules()] == modes
    model.output = nn.Linear(D + 1, 13)
    with pytest.raises(RuntimeError):
        model.generate(sources(3), bos=BOS, eos=EOS, max_new_tokens=2)
    model.output = nn.Linear(D, 13)
    assert [module.training for module in model.modules()] == modes


def test_generate_ignores_dropout() -> None:
    model = transformer(dropout=0.9).train()
    source = sources(7, 3)
    first, _ = model.generate(source, bos=BOS, eos=EOS, max_new_tokens=6)
    again, _ = model.generate(source, bos=BOS, eos=EOS, max_new_tokens=6)
    assert torch.equal(first, again)


def test_attention_maps(model: Transformer) -> None:
    source, target = sources(7, 3, 1, 5), torch.randint(1, 13, (B, T))
    maps = model.attention_maps(source, target)
    sizes = {
        "encoder.layers.0.attention": (S, S),
        "encoder.layers.1.attention": (S, S),
        "decoder.0.attention": (T, T),
        "decoder.0.cross_attention": (T, S),
        "decoder.1.attention": (T, T),
        "decoder.1.cross_attention": (T, S),
    }
    assert {name: (*m.shape[2:],) for name, m in maps.items()} == sizes
    for name, weights in maps.items():
        assert weights.shape[:2] == (B, H)
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:3]))
        if sizes[name][1] == S:  # no weight on padding
            hidden = (source == PAD)[:, None, None].expand(weights.shape)
            assert (weights[hidden] == 0).all()
        else:
            assert (weights.triu(1) == 0).all()


def test_attention_maps_of_an_encoder_and_no_hook_stays() -> None:
    encoder = uneven(Encoder(D, H, 2, D_FF, dropout=0.0))
    x = torch.randn(B, S, D)
    maps = encoder.attention_maps(x)
    assert list(maps) == ["layers.0.attention", "layers.1.attention"]
    first = encoder.layers[0]
    _, want = first.attention(first.around_attention.norm(x), need_weights=True)
    torch.testing.assert_close(maps["layers.0.attention"], want)
    assert first.attention(x)[1] is None
    wrong = pytest.raises(ValueError, match=r"\(B, T, 12\), got \(4, 7, 11\)")
    with wrong, recorded(encoder):
        encoder(torch.randn(B, S, D - 1))
    assert first.attention(x)[1] is None


def test_gradients_are_finite_when_a_source_is_empty() -> None:
    model = transformer()
    loss = model(sources(7, 0, 2, 0), torch.randint(1, 13, (B, T))).square().sum()
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert (parameter.grad != 0).any() or "to_key.bias" in name, name


@pytest.mark.parametrize("leak", [False, True])
def test_h23_a_model_trained_on_noise_cannot_beat_ln_v(leak: bool) -> None:
    """Of random words nothing can be known; a model that sees them knows all."""
    set_seed(0)
    words, vocabulary = 6, 50
    model = Transformer(vocabulary, 32, 4, 1, 32, dropout=0.0)
    if leak:  # without the causal mask
        attention = model.decoder[0].attention
        inside = attention.forward
        attention.forward = lambda x, **rest: inside(x, **rest | {"causal": False})

    def batches(count: int):
        for _ in range(count):
            yield torch.randint(3, vocabulary, (2, 64, words)).unbind()

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = train(model, batches(150), optimizer)
    last = sum(losses[-20:]) / 20
    assert (last > math.log(vocabulary - 3) - 0.05) != leak
    assert last < math.log(vocabulary) + 0.1


def test_refusals() -> None:
    model = transformer()
    target = torch.ones(2, T, dtype=torch.long)
    with pytest.raises(ValueError, match="source 1 has a token after padding"):
        model(torch.tensor([[3, 4, 5], [PAD, 4, 5]]), target)
    with pytest.raises(ValueError, match=r"\(3, 7\) and target \(2, 5\)"):
        model(sources(7, 3, 2), target)
    with pytest.raises(ValueError, match="padding"):
        model.generate(torch.tensor([[PAD, 4]]), bos=BOS, eos=EOS, max_new_tokens=1)
    with pytest.raises(ValueError, match='"relu" or "gelu", not \'tanh\''):
        EncoderLayer(D, H, D_FF, activation="tanh")
    with pytest.raises(ValueError, match="5 heads do not divide"):
        Transformer(11, D, 5, 1, D_FF)


def test_copies_and_compiles(model: Transformer) -> None:
    source, target = sources(7, 3), torch.randint(1, 13, (2, T))
    want = model(source, target)
    torch.testing.assert_close(copy.deepcopy(model)(source, target), want)
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(source, target), want)


def test_runs_on_meta(model: Transformer) -> None:
    logits = model.to("meta")(
        torch.ones(2, S, dtype=torch.long, device="meta"),
        torch.ones(2, T, dtype=torch.long, device="meta"),
    )
    assert logits.shape == (2, T, 13)
    assert logits.is_meta


def test_runs_on_every_device(device: str) -> None:
    model, source = transformer(), sources(7, 3)
    want, _ = model.generate(source, bos=BOS, eos=EOS, max_new_tokens=6)
    model.to(device)
    got, finished = model.generate(
        source.to(device), bos=BOS, eos=EOS, max_new_tokens=6
    )
    assert got.device.type == finished.device.type == device
    assert torch.equal(got.cpu(), want)


def test_weights_load_at_another_length() -> None:
    state = transformer().state_dict()
    assert not any("position" in name for name in state)
    assert not any("table" in name for name in state)
