#include "argand/ops/rnn/side_by_side.h"

#include "argand/ops/functions.h"
#include "argand/ops/numbers_on.h"

namespace argand::ops {
namespace {

// Gates of steps behind the end: Note [Packed sequences side by side].
Tensor padding_gates(RnnKind kind, const Tensor& gates) {
  constexpr double kFar = 30000;  // in the range of float16; its sigmoid is 1, and that of its negative 0
  const int64_t each = gates_of(kind), hidden = gates.size(1) / each;
  // States of relu could grow without bounds, so they become 0.
  const Tensor out = full({each, hidden}, kind == RnnKind::kRelu ? -kFar : 0, gates.options());
  if (kind == RnnKind::kLstm) {
    out.select(0, 0).fill_(-kFar);
    out.select(0, 1).fill_(kFar);
  }
  return out.flatten();
}

}  // namespace

SideBySide::SideBySide(IntArrayRef batch_sizes, const Device& device, bool backwards)
    : steps_(static_cast<int64_t>(batch_sizes.size())), batch_(batch_sizes[0]) {
  Dims lengths(static_cast<size_t>(batch_), 0);
  for (const int64_t size : batch_sizes)
    for (int64_t n = 0; n < size; ++n) ++lengths[static_cast<size_t>(n)];
  Dims places, ends;
  for (int64_t t = 0; t < steps_; ++t)
    for (int64_t n = 0; n < batch_sizes[static_cast<size_t>(t)]; ++n)
      places.push_back((backwards ? lengths[static_cast<size_t>(n)] - 1 - t : t) * batch_ + n);
  for (int64_t n = 0; n < batch_; ++n) ends.push_back((lengths[static_cast<size_t>(n)] - 1) * batch_ + n);
  places_ = numbers_on(device, places);
  ends_ = numbers_on(device, ends);
}

Tensor SideBySide::padded(RnnKind kind, const Tensor& gates) const {
  return padding_gates(kind, gates).expand({steps_ * batch_, gates.size(1)}).index_copy(0, places_, gates);
}

Tensor SideBySide::packed(const Tensor& outputs) const { return outputs.index_select(0, places_); }

Tensor SideBySide::last(const Tensor& outputs) const { return outputs.index_select(0, ends_); }

}  // namespace argand::ops
