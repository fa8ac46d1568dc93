#include "argand/nn/utils/rnn.h"

#include "argand/ops/functions.h"

namespace argand::nn::utils::rnn {

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return permutation;
  return empty_like(permutation).scatter_(0, permutation, arange(permutation.numel(), permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                   : invert_permutation(sorted_indices_)) {
  ARGAND_CHECK(DeviceError, batch_sizes_.is_cpu(),
               "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
               "They should be instantiated by functions like pack_sequence and pack_padded_sequence in "
               "nn::utils::rnn.");
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  const auto moved = [&](const Tensor& index) {
    return index.defined() ? index.to(options.has_device() ? options.device() : index.device()) : index;
  };
  return PackedSequence(data_.to(options), batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(TensorOptions(kCPU).dtype(kLong));
  Tensor order;
  if (!enforce_sorted) {
    std::tie(lengths, order) = sort(lengths, -1, true);
    order = order.to(input.device());
    input = input.index_select(batch_first ? 0 : 1, order);
  }
  const auto [data, batch_sizes] = _pack_padded_sequence(input, lengths, batch_first);
  return PackedSequence(data, batch_sizes, order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<int64_t> total_length) {
  const int64_t longest = sequence.batch_sizes().size(0);
  ARGAND_CHECK(ValueError, total_length.value_or(longest) >= longest,
               "pad_packed_sequence: Expected total_length to be at least the length of the longest sequence in input, "
               "but got total_length=",
               total_length.value_or(0), " and a longest sequence of ", longest);
  auto [padded, lengths] = _pad_packed_sequence(sequence.data(), sequence.batch_sizes(), batch_first, padding_value,
                                                total_length.value_or(0));
  const Tensor& order = sequence.unsorted_indices();
  if (order.defined()) {
    padded = padded.index_select(batch_first ? 0 : 1, order);
    lengths = lengths.index_select(0, order.to(kCPU));
  }
  return {padded, lengths};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  return argand::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted) {
  const Tensor lengths = empty({static_cast<int64_t>(sequences.size())}, kLong);
  for (size_t i = 0; i < sequences.size(); ++i) lengths.data_ptr<int64_t>()[i] = sequences[i].size(0);
  return pack_padded_sequence(argand::pad_sequence(sequences), lengths, false, enforce_sorted);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded, const Tensor& lengths, bool batch_first) {
  const Tensor by_sequence = batch_first ? padded : padded.transpose(0, 1), host = lengths.to(kCPU);
  ARGAND_CHECK(ShapeError, host.dim() == 1 && host.size(0) == by_sequence.size(0), "unpad_sequence: expected lengths [",
               by_sequence.size(0), "] (the sequences are ", padded.sizes(), "), got ", lengths.sizes());
  std::vector<Tensor> out;
  for (int64_t i = 0; i < host.size(0); ++i)
    out.push_back(by_sequence.select(0, i).narrow(0, 0, host.select(0, i).item<int64_t>()));
  return out;
}

}  // namespace argand::nn::utils::rnn
