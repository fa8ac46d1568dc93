"""Sequences of several lengths, as torch.nn.utils.rnn."""
# ruff: noqa: F401
from .._sequences import (PackedSequence, invert_permutation, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence,
                              unpack_sequence, unpad_sequence)
