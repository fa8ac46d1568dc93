"""Writes the files beside this script with PyTorch (2.15.0); argand/io/torch_file_test.cpp knows what is in them.

python make.py; then, for libtorch.pt and libtorch_pickle.bin, the C++ programs at its end, built against LibTorch.
"""
import collections
import os
import warnings

import torch

warnings.simplefilter("ignore")
os.chdir(os.path.dirname(os.path.abspath(__file__)))

base = torch.arange(6.0).reshape(2, 3)
model = torch.nn.BatchNorm1d(2)
values = {
    "transposed": base.t(), "row": base[1], "parameter": torch.nn.Parameter(base[0].clone()), "model": model.state_dict(),
    "size": torch.Size([1, 2]), "dtype": torch.float16, "device": torch.device("cuda", 1), "complex": 1 + 2j,
    "bytes": b"a\xff", "bytearray": bytearray(b"xy"), "set": {1}, "frozenset": frozenset([2]), "big": -2**70, "int": -5,
    "none": None, "tuple": (1, (2.5, True)), "counter": collections.Counter("aab"), "slice": slice(1, None), "empty": b"",
    "defaultdict": collections.defaultdict(list, {1: [2]}), "range": range(3), "no elements": torch.empty(0, 3),
    "conjugate": torch.tensor([1 + 2j]).conj(), "expanded": torch.ones(1).expand(4), "meta": torch.empty(3, device="meta"),
    "text": "\u00e9\U0001f642", ("tuple", 1): "key", "dtypes": [torch.tensor([1, 0]).to(t) for t in (
        torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64,
        torch.complex128, torch.bool)]}
values["again"] = values["tuple"]
values["parameter"].note = "attribute"
torch.save(values, "values.pt")
torch.save(torch.tensor([1.0, 2.0]), "tensor.pt")
torch.save({"a": base.t(), "b": base[1], "c": torch.tensor([True, False])}, "legacy.pt", _use_new_zipfile_serialization=False)


class Scripted(torch.nn.Module):
    """A module of each kind of state."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 1)
        torch.nn.init.constant_(self.linear.weight, 3)
        torch.nn.init.constant_(self.linear.bias, 4)
        self.register_buffer("steps", torch.tensor(7))
        self.count = 5

    def forward(self, x):
        """One layer."""
        return self.linear(x)


torch.jit.script(Scripted()).save("script.pt")

# torch::serialize::OutputArchive archive, inner;
# archive.write("i", torch::IValue(5)); archive.write("s", torch::IValue("text"));
# archive.write("l", torch::IValue(std::vector<int64_t>{1, 2}));
# archive.write("t", torch::arange(6).view({2, 3}).t());
# inner.write("x", torch::ones({2}).set_requires_grad(true)); archive.write("inner", inner);
# archive.save_to("libtorch.pt");

# c10::impl::GenericDict d(c10::StringType::get(), c10::AnyType::get()), with "tensor" torch::arange(3), "ints" {1, 2},
# "doubles" {1.5}, "bools" {true, false}, "tensors" {torch::ones({1})}, "tuple" (1, "x", None), "inner" {3: 0.5};
# torch::pickle_save(d) is libtorch_pickle.bin.
