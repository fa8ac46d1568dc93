"""Sequences of several lengths: padded, and packed one time step after the other."""
import collections

from .. import _C


class PackedSequence(collections.namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices",
                                                                "unsorted_indices"])):
    """data [elements, *] of a batch of sequences, step by step; batch_sizes: how many sequences have each step.

    sorted_indices: the batch in the order of decreasing length; unsorted_indices: the way back.
    """
    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # (data, batch_sizes) as one argument
            data, batch_sizes = data
        elif batch_sizes.is_cuda:
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                             f"manually. Got batch_sizes on {batch_sizes.device}.")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The sequences on another device or with another dtype; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        device = data.device
        order, back = (None if i is None else i.to(device) for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, order, back)

    def cuda(self, *args, **kwargs):
        """The sequences on a GPU."""
        if args or kwargs.get("device") is not None:
            return self.to(*args, **kwargs)
        return self if self.is_cuda and not kwargs else self.to(**{**kwargs, "device": self.data.device if self.is_cuda else "cuda"})

    def cpu(self):
        """The sequences on the CPU."""
        return self.to(device="cpu")

    def pin_memory(self):
        """The sequences in pinned memory."""
        order, back = (None if i is None else i.pin_memory() for i in (self.sorted_indices, self.unsorted_indices))
        return type(self)(self.data.pin_memory(), self.batch_sizes, order, back)

    def double(self):
        """The sequences as float64."""
        return self.to(dtype=_C.float64)

    def float(self):
        """The sequences as float32."""
        return self.to(dtype=_C.float32)

    def half(self):
        """The sequences as float16."""
        return self.to(dtype=_C.float16)

    def long(self):
        """The sequences as int64."""
        return self.to(dtype=_C.int64)

    def int(self):
        """The sequences as int32."""
        return self.to(dtype=_C.int32)

    def short(self):
        """The sequences as int16."""
        return self.to(dtype=_C.int16)

    def char(self):
        """The sequences as int8."""
        return self.to(dtype=_C.int8)

    def byte(self):
        """The sequences as uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The permutation that undoes one; None for None."""
    if permutation is None:
        return None
    places = _C.arange(0, permutation.numel(), device=permutation.device)
    return _C.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs [L, N, *] (or [N, L, *]) with the lengths of the sequences, which decrease if enforce_sorted."""
    if not isinstance(lengths, _C.Tensor):
        lengths = _C.as_tensor(lengths, dtype=_C.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = _C.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = _C._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded sequences [L, N, *] (or [N, L, *]) of a packed batch, and their lengths."""
    length = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < length:
            raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but "
                             f"got total_length={total_length} and max sequence length being {length}")
        length = total_length
    padded, lengths = _C._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value, length)
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences [L_i, *] as one tensor [max L, N, *] (or [N, max L, *]), padded with a value."""
    if isinstance(sequences, _C.Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: "
                           f"{type(sequences)}")
    return _C.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor, in a list."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[:length] for sequence, length in zip(padded_sequences, lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of sequences [L_i, *]."""
    lengths = _C.tensor([s.size(0) for s in sequences], device="cpu")
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed batch, in a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
