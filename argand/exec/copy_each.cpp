#include "argand/exec/copy_each.h"

#include <vector>

#include "argand/exec/copy.h"
#include "argand/exec/recover.h"
#include "argand/kernels/blocks.h"
#include "argand/runtime/current_op.h"

namespace argand::exec {
namespace {

bool are_alike(const Tensor& to, const Tensor& from) {
  return to.dtype() == from.dtype() && to.sizes() == from.sizes() &&
         ((to.is_contiguous() && from.is_contiguous()) ||
          (to.strides() == from.strides() && to.is_non_overlapping_and_dense()));
}

// Whether pairs on these devices can be copied together.
bool go_together(const Device& to, const Device& from) {
  if (to == from) return !to.is_meta() && blocks::copy_pieces.has(to.type());
  return to.is_accelerator() && from.is_accelerator();
}

}  // namespace

void copy_each(std::span<const Tensor> to, std::span<const Tensor> from) {
  if (to.empty()) return;
  const Device there = to[0].device(), here = from[0].device();
  std::vector<size_t> alike;
  if (to.size() > kFewCopies && go_together(there, here))
    for (size_t i = 0; i < to.size(); ++i)
      if (to[i].numel() > 0 && to[i].device() == there && from[i].device() == here && are_alike(to[i], from[i]))
        alike.push_back(i);
  if (alike.size() <= kFewCopies) alike.clear();
  for (size_t i = 0, k = 0; i < to.size(); ++i) {
    if (k < alike.size() && alike[k] == i) {
      ++k;
    } else {
      copy_elements(to[i], from[i]);
    }
  }
  if (alike.empty()) return;
  const CurrentOp current(*current_op() ? current_op() : "copy", to);
  std::vector<MemoryCopy> copies;
  for (const size_t i : alike) {
    recover_overwritten(to[i]);
    const void* const source = from[i].impl().data();
    copies.push_back({to[i].impl().data(), source, to[i].nbytes()});
  }
  if (!(there == here)) return backend_of(there.type()).copy_all(copies.data(), copies.size(), there, here);
  std::vector<Piece> pieces;
  for (const MemoryCopy& c : copies) pieces.push_back({c.to, c.from, 1, static_cast<int64_t>(c.nbytes), 0, 0});
  blocks::copy_pieces.on(there)(pieces.data(), static_cast<int64_t>(pieces.size()));
}

}  // namespace argand::exec
