// Batches of sequences of different lengths, padded or packed step by step, for recurrent networks.
#pragma once
#include <string_view>
#include <tuple>

#include "argand/core/tensor.h"

namespace argand::nn::utils::rnn {

// The inverse of a permutation: invert_permutation(p)[p[i]] = i.  Undefined stays undefined.
Tensor invert_permutation(const Tensor& permutation);

// Sequences sorted by decreasing length, stored step by step: the first elements of all sequences, then the second
// elements of the sequences that have one, and so on.
class PackedSequence {
 public:
  PackedSequence() = default;
  // data [sum of batch_sizes, ...]; batch_sizes (int64, on the CPU) says how many sequences have each step.
  // sorted_indices[i] is the original index of sequence i; unsorted_indices follows from it if not given.
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  // batch_sizes stay on the CPU.
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(kCUDA); }
  PackedSequence cpu() const { return to(kCPU); }
  bool is_cuda() const { return data_.is_cuda(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

// Packs input [T, N, ...] ([N, T, ...] with batch_first), which holds N sequences with these lengths.  ValueError if
// the lengths increase, unless enforce_sorted is false: then the sequences are sorted first.
PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false, bool enforce_sorted = true);

// The inverse: the sequences in their original order, and their lengths.  ValueError if total_length is less than the
// longest length.
std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                               double padding_value = 0.0,
                                               std::optional<int64_t> total_length = std::nullopt);

// Stacks sequences [length, ...], padded to the length of the longest.
Tensor pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0,
                    std::string_view padding_side = "right");

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true);

// The sequences of pad_packed_sequence or pad_sequence without their padding.
std::vector<Tensor> unpad_sequence(const Tensor& padded, const Tensor& lengths, bool batch_first = false);

}  // namespace argand::nn::utils::rnn
