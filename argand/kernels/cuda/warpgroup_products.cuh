// Products of tiles by warpgroups, four warps each, on tensor cores of compute capability 9.0: the multiplication runs
// while the warps go on.  T is Half or BFloat16.
//
// A tile lies in shared memory in panels of 64 columns, whose rows are 128 bytes: eight rows, with their chunks of 16
// bytes swizzled, are the unit in which the hardware reads it.
#pragma once
#include "argand/kernels/cuda/tensor_cores.cuh"

namespace argand {

template <class T, int kWidth, int kRows>
class PanelTile {
 public:
  static constexpr int kPanel = 64, kRowBytes = 128, kGroupBytes = 8 * kRowBytes, kPanelBytes = kRows * kRowBytes;

  __device__ __forceinline__ explicit PanelTile(T* data)
      : data_(data), address_(static_cast<unsigned>(__cvta_generic_to_shared(data))) {}

  template <int kThreads>
  __device__ __forceinline__ void load(const T* from, int64_t row_stride, int rows, int width, bool vectors) const {
    load_tile<T, kWidth, kRows, kThreads>(from, row_stride, rows, width, vectors, [&](int row, int c) {
      return data_ + c / 8 * (kRows * kPanel) + row * kPanel + (c % 8 ^ row % 8) * 8;
    });
  }

  // Rows from `row` on, a multiple of 8, of columns [16 depth, 16 depth + 16): an operand with its sums along rows.
  __device__ __forceinline__ uint64_t across(int row, int depth) const {
    return matrix(address_ + depth / 4 * kPanelBytes + row * kRowBytes + depth % 4 * 32, 16);
  }
  // Rows [16 depth, 16 depth + 16) of all columns: an operand with its sums along columns.
  __device__ __forceinline__ uint64_t down(int depth) const {
    return matrix(address_ + depth * 2 * kGroupBytes, kPanelBytes);
  }

 private:
  // The hardware's descriptor: the address, the distances of panels and of groups of eight rows, and that rows of 128
  // bytes are swizzled.
  static __device__ __forceinline__ uint64_t matrix(unsigned address, unsigned panels_apart) {
    return uint64_t{(address & 0x3ffff) >> 4} | uint64_t{panels_apart >> 4} << 16 |
           uint64_t{unsigned(kGroupBytes) >> 4} << 32 | uint64_t{1} << 62;
  }

  T* data_;
  unsigned address_;
};

// The sums of 64 rows and 8 kCount columns, as operands of assembly.
#define ARGAND_SUMS_64(s)                                                                                           \
  "+f"((s)[0].x[0]), "+f"((s)[0].x[1]), "+f"((s)[0].x[2]), "+f"((s)[0].x[3]), "+f"((s)[1].x[0]), "+f"((s)[1].x[1]), \
      "+f"((s)[1].x[2]), "+f"((s)[1].x[3]), "+f"((s)[2].x[0]), "+f"((s)[2].x[1]), "+f"((s)[2].x[2]),                \
      "+f"((s)[2].x[3]), "+f"((s)[3].x[0]), "+f"((s)[3].x[1]), "+f"((s)[3].x[2]), "+f"((s)[3].x[3]),                \
      "+f"((s)[4].x[0]), "+f"((s)[4].x[1]), "+f"((s)[4].x[2]), "+f"((s)[4].x[3]), "+f"((s)[5].x[0]),                \
      "+f"((s)[5].x[1]), "+f"((s)[5].x[2]), "+f"((s)[5].x[3]), "+f"((s)[6].x[0]), "+f"((s)[6].x[1]),                \
      "+f"((s)[6].x[2]), "+f"((s)[6].x[3]), "+f"((s)[7].x[0]), "+f"((s)[7].x[1]), "+f"((s)[7].x[2]), "+f"((s)[7].x[3])
#define ARGAND_SUMS_128(s)                                                                                          \
  "+f"((s)[0].x[0]), "+f"((s)[0].x[1]), "+f"((s)[0].x[2]), "+f"((s)[0].x[3]), "+f"((s)[1].x[0]), "+f"((s)[1].x[1]), \
      "+f"((s)[1].x[2]), "+f"((s)[1].x[3]), "+f"((s)[2].x[0]), "+f"((s)[2].x[1]), "+f"((s)[2].x[2]),                \
      "+f"((s)[2].x[3]), "+f"((s)[3].x[0]), "+f"((s)[3].x[1]), "+f"((s)[3].x[2]), "+f"((s)[3].x[3]),                \
      "+f"((s)[4].x[0]), "+f"((s)[4].x[1]), "+f"((s)[4].x[2]), "+f"((s)[4].x[3]), "+f"((s)[5].x[0]),                \
      "+f"((s)[5].x[1]), "+f"((s)[5].x[2]), "+f"((s)[5].x[3]), "+f"((s)[6].x[0]), "+f"((s)[6].x[1]),                \
      "+f"((s)[6].x[2]), "+f"((s)[6].x[3]), "+f"((s)[7].x[0]), "+f"((s)[7].x[1]), "+f"((s)[7].x[2]),                \
      "+f"((s)[7].x[3]), "+f"((s)[8].x[0]), "+f"((s)[8].x[1]), "+f"((s)[8].x[2]), "+f"((s)[8].x[3]),                \
      "+f"((s)[9].x[0]), "+f"((s)[9].x[1]), "+f"((s)[9].x[2]), "+f"((s)[9].x[3]), "+f"((s)[10].x[0]),               \
      "+f"((s)[10].x[1]), "+f"((s)[10].x[2]), "+f"((s)[10].x[3]), "+f"((s)[11].x[0]), "+f"((s)[11].x[1]),           \
      "+f"((s)[11].x[2]), "+f"((s)[11].x[3]), "+f"((s)[12].x[0]), "+f"((s)[12].x[1]), "+f"((s)[12].x[2]),           \
      "+f"((s)[12].x[3]), "+f"((s)[13].x[0]), "+f"((s)[13].x[1]), "+f"((s)[13].x[2]), "+f"((s)[13].x[3]),           \
      "+f"((s)[14].x[0]), "+f"((s)[14].x[1]), "+f"((s)[14].x[2]), "+f"((s)[14].x[3]), "+f"((s)[15].x[0]),           \
      "+f"((s)[15].x[1]), "+f"((s)[15].x[2]), "+f"((s)[15].x[3])
#define ARGAND_SUMS_TEXT_64                                                                          \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31},"
#define ARGAND_SUMS_TEXT_128                                                                             \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "     \
  "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, " \
  "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
  "%61, %62, %63},"
#define ARGAND_MULTIPLY_SHARED(columns, type, a, b, c)                                                       \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #c ", 0;\nwgmma.mma_async.sync.aligned.m64n" #columns    \
               "k16.f32." type "." type " " ARGAND_SUMS_TEXT_##columns "%" #a ", %" #b ", p, 1, 1, 0, 0;\n}" \
               : ARGAND_SUMS_##columns(sums)                                                                 \
               : "l"(left), "l"(right), "r"(int(add)))
#define ARGAND_MULTIPLY_REGISTERS(columns, type, a0, a1, a2, a3, b, c)                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #c ", 0;\nwgmma.mma_async.sync.aligned.m64n" #columns     \
               "k16.f32." type "." type " " ARGAND_SUMS_TEXT_##columns "{%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 \
                                                                       "}, %" #b ", p, 1, 1, 1;\n}"           \
               : ARGAND_SUMS_##columns(sums)                                                                  \
               : "r"(left.x[0]), "r"(left.x[1]), "r"(left.x[2]), "r"(left.x[3]), "l"(right), "r"(1))

template <class T>
struct WarpgroupProducts {
  using Core = TensorCore<T>;
  using Left = typename Core::Left;
  template <int kWidth, int kRows>
  using Tile = PanelTile<T, kWidth, kRows>;

  // Tensor cores access shared memory through another path than threads, so a fence is needed.
  static __device__ __forceinline__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

  template <int kWidth, int kLeftRows, int kRightRows>
  static __device__ __forceinline__ void start_by_rows(TileSums (&sums)[kRightRows / 8],
                                                       const Tile<kWidth, kLeftRows>& left, int row,
                                                       const Tile<kWidth, kRightRows>& right) {
    begin(sums);
#pragma unroll
    for (int d = 0; d < kWidth / 16; ++d) multiply(sums, left.across(row / 64 * 64, d), right.across(0, d), d > 0);
    end();
  }

  template <int kWidth, int kRows>
  static __device__ __forceinline__ void start_by_columns(TileSums (&sums)[kWidth / 8], const Left (&left)[kRows / 16],
                                                          const Tile<kWidth, kRows>& right) {
    begin(sums);
#pragma unroll
    for (int d = 0; d < kRows / 16; ++d) multiply(sums, left[d], right.down(d));
    end();
  }

  template <int kLater, int kCount>
  static __device__ __forceinline__ void await(TileSums (&sums)[kCount]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLater) : "memory");
    hold(sums);
  }

 private:
  // The compiler must not move uses of the sums to before they are complete.
  template <int kCount>
  static __device__ __forceinline__ void hold(TileSums (&sums)[kCount]) {
#pragma unroll
    for (int n = 0; n < kCount; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[n].x[i])::"memory");
  }
  template <int kCount>
  static __device__ __forceinline__ void begin(TileSums (&sums)[kCount]) {
    hold(sums);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  }
  static __device__ __forceinline__ void end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

  static __device__ __forceinline__ void multiply(TileSums (&sums)[8], uint64_t left, uint64_t right, bool add) {
    if constexpr (kIsHalf<T>)
      ARGAND_MULTIPLY_SHARED(64, "f16", 32, 33, 34);
    else
      ARGAND_MULTIPLY_SHARED(64, "bf16", 32, 33, 34);
  }
  static __device__ __forceinline__ void multiply(TileSums (&sums)[16], uint64_t left, uint64_t right, bool add) {
    if constexpr (kIsHalf<T>)
      ARGAND_MULTIPLY_SHARED(128, "f16", 64, 65, 66);
    else
      ARGAND_MULTIPLY_SHARED(128, "bf16", 64, 65, 66);
  }
  static __device__ __forceinline__ void multiply(TileSums (&sums)[8], const Left& left, uint64_t right) {
    if constexpr (kIsHalf<T>)
      ARGAND_MULTIPLY_REGISTERS(64, "f16", 32, 33, 34, 35, 36, 37);
    else
      ARGAND_MULTIPLY_REGISTERS(64, "bf16", 32, 33, 34, 35, 36, 37);
  }
  static __device__ __forceinline__ void multiply(TileSums (&sums)[16], const Left& left, uint64_t right) {
    if constexpr (kIsHalf<T>)
      ARGAND_MULTIPLY_REGISTERS(128, "f16", 64, 65, 66, 67, 68, 69);
    else
      ARGAND_MULTIPLY_REGISTERS(128, "bf16", 64, 65, 66, 67, 68, 69);
  }
};

#undef ARGAND_SUMS_64
#undef ARGAND_SUMS_128
#undef ARGAND_SUMS_TEXT_64
#undef ARGAND_SUMS_TEXT_128
#undef ARGAND_MULTIPLY_SHARED
#undef ARGAND_MULTIPLY_REGISTERS

}  // namespace argand
