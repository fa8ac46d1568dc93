"""Writes layer_values.txt: what layers of torch.nn compute, for argand/nn/modules/recorded_test.h.

    python tests/data/make_layer_values.py > tests/data/layer_values.txt      (needs PyTorch)

    case NAME                        of the layer made after manual_seed(1)
    KEY SIZES VALUES...              SIZES as 2,3 or - for a number by itself; integers and float64 alike

with the keys param.NAME (as the layer starts), in.NAME (what it is called with, after it was cast to float64), out.I, and
the gradients grad.param.NAME and grad.in.NAME of the sum of outputs times pattern(), which values_test.h has, too.
"""
import math

import torch
from torch import nn
from torch.nn.utils import rnn


def pattern(sizes, step=3, modulus=5, shift=1, scale=0.5):
    return (torch.arange(math.prod(sizes)) * step % modulus * scale + shift).double().reshape(sizes)


def line(key, t):
    t = t.detach()
    sizes = ",".join(map(str, t.shape)) or "-"
    print(key, sizes, *[repr(float(v)) if t.is_floating_point() else int(v) for v in t.flatten()])


def flat(out):
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, rnn.PackedSequence):
        return [out.data]
    return [t for part in out if part is not None for t in flat(part)]


def record(name, make, call, **inputs):
    """Runs call(layer, inputs) for the layer that make() gives after manual_seed(1)."""
    print("case", name)
    torch.manual_seed(1)
    layer = make()
    for key, p in layer.named_parameters():
        line("param." + key, p)
    layer.double()
    for key, t in inputs.items():
        line("in." + key, t)
        if t.is_floating_point():
            t.requires_grad_()
    torch.manual_seed(2)
    outputs = flat(call(layer, inputs))
    for i, t in enumerate(outputs):
        line(f"out.{i}", t)
    sum((t * pattern(t.shape)).sum() for t in outputs if t.requires_grad).backward()
    for key, p in layer.named_parameters():
        if p.grad is not None:
            line("grad.param." + key, p.grad)
    for key, t in inputs.items():
        if t.is_floating_point() and t.grad is not None:
            line("grad.in." + key, t.grad)


draw = torch.Generator().manual_seed(3)


def real(*sizes):
    return torch.randn(*sizes, generator=draw, dtype=torch.float64)


def packed(x, lengths):
    return rnn.pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=False)


# ---- recurrent networks
record("rnn", lambda: nn.RNN(3, 4, 2, bidirectional=True), lambda m, i: m(i["x"], i["h"]), x=real(3, 2, 3), h=real(4, 2, 4))
record("rnn_relu", lambda: nn.RNN(3, 4, nonlinearity="relu", bias=False, batch_first=True), lambda m, i: m(i["x"]),
       x=real(2, 3, 3))
record("lstm", lambda: nn.LSTM(3, 4, 2, batch_first=True), lambda m, i: m(i["x"], (i["h"], i["c"])), x=real(2, 3, 3),
       h=real(2, 2, 4), c=real(2, 2, 4))
record("lstm_packed", lambda: nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
       lambda m, i: m(packed(i["x"], [2, 3, 1]), (i["h"], i["c"])), x=real(3, 3, 3), h=real(4, 3, 2), c=real(4, 3, 4))
record("lstm_unbatched", lambda: nn.LSTM(3, 2), lambda m, i: m(i["x"]), x=real(4, 3))
record("gru", lambda: nn.GRU(3, 4, 2, bidirectional=True), lambda m, i: m(i["x"]), x=real(3, 2, 3))
record("gru_packed", lambda: nn.GRU(3, 4, bias=False), lambda m, i: m(packed(i["x"], [1, 3, 2]), i["h"]), x=real(3, 3, 3),
       h=real(1, 3, 4))
record("gru_dropout", lambda: nn.GRU(3, 4, 2, dropout=0.5), lambda m, i: m(i["x"]), x=real(3, 2, 3))
record("rnn_cell", lambda: nn.RNNCell(3, 4, nonlinearity="relu"), lambda m, i: m(i["x"]), x=real(2, 3))
record("lstm_cell", lambda: nn.LSTMCell(3, 4, bias=False), lambda m, i: m(i["x"], (i["h"], i["c"])), x=real(2, 3),
       h=real(2, 4), c=real(2, 4))
record("gru_cell", lambda: nn.GRUCell(3, 4), lambda m, i: m(i["x"], i["h"]), x=real(3), h=real(4))

# ---- attention
hidden_key = torch.tensor([[0, 0, 1], [0, 0, 0]])
record("attention", lambda: nn.MultiheadAttention(4, 2), lambda m, i: m(i["x"], i["x"], i["x"]), x=real(3, 2, 4))
record("attention_masked", lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True),
       lambda m, i: m(i["q"], i["k"], i["v"], i["padding"].bool(), True, i["mask"], False), q=real(2, 2, 4), k=real(3, 2, 4),
       v=real(3, 2, 4), padding=hidden_key, mask=real(4, 2, 3))
record("attention_without_weights", lambda: nn.MultiheadAttention(4, 2, bias=False, kdim=3, vdim=5),
       lambda m, i: m(i["q"], i["k"], i["v"], i["padding"].bool(), False, i["mask"].bool()), q=real(2, 2, 4), k=real(3, 2, 3),
       v=real(3, 2, 5), padding=hidden_key, mask=torch.tensor([[0, 1, 0], [0, 0, 1]]))
record("attention_unbatched", lambda: nn.MultiheadAttention(4, 2), lambda m, i: m(i["q"], i["k"], i["k"]), q=real(2, 4),
       k=real(3, 4))
record("attention_dropout", lambda: nn.MultiheadAttention(4, 2, dropout=0.5), lambda m, i: m(i["x"], i["x"], i["x"]),
       x=real(3, 2, 4))
record("attention_dropout_without_weights", lambda: nn.MultiheadAttention(4, 2, dropout=0.5),
       lambda m, i: m(i["x"], i["x"], i["x"], need_weights=False), x=real(3, 2, 4))
record("encoder_layer", lambda: nn.TransformerEncoderLayer(4, 2, 6, 0.0),
       lambda m, i: m(i["x"], i["mask"], src_key_padding_mask=i["padding"].bool()), x=real(3, 2, 4), mask=real(3, 3),
       padding=hidden_key)
record("encoder_layer_norm_first", lambda: nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", norm_first=True),
       lambda m, i: m(i["x"]), x=real(3, 2, 4))
record("decoder_layer", lambda: nn.TransformerDecoderLayer(4, 2, 6, 0.0), lambda m, i: m(i["x"], i["memory"], i["mask"]),
       x=real(3, 2, 4), memory=real(2, 2, 4), mask=real(3, 3))
record("decoder_layer_norm_first", lambda: nn.TransformerDecoderLayer(4, 2, 6, 0.0, norm_first=True),
       lambda m, i: m(i["x"], i["memory"]), x=real(3, 2, 4), memory=real(2, 2, 4))
record("transformer", lambda: nn.Transformer(4, 2, 2, 1, 6, 0.0),
       lambda m, i: m(i["src"], i["tgt"], tgt_mask=nn.Transformer.generate_square_subsequent_mask(3).double()),
       src=real(2, 2, 4), tgt=real(3, 2, 4))

# ---- images
record("upsample_bicubic", lambda: nn.Upsample(scale_factor=(1.5, 2.5), mode="bicubic", align_corners=False),
       lambda m, i: m(i["x"]), x=real(1, 2, 3, 2))
record("upsample_nearest", lambda: nn.Upsample((2, 5)), lambda m, i: m(i["x"]), x=real(1, 2, 3, 2))
record("interpolate_area", nn.Identity, lambda m, i: nn.functional.interpolate(i["x"], 2, mode="area"), x=real(1, 2, 5))
record("interpolate_recomputed", nn.Identity,
       lambda m, i: nn.functional.interpolate(i["x"], scale_factor=1.7, mode="linear", recompute_scale_factor=True),
       x=real(1, 2, 3))
record("interpolate_antialias", nn.Identity,
       lambda m, i: nn.functional.interpolate(i["x"], (2, 2), mode="bilinear", antialias=True), x=real(1, 1, 5, 4))
record("unfold", lambda: nn.Unfold((2, 2), dilation=(1, 2), padding=1, stride=(2, 1)), lambda m, i: m(i["x"]),
       x=real(1, 2, 3, 3))
record("fold", lambda: nn.Fold((3, 4), 2), lambda m, i: m(i["x"]), x=real(1, 8, 6))
record("pixel_shuffle", lambda: nn.PixelShuffle(2), lambda m, i: m(i["x"]), x=real(4, 1, 2))
record("pixel_unshuffle", lambda: nn.PixelUnshuffle(2), lambda m, i: m(i["x"]), x=real(1, 2, 4))
record("channel_shuffle", lambda: nn.ChannelShuffle(2), lambda m, i: m(i["x"]), x=real(1, 6, 2))

# ---- pooling


def unpooled(layer, pool, x):
    y, at = pool(x)
    return layer(y, at)


record("max_unpool1d", lambda: nn.MaxUnpool1d(2), lambda m, i: unpooled(m, nn.MaxPool1d(2, return_indices=True), i["x"]),
       x=real(1, 2, 6))
record("max_unpool2d", lambda: nn.MaxUnpool2d(2),
       lambda m, i: m(*nn.MaxPool2d(2, return_indices=True)(i["x"]), output_size=(5, 4)), x=real(1, 2, 5, 4))
record("max_unpool3d", lambda: nn.MaxUnpool3d(2), lambda m, i: unpooled(m, nn.MaxPool3d(2, return_indices=True), i["x"]),
       x=real(1, 2, 2, 4))
record("fractional_max_pool2d", lambda: nn.FractionalMaxPool2d(2, output_ratio=(0.6, 0.5), return_indices=True),
       lambda m, i: m(i["x"]), x=real(1, 2, 6, 5))
record("fractional_max_pool3d", lambda: nn.FractionalMaxPool3d(2, output_size=(2, 1, 2)), lambda m, i: m(i["x"]),
       x=real(1, 4, 3, 5))

# ---- what is left
bags = torch.tensor([0, 3, 1, 4, 4, 2])
record("embedding_bag", lambda: nn.EmbeddingBag(5, 3, padding_idx=1), lambda m, i: m(i["x"], i["offsets"]), x=bags,
       offsets=torch.tensor([0, 2, 2]))
record("embedding_bag_max", lambda: nn.EmbeddingBag(5, 3, max_norm=1.5, mode="max"), lambda m, i: m(i["x"].view(2, 3)), x=bags)
record("embedding_bag_weighted", lambda: nn.EmbeddingBag(5, 3, mode="sum", include_last_offset=True),
       lambda m, i: m(i["x"], i["offsets"], i["weights"]), x=bags, offsets=torch.tensor([0, 4, 6]), weights=real(6))
record("ctc_loss", lambda: nn.CTCLoss(blank=1),
       lambda m, i: m(i["x"].log_softmax(2), i["targets"], torch.tensor([5, 4]), torch.tensor([3, 1])), x=real(5, 2, 4),
       targets=torch.tensor([[0, 0, 2], [3, 0, 0]]))
record("ctc_loss_zero_infinity", lambda: nn.CTCLoss(reduction="none", zero_infinity=True),
       lambda m, i: m(i["x"].log_softmax(2), i["targets"], torch.tensor([2, 3]), torch.tensor([2, 2])), x=real(3, 2, 3),
       targets=torch.tensor([1, 1, 2, 1]))
record("cross_map_lrn", lambda: nn.CrossMapLRN2d(6, 0.5, 0.6, 2), lambda m, i: m(i["x"]), x=real(1, 3, 2, 1))
record("rrelu", lambda: nn.RReLU(0.1, 0.4), lambda m, i: m(i["x"]), x=real(8))
record("adaptive", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 7, [2, 4], div_value=2, head_bias=True),
       lambda m, i: m(i["x"], i["targets"])[0], x=real(4, 8), targets=torch.tensor([0, 3, 6, 5]))
record("adaptive_log_prob", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 7, [2, 4], div_value=2),
       lambda m, i: [m.log_prob(i["x"]), m.predict(i["x"])], x=real(4, 8))
