// Sequences of different lengths as one matrix of rows, step by step: packing and unpacking.
#include "argand/ops/rnn/packed.h"

#include <algorithm>

#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/numbers_on.h"
#include "argand/ops/rnn/args.h"

namespace argand::ops {
namespace {

// For each packed row, its position in the padded batch of T steps.
Tensor padded_rows(const Device& device, const Dims& batch_sizes, int64_t steps, int64_t batch, bool batch_first) {
  Dims index;
  for (size_t t = 0; t < batch_sizes.size(); ++t)
    for (int64_t n = 0; n < batch_sizes[t]; ++n)
      index.push_back(batch_first ? n * steps + static_cast<int64_t>(t) : static_cast<int64_t>(t) * batch + n);
  return numbers_on(device, index);
}

Dims with_rows(std::initializer_list<int64_t> lead, const Tensor& t, size_t skip) {
  Dims out(lead);
  for (size_t d = skip; d < t.sizes().size(); ++d) out.push_back(t.sizes()[d]);
  return out;
}

int64_t sum_of(const Dims& sizes) {
  int64_t n = 0;
  for (const int64_t s : sizes) n += s;
  return n;
}

}  // namespace

Dims sizes_in(const char* op, const char* argument, const Tensor& t) {
  ARGAND_CHECK(DtypeError, t.dtype() == kLong, op, ": expected ", argument, " of dtype int64, got ", t.dtype());
  ARGAND_CHECK(ShapeError, t.dim() == 1, op, ": expected ", argument, " with 1 dimension, got ", t.sizes());
  check_has_data(op, t);
  const Tensor host = exec::dense(t.to(kCPU));
  const int64_t* p = raw<int64_t>(host);
  return Dims(p, p + host.numel());
}

Dims batch_sizes_of(const char* op, const Tensor& batch_sizes) {
  Dims out = sizes_in(op, "batch_sizes", batch_sizes);
  ARGAND_CHECK(ValueError, !out.empty(), op, ": Expected sequence length to be larger than 0 in RNN");
  for (size_t t = 0; t < out.size(); ++t)
    ARGAND_CHECK(ValueError, out[t] > 0 && (t == 0 || out[t] <= out[t - 1]), op,
                 ": expected batch_sizes that are positive and never become larger, got ", out[t], " after ",
                 t == 0 ? 0 : out[t - 1]);
  return out;
}

Tensor literal_sizes(IntArrayRef values) { return numbers_on(kCPU, values); }

struct PackPaddedSequence : Composite<PackPaddedSequenceArgs> {
  static constexpr auto schema =
      "_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The rows of input [T, N, ...] ([N, T, ...] with batch_first) that are within lengths [N], which decrease, step "
      "by "
      "step; and how many each step has.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    constexpr const char* op = "_pack_padded_sequence";
    ARGAND_CHECK(ShapeError, a.input.dim() >= 2, op, ": expected input [T, N, ...], got ", a.input.sizes());
    ARGAND_CHECK(ValueError, a.input.numel() > 0, op, ": Cannot pack empty tensors, got input ", a.input.sizes());
    const int64_t steps = a.input.size(a.batch_first ? 1 : 0), batch = a.input.size(a.batch_first ? 0 : 1);
    const Dims lengths = sizes_in(op, "lengths", a.lengths);
    ARGAND_CHECK(ShapeError, static_cast<int64_t>(lengths.size()) == batch, op,
                 ": Expected `len(lengths)` to be equal to batch_size, but got ", lengths.size(),
                 " (batch_size=", batch, ")");
    for (size_t n = 0; n < lengths.size(); ++n) {
      ARGAND_CHECK(ValueError, lengths[n] > 0, op,
                   ": Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
      ARGAND_CHECK(ValueError, n == 0 || lengths[n] <= lengths[n - 1], op,
                   ": `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                   "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement "
                   "if you do not need ONNX exportability.");
    }
    ARGAND_CHECK(ShapeError, lengths[0] <= steps, op, ": expected lengths of at most ", steps, " (input is ",
                 a.input.sizes(), "), got ", lengths[0]);
    Dims batch_sizes(static_cast<size_t>(lengths[0]), 0);
    for (const int64_t length : lengths)
      for (int64_t t = 0; t < length; ++t) ++batch_sizes[static_cast<size_t>(t)];
    const Tensor index = padded_rows(a.input.device(), batch_sizes, steps, batch, a.batch_first);
    const Tensor rows = a.input.reshape(with_rows({steps * batch}, a.input, 2));
    return {rows.index_select(0, index), literal_sizes(batch_sizes)};
  }
  static void samples(S& s) {
    s.add({s->real({4, 3, 2}), literal_sizes({4, 2, 1}), false});
    s.add({s->real({2, 3}), literal_sizes({3, 3}), true});
    s.fails({s->real({4, 3, 2}), literal_sizes({4, 1, 2}), false},
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True.");
    s.fails({s->real({4, 3, 2}), literal_sizes({4, 2, 0}), false},
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0");
    s.fails({s->real({4, 3, 2}), literal_sizes({4, 2}), false},
            "Expected `len(lengths)` to be equal to batch_size, but got 2 (batch_size=3)");
    s.fails({s->real({4, 3, 2}), literal_sizes({5, 2, 1}), false},
            "_pack_padded_sequence: expected lengths of at most 4 (input is [4, 3, 2]), got 5");
    s.fails({s->real({4, 3, 2}), s->real({3}), false},
            "_pack_padded_sequence: expected lengths of dtype int64, got float64");
  }
};
ARGAND_OP(PackPaddedSequence)

struct PadPackedSequence : Composite<PadPackedSequenceArgs> {
  static constexpr auto schema =
      "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) "
      "-> (Tensor, Tensor)";
  static constexpr auto doc =
      "The way back from _pack_padded_sequence: padded to the longest sequence, or to total_length if that is "
      "positive; "
      "and the lengths.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    constexpr const char* op = "_pad_packed_sequence";
    const Dims batch_sizes = batch_sizes_of(op, a.batch_sizes);
    const auto longest = static_cast<int64_t>(batch_sizes.size());
    const int64_t batch = batch_sizes[0], rows = sum_of(batch_sizes);
    ARGAND_CHECK(ValueError, a.total_length <= 0 || a.total_length >= longest, op,
                 ": Expected total_length to be at least the length of the longest sequence in input, but got "
                 "total_length=",
                 a.total_length, " and max sequence length being ", longest);
    ARGAND_CHECK(ShapeError, a.data.dim() >= 1 && a.data.size(0) == rows, op,
                 ": expected as many rows of data as batch_sizes add up to, ", rows, ", got ", a.data.sizes());
    const int64_t steps = std::max(longest, a.total_length);
    const Tensor index = padded_rows(a.data.device(), batch_sizes, steps, batch, a.batch_first);
    const Tensor all = full(with_rows({steps * batch}, a.data, 1), a.padding_value, a.data.options());
    const int64_t outer = a.batch_first ? batch : steps, inner = a.batch_first ? steps : batch;
    Dims lengths(static_cast<size_t>(batch), 0);
    for (const int64_t size : batch_sizes)
      for (int64_t n = 0; n < size; ++n) ++lengths[static_cast<size_t>(n)];
    return {all.index_copy(0, index, a.data).view(with_rows({outer, inner}, a.data, 1)), literal_sizes(lengths)};
  }
  static void samples(S& s) {
    s.add({s->real({7, 2}), literal_sizes({3, 2, 1, 1}), false, 0.5, -1});
    s.add({s->real({3}), literal_sizes({2, 1}), true, 0, 4});
    s.fails({s->real({3}), literal_sizes({2, 1}), true, 0, 1},
            "Expected total_length to be at least the length of the longest sequence in input, but got total_length=1 "
            "and max sequence length being 2");
    s.fails({s->real({4}), literal_sizes({2, 1}), true, 0, 0},
            "_pad_packed_sequence: expected as many rows of data as batch_sizes add up to, 3, got [4]");
  }
};
ARGAND_OP(PadPackedSequence)

struct PadSequence : Composite<PadSequenceArgs> {
  static constexpr auto schema =
      "pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0.0, str padding_side='right') -> "
      "Tensor";
  static constexpr auto doc =
      "Sequences [length, ...] side by side, filled up to the longest: [T, N, ...], or [N, T, ...] with batch_first.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.sequences.empty(), "pad_sequence: received an empty list of sequences");
    ARGAND_CHECK(ValueError, a.padding_side == "right" || a.padding_side == "left",
                 "pad_sequence: Expected padding_side to be one of left or right, but got ", a.padding_side, ".");
    int64_t longest = 0;
    for (const Tensor& t : a.sequences) {
      ARGAND_CHECK(ShapeError, t.dim() >= 1, "pad_sequence: expected sequences [length, ...], got ", t.sizes());
      longest = std::max(longest, t.size(0));
    }
    std::vector<Tensor> padded;
    for (const Tensor& t : a.sequences) {
      Dims amounts(2 * t.sizes().size(), 0);
      amounts[amounts.size() - (a.padding_side == "right" ? 1 : 2)] = longest - t.size(0);
      padded.push_back(constant_pad_nd(t.to(a.sequences[0].device()), amounts, a.padding_value));
    }
    return stack(padded, a.batch_first ? 0 : 1);
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({4, 3})}});
    s.add({{s->real({3}), s->real({1})}, true, 0.5, "left"});
    s.fails({{}}, "pad_sequence: received an empty list of sequences");
    s.fails({{s->real({3})}, true, 0, "top"}, "Expected padding_side to be one of left or right, but got top.");
    s.fails({{s->real({2, 3}), s->real({4, 2})}}, "stack");
  }
};
ARGAND_OP(PadSequence)

}  // namespace argand::ops
