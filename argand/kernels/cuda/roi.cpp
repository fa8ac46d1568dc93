#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/roi.cuh";
constexpr unsigned kThreads = 256;
constexpr int kChannels = 4;  // that a thread of a gradient has, so that regions are looked through less often

Grid grid(int64_t elements) { return {.blocks = blocks_for(elements, kThreads), .threads = kThreads}; }

// A call's tables, filled.
class Tables {
 public:
  explicit Tables(const RoiPooling& call) : memory_(lay_out(call, nullptr)) {
    lay_out(call, memory_.as<char>());
    launch(kernel_instance(kHeader, "roi_tables", call.type),
           Grid{.blocks = blocks_for(call.shape.rois, kThreads), .threads = kThreads, .blocks_y = 2}, call.rois,
           call.shape, t_);
  }
  const RoiTables& get() const { return t_; }

 private:
  // Where the tables lie from `memory` on; the bytes of all.
  int64_t lay_out(const RoiPooling& call, char* memory) {
    const RoiShape& s = call.shape;
    const int64_t item = element_size(op_math_type(call.type));
    int64_t bytes = 0;
    const auto take = [&](int64_t size) {
      char* at = memory ? memory + bytes : nullptr;
      bytes += (size + 15) / 16 * 16;
      return static_cast<void*>(at);
    };
    const auto integers = [&](int64_t n) { return static_cast<int*>(take(n * static_cast<int64_t>(sizeof(int)))); };
    for (int d = 0; d < 2; ++d) {
      for (int** table : {&t_.first[d], &t_.count[d], &t_.at[d]}) *table = integers(s.rois * s.out[d]);
      for (int** table : {&t_.hull_begin[d], &t_.hull_end[d]}) *table = integers(s.rois);
      t_.weight[d] = take(s.rois * RoiBins<float>::capacity(s.out[d], s.in[d]) * item);
      t_.grid[d] = take(s.rois * item);
    }
    return bytes;
  }

  RoiTables t_{};
  Scratch memory_;
};

void roi_average(const RoiPooling& call, const void* images, void* out) {
  const RoiShape& s = call.shape;
  const int64_t n = s.rois * s.out_channels() * s.bins();
  if (n == 0) return;
  const Tables tables(call);
  launch(kernel_instance(kHeader, "roi_average", call.type), grid(n), images, call.batch, out, s, tables.get());
}

void roi_average_backward(const RoiPooling& call, const void* grad_out, void* grad_images) {
  const RoiShape& s = call.shape;
  const int channels = s.by_position ? 1 : kChannels;
  const int64_t n = s.batch * ((s.channels + channels - 1) / channels) * s.in[0] * s.in[1];
  if (n == 0) return;
  const Tables tables(call);
  launch(kernel_instance(kHeader, "roi_average_backward", call.type, channels), grid(n), grad_out, call.batch,
         grad_images, s, tables.get());
}

void roi_max(const RoiPooling& call, const void* images, void* out, int32_t* at) {
  const RoiShape& s = call.shape;
  const int64_t n = s.rois * s.channels * s.bins();
  if (n == 0) return;
  launch(kernel_instance(kHeader, "roi_max", call.type), grid(n), images, call.rois, call.batch, out, at, s);
}

const bool registered =
    (blocks::roi_average.set(kCUDA, roi_average), blocks::roi_average_backward.set(kCUDA, roi_average_backward),
     blocks::roi_max.set(kCUDA, roi_max), true);

}  // namespace
}  // namespace argand::cuda
