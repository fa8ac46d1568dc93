#include <algorithm>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/reduce.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kHeader = "argand/kernels/cuda/scan.cuh",
                     *kComplexHeader = "argand/kernels/cuda/complex_reduce.cuh";
constexpr int kWarp = 32, kThreads = 256, kItems = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The template arguments of a scan kernel.  `store_object` has the type `store`, which begins with an address.
struct Scan {
  const char* header;
  std::string in, op, store;
  const void* store_object;
};

void launch_rows(const Scan& scan, const void* in, const void* before, int64_t rows, int64_t n, Chunks chunks,
                 int width) {
  const int64_t warps = std::clamp<int64_t>(ceil_div(std::min(n, chunks.step), kItems * kWarp * width), 1, 8);
  const std::string text = instance("scan_rows", scan.in.c_str(), scan.op.c_str(), width, scan.store.c_str());
  void* args[] = {&in, const_cast<void*>(scan.store_object), &before, &n, &chunks.step, &chunks.count};
  const size_t sizes[] = {sizeof in, sizeof(void*), sizeof before};
  launch_with(kernel(scan.header, text), {blocks_for(rows * chunks.count, 1), static_cast<unsigned>(warps * kWarp)},
              args, sizes);
}

void launch_columns(const Scan& scan, const void* in, const void* before, const ScanShape& s, Chunks chunks) {
  const std::string text = instance("scan_columns", scan.in.c_str(), scan.op.c_str(), scan.store.c_str());
  int64_t lines = s.outer * s.inner, n = s.n, inner = s.inner;
  void* args[] = {&in, const_cast<void*>(scan.store_object), &before, &lines, &n, &inner, &chunks.step, &chunks.count};
  const size_t sizes[] = {sizeof in, sizeof(void*), sizeof before};
  launch_with(kernel(scan.header, text), {blocks_for(lines * chunks.count, kThreads), kThreads}, args, sizes);
}

// One thread processes a row that is shorter than this.
constexpr int64_t kShortRow = 16;

// Few long lines are cut, so that there is work for all of the device; then the elements are read twice.
Chunks chunks_of(const ScanShape& s, bool by_rows) {
  const int64_t lines = s.outer * s.inner;
  constexpr int64_t kRowChunk = 16384, kColumnChunk = 64, kRows = 1024, kColumns = 131072;
  const int64_t count = by_rows ? std::min(ceil_div(s.n, kRowChunk), ceil_div(kRows, lines))
                                : std::min(ceil_div(s.n, kColumnChunk), ceil_div(kColumns, lines));
  if (count <= (by_rows ? 2 : 1) || s.n * lines < 16 * kRowChunk) return {s.n, 1};
  // Rows in whole tiles of a block.
  const int64_t step = by_rows ? ceil_div(ceil_div(s.n, count), 4096) * 4096 : ceil_div(s.n, count);
  return {step, ceil_div(s.n, step)};
}

// `r` is the same operation as a reduction, for the totals of chunks; `addresses`: of all arrays, combined by |.
void scan_with(const Reduction& r, const void* in, const ScanShape& s, uintptr_t addresses) {
  if (s.outer * s.n * s.inner == 0) return;
  const Scan scan{r.complex ? kComplexHeader : kHeader, r.in, r.op, r.store, r.store_object};
  const bool by_rows = s.inner == 1 && s.n > kShortRow;
  const Chunks chunks = chunks_of(s, by_rows);
  int width = static_cast<int>(std::min<int64_t>(4, 16 / r.in_size));
  while (width > 1 && (s.n % width != 0 || (addresses | reinterpret_cast<uintptr_t>(in)) % 16 != 0)) width /= 2;
  if (chunks.count == 1) {
    if (by_rows) return launch_rows(scan, in, nullptr, s.outer, s.n, chunks, width);
    return launch_columns(scan, in, nullptr, s, chunks);
  }
  const int64_t lines = s.outer * s.inner;
  const Scratch totals(lines * chunks.count * r.acc_size);
  reduce_chunks(r, in, s.outer, s.n, s.inner, chunks, totals.as<void>());
  void* to_totals = totals.as<void>();
  const Scan of_totals{scan.header, r.acc, "argand::Merge<" + r.op + ">",
                       instance("argand::StoreScan", r.acc.c_str(), r.acc.c_str()), &to_totals};
  if (by_rows) {
    launch_rows(of_totals, totals.as<void>(), nullptr, lines, chunks.count, {chunks.count, 1}, 1);
    return launch_rows(scan, in, totals.as<void>(), s.outer, s.n, chunks, width);
  }
  launch_columns(of_totals, totals.as<void>(), nullptr, {1, chunks.count, lines}, {chunks.count, 1});
  launch_columns(scan, in, totals.as<void>(), s, chunks);
}

const char* op_name(ScanKind kind) {
  switch (kind) {
    case ScanKind::kSum:
      return "argand::SumOp";
    case ScanKind::kProd:
      return "argand::ProdOp";
    case ScanKind::kLogSumExp:
      return "argand::LogSumExpOp";
  }
  ARGAND_ASSERT(false, "scan: a kind without an operation");
}

ScalarType accumulator(ScalarType t) {
  if (t == kComplexFloat) return kComplexDouble;
  return t == kFloat ? kDouble : t;
}

void scan(ScanKind kind, const void* in, void* out, ScalarType type, const ScanShape& shape) {
  if (is_complex(type) && kind == ScanKind::kSum)  // real and imaginary parts are columns of their own
    return cuda::scan(kind, in, out, to_real_type(type), {shape.outer, shape.n, 2 * shape.inner});
  Reduction r;
  r.complex = is_complex(type);
  r.in = code_type(type);
  r.in_size = element_size(type);
  r.acc = code_type(accumulator(type));
  r.acc_size = element_size(accumulator(type));
  r.op = instance(op_name(kind), r.acc.c_str());
  r.store = instance("argand::StoreScan", r.acc.c_str(), code_type(type));
  r.store_object = &out;
  scan_with(r, in, shape, reinterpret_cast<uintptr_t>(out));
}

void scan_linear(const void* in, const void* factor, void* out, ScalarType type, bool reverse, const ScanShape& s) {
  const int64_t lines = s.outer * s.inner;
  const Kernel k = kernel_instance(is_complex(type) ? kComplexHeader : kHeader, "scan_linear", code_type(type),
                                   code_type(accumulator(type)));
  launch(k, {blocks_for(s.n == 0 ? 0 : lines, kThreads), kThreads}, in, factor, out, reverse, lines, s.n, s.inner);
}

struct RunningExtremeStore {
  void* values;
  int64_t* indices;
};

void scan_extreme(bool largest, const void* in, void* values, int64_t* indices, ScalarType type,
                  const ScanShape& shape) {
  const RunningExtremeStore store{values, indices};
  const Reduction r = extreme_reduction(type, largest, false,
                                        instance("argand::StoreRunningExtreme", extreme_type(type), type), &store);
  scan_with(r, in, shape, reinterpret_cast<uintptr_t>(values) | reinterpret_cast<uintptr_t>(indices));
}

const bool registered = (blocks::scan.set(kCUDA, scan), blocks::scan_linear.set(kCUDA, scan_linear),
                         blocks::scan_extreme.set(kCUDA, scan_extreme), true);

}  // namespace
}  // namespace argand::cuda
