#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/group_rows.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/deform.cuh";
constexpr unsigned kThreads = 256;

Grid grid(int64_t elements) { return {.blocks = blocks_for(elements, kThreads), .threads = kThreads}; }

void deform_columns(const DeformCall& call, const void* input, void* columns) {
  const DeformShape& s = call.shape;
  const int64_t n = s.batch * s.channels * s.taps() * s.places();
  if (n == 0) return;
  launch(kernel_instance(kHeader, "deform_columns", call.type), grid(n), input, call.offset, call.mask, columns, s);
}

void deform_place_grads(const DeformCall& call, const void* grad_columns, const void* input, void* grad_offset,
                        void* grad_mask) {
  const DeformShape& s = call.shape;
  const int64_t n = s.batch * s.groups * s.taps() * s.places();
  if (n == 0) return;
  launch(kernel_instance(kHeader, "deform_place_grads", call.type), grid(n), grad_columns, input, call.offset,
         call.mask, grad_offset, grad_mask, s);
}

void deform_input_grad(const DeformCall& call, const void* grad_columns, void* grad_input) {
  const DeformShape& s = call.shape;
  const int64_t corners = 4 * s.taps() * s.places(), pixels = s.pixels();
  if (s.batch * s.channels * pixels == 0) return;
  if (corners > std::numeric_limits<int>::max() || pixels >= std::numeric_limits<uint32_t>::max())
    throw NotOnDevice("2^31 samples or more, or 2^32 pixels or more, for its gradient");
  if (corners == 0) {
    const int64_t bytes = s.batch * s.channels * pixels * element_size(call.type);
    return fill_bytes(grad_input, 0, static_cast<size_t>(bytes));
  }
  const Scratch numbers(corners * static_cast<int64_t>(sizeof(int64_t))),
      weights(corners * element_size(op_math_type(call.type))),
      starts((pixels + 1) * static_cast<int64_t>(sizeof(int)));
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t group = 0; group < s.groups; ++group) {
      launch(kernel_instance(kHeader, "deform_corners", call.type), grid(corners / 4), call.offset, call.mask, s, image,
             group, numbers.as<int64_t>(), weights.data());
      const GroupedRows rows(numbers.as<int64_t>(), corners, pixels + 1);
      launch(kernel(kHeader, "deform_starts"), grid(pixels + 1), rows.keys(), static_cast<int>(corners), pixels,
             starts.as<int>());
      launch(kernel_instance(kHeader, "deform_input_grad", call.type), grid(s.channels_of_group() * pixels),
             grad_columns, grad_input, s, image, group, static_cast<const int*>(starts.as<int>()), rows.order(),
             static_cast<const void*>(weights.data()));
    }
}

const bool registered =
    (blocks::deform_columns.set(kCUDA, deform_columns), blocks::deform_input_grad.set(kCUDA, deform_input_grad),
     blocks::deform_place_grads.set(kCUDA, deform_place_grads), true);

}  // namespace
}  // namespace argand::cuda
