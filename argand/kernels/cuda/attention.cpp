#include "argand/kernels/api/attention.h"

#include <algorithm>
#include <limits>

#include "argand/kernels/api/draw.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/attention_shape.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/cudnn.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/attention.cuh";
constexpr int kWarp = 32, kTileRows = 16;
constexpr int64_t kMostIndex = std::numeric_limits<int>::max();

// How a kernel divides its work.
struct Form {
  const char* products;  // of attention.cuh
  int width;             // of the tiles: columns of query and value, filled up with zeros
  int warps;             // of a block, each of which has 16 rows
  int blocks;            // at a time on a multiprocessor, as registers and shared memory allow
  int columns;           // rows of the other side at a time
  int rows() const { return warps * kTileRows; }
  unsigned threads() const { return static_cast<unsigned>(warps * kWarp); }
  size_t bytes(const Attention& a, int64_t rows_in_memory) const {
    return static_cast<size_t>(rows_in_memory * width * element_size(a.type));
  }
};

Form form_of(const Attention& a, int warps, int blocks, int columns) {
  return {a.type != kFloat && has_warpgroup_products() ? "WarpgroupProducts" : "WarpProducts",
          std::max(a.width, a.value_width) <= 64 ? 64 : 128, warps, blocks, columns};
}

size_t forward_bytes(const Attention& a, const Form& f) { return f.bytes(a, f.rows() + 4 * f.columns); }
Form forward_form(const Attention& a) {
  if (a.type == kFloat) return form_of(a, 4, 1, 32);
  const bool wide = std::max(a.width, a.value_width) > 64;
  const Form large =
      has_warpgroup_products() ? wide ? form_of(a, 8, 1, 128) : form_of(a, 4, 2, 64) : form_of(a, 8, 1, 64);
  const int64_t blocks = a.batch * a.heads * ((a.queries + large.rows() - 1) / large.rows());
  return blocks < multi_processor_count() ? form_of(a, 4, 1, 64) : large;
}

// Both kernels have two arrays' rows, twice as many columns of each of two, and two numbers of each column.
size_t backward_bytes(const Attention& a, const Form& f) {
  return f.bytes(a, 2 * f.rows() + 4 * f.columns) + static_cast<size_t>(4 * f.columns) * sizeof(float);
}
Form backward_form(const Attention& a) {
  if (a.type != kFloat) return form_of(a, 4, std::max(a.width, a.value_width) > 64 ? 2 : 3, 64);
  const Form large = form_of(a, 4, 1, 32);
  return backward_bytes(a, large) <= static_cast<size_t>(shared_memory_per_block()) ? large : form_of(a, 4, 1, 16);
}

template <class Array>
AttentionRows rows(const Array& a) {
  return {const_cast<void*>(static_cast<const void*>(a.data)), a.strides[0], a.strides[1], a.strides[2]};
}

// Whether all rows can be read and written in units of 16 bytes.
template <class Array>
bool in_vectors(const Array& a, int64_t chunk) {
  return reinterpret_cast<uintptr_t>(a.data) % 16 == 0 && a.strides[0] % chunk == 0 && a.strides[1] % chunk == 0 &&
         a.strides[2] % chunk == 0;
}
template <class... Arrays>
bool all_in_vectors(const Attention& a, const Arrays&... arrays) {
  const int64_t chunk = 16 / element_size(a.type);
  return a.width % chunk == 0 && a.value_width % chunk == 0 && (in_vectors(arrays, chunk) && ...);
}

AttentionShape shape_of(const Attention& a, bool vectors, const PhiloxNumbers& random) {
  const auto number = [](int64_t n) {
    ARGAND_CHECK(ValueError, n <= kMostIndex, "scaled_dot_product_attention: expected sizes below 2^31, got ", n);
    return static_cast<int>(n);
  };
  number(a.batch * a.heads);
  const auto& s = a.mask.strides;
  const DropShare share(a.dropout);
  return {number(a.heads),
          number(a.kv_heads),
          number(a.queries),
          number(a.keys),
          number(a.width),
          number(a.value_width),
          static_cast<float>(a.scale),
          a.causal,
          vectors,
          {a.mask.data, s[0], s[1], s[2], s[3]},
          static_cast<unsigned>(share.below),
          static_cast<float>(share.scale),
          random};
}

// Two tiles of the mask.
size_t mask_bytes(const Attention& a, const Form& f) {
  return static_cast<size_t>(2 * f.rows() * f.columns * element_size(a.type));
}
// Whether the mask can be copied in units of 16 bytes to tiles beside the `bytes` that a kernel needs, whose rows have
// at least eight units (SharedTile).
bool stages_mask(const Attention& a, const Form& f, size_t bytes) {
  const int64_t size = element_size(a.type), chunk = 16 / size;
  return a.mask_type == a.type && a.mask.strides[3] == 1 && a.mask_columns % chunk == 0 && in_vectors(a.mask, chunk) &&
         f.columns % (8 * chunk) == 0 && bytes + mask_bytes(a, f) <= static_cast<size_t>(shared_memory_per_block());
}

// As in attention.cuh.
int mask_kind(const Attention& a, const Form& f, size_t bytes) {
  if (!a.mask.data) return a.scale > 0 ? 0 : 3;
  return stages_mask(a, f, bytes) ? 4 : a.mask_type == kBool ? 1 : 2;
}

template <class... Args>
void launch_tiles(const char* name, const Attention& a, const Form& f, int64_t planes, int64_t rows, size_t bytes,
                  Args... args) {
  const int mask = mask_kind(a, f, bytes);
  if (mask == 4) bytes += mask_bytes(a, f);
  const Kernel run =
      kernel_instance(kHeader, name, a.type, f.products, f.width, f.warps, f.blocks, f.columns, mask, a.dropout > 0);
  run.allow_shared_memory(bytes);
  launch(run,
         {.blocks = blocks_for(planes * ((rows + f.rows() - 1) / f.rows()), 1),
          .threads = f.threads(),
          .shared_memory = bytes},
         args...);
}

bool takes_attention(ScalarType type, int64_t width, int64_t value_width) {
  return (type == kFloat || type == kHalf || type == kBFloat16) && std::max(width, value_width) <= 128 &&
         has_tensor_cores();
}

// By cuDNN where there is much to do: it is 1.3 to 1.9 times as fast there (docs/lab/attention.md), but a plan costs
// 50 ms for each new shape.  Its gradient is not taken, because the deterministic one needs room for all weights.
bool run_cudnn(const Attention& a, const AttentionForward& f) {
  constexpr double kMuch = 0x1p29;  // multiplications in the scores
  const double work = static_cast<double>(a.batch * a.heads * a.queries) * static_cast<double>(a.keys * a.width);
  if (work < kMuch || a.type == kFloat || a.mask.data || a.dropout > 0 || !(a.scale > 0) ||
      (a.causal && a.queries > a.keys) || !all_in_vectors(a, a.query, a.key, a.value, f.out))
    return false;
  const auto operand = [](const auto& array) {
    return AttentionProblem::Operand{array.data, {array.strides[0], array.strides[1], array.strides[2]}};
  };
  return cudnn_attention({a.type, a.batch, a.heads, a.kv_heads, a.queries, a.keys, a.width, a.value_width, a.causal,
                          static_cast<float>(a.scale), operand(a.query), operand(a.key), operand(a.value),
                          operand(f.out), f.logsumexp});
}

void attention(const Attention& a, const AttentionForward& f) {
  if (!takes_attention(a.type, a.width, a.value_width)) throw NotOnDevice("heads of this width or dtype");
  if (run_cudnn(a, f)) return;
  PhiloxNumbers random{};
  if (a.dropout > 0)  // a round for two queries and four keys
    random =
        take_numbers(dynamic_cast<CudaGeneratorImpl&>(*f.generator), static_cast<uint64_t>((a.keys + 15) / 16 * 16));
  const AttentionShape shape = shape_of(a, all_in_vectors(a, a.query, a.key, a.value, f.out), random);
  const Form form = forward_form(a);
  launch_tiles("attention", a, form, a.batch * a.heads, a.queries, forward_bytes(a, form), shape, rows(a.query),
               rows(a.key), rows(a.value), rows(f.out), f.logsumexp, a.random_state);
}

void attention_backward(const Attention& a, const AttentionBackward& b) {
  if (!takes_attention(a.type, a.width, a.value_width)) throw NotOnDevice("heads of this width or dtype");
  const PhiloxNumbers random{0, 0, static_cast<const uint64_t*>(a.random_state)};
  const AttentionShape shape = shape_of(
      a, all_in_vectors(a, a.query, a.key, a.value, b.grad_out, b.grad_query, b.grad_key, b.grad_value), random);
  const int64_t planes = a.batch * a.heads, each = planes * a.queries;
  constexpr unsigned kThreads = 256;
  const int at_once = all_in_vectors(a, b.grad_out, b.out) ? static_cast<int>(16 / element_size(a.type)) : 1;
  launch(kernel_instance(kHeader, "attention_numbers", a.type, at_once),
         {blocks_for(each, kThreads / kNumberLanes), kThreads}, shape, rows(b.grad_out), rows(b.out), b.logsumexp,
         b.numbers, each);
  const Form form = backward_form(a);
  const size_t bytes = backward_bytes(a, form);
  launch_tiles("attention_key_gradients", a, form, a.batch * a.kv_heads, a.keys, bytes, shape, rows(a.query),
               rows(a.key), rows(a.value), rows(b.grad_out), b.numbers, each, rows(b.grad_key), rows(b.grad_value));
  launch_tiles("attention_query_gradients", a, form, planes, a.queries, bytes, shape, rows(a.query), rows(a.key),
               rows(a.value), rows(b.grad_out), b.numbers, each, rows(b.grad_query));
}

const bool registered =
    (blocks::attention.set(kCUDA, attention), blocks::attention_backward.set(kCUDA, attention_backward),
     blocks::takes_attention.set(kCUDA, takes_attention), true);

}  // namespace
}  // namespace argand::cuda
