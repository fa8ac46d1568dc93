// Sorting, selecting and picking on the GPU give the CPU's results exactly: every size of row has its own kernels.
#include <cstring>
#include <limits>
#include <random>

#include "argand/base/str.h"
#include "argand/core/dispatch.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/device_array.h"

namespace argand::cuda {
namespace {

using Sorting = OnDevice;
using Bytes = std::vector<char>;
const Device kHere(kCUDA, 0);

// Elements of random bits, some of them NaN; or, with `few`, of few different values, among them NaN and both zeros.
template <class T>
Bytes random_elements(int64_t n, bool few, unsigned seed) {
  std::mt19937_64 random(seed);
  Bytes out(static_cast<size_t>(n) * sizeof(T));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = random();
    T x;
    if (few && !std::numeric_limits<T>::is_integer && bits % 23 < 3)
      x = static_cast<T>(bits % 23 == 0 ? -0.0f : bits % 23 == 1 ? 0.0f : std::numeric_limits<float>::quiet_NaN());
    else if (few || std::is_same_v<T, bool>)
      x = static_cast<T>(static_cast<float>(bits % (std::is_same_v<T, bool> ? 2 : 23)));
    else
      std::memcpy(&x, &bits, sizeof x);
    std::memcpy(out.data() + static_cast<size_t>(i) * sizeof x, &x, sizeof x);
  }
  return out;
}

template <class T>
class Rows {
 public:
  Rows(int64_t outer, int64_t n, bool few)
      : outer_(outer), n_(n), host_(random_elements<T>(outer * n, few, static_cast<unsigned>(n))), device_(host_) {}

  void sorts(int64_t count, bool descending) const {
    same(count, [&](const SortRows& rows, const Device& on, void* values, int64_t* indices) {
      blocks::sort_first.on(on)(rows, count, descending, values, indices);
    });
  }
  void picks(Pick what, int64_t nth) const {
    same(1, [&](const SortRows& rows, const Device& on, void* values, int64_t* indices) {
      blocks::pick.on(on)(rows, what, nth, values, indices);
    });
  }

 private:
  template <class Run>
  void same(int64_t count, Run run) const {
    const auto results = static_cast<size_t>(outer_ * count);
    Bytes values(results * sizeof(T));
    std::vector<int64_t> indices(results);
    const DeviceArray<char> got_values(values);
    const DeviceArray<int64_t> got_indices(indices);
    run({host_.data(), scalar_type_v<T>, outer_, n_, 1}, kCPU, values.data(), indices.data());
    run({device_.data(), scalar_type_v<T>, outer_, n_, 1}, kHere, got_values.data(), got_indices.data());
    EXPECT_EQ(got_indices.values(), indices);
    EXPECT_EQ(got_values.values(), values);
  }

  int64_t outer_, n_;
  Bytes host_;
  DeviceArray<char> device_;
};

template <class T>
void compare_all(int64_t outer, int64_t n) {
  for (const bool few : {false, true}) {
    SCOPED_TRACE(str(scalar_type_v<T>, " [", outer, ", ", n, "]", few ? " with many equal" : ""));
    const Rows<T> rows(outer, n, few);
    for (const bool descending : {false, true})
      for (const int64_t count : {n, n / 2, std::min<int64_t>(n, 50), int64_t{1}})
        if (count > 0) rows.sorts(count, descending);
    rows.picks(Pick::kNth, n / 3);
    rows.picks(Pick::kMedian, 0);
    rows.picks(Pick::kNanMedian, 0);
    rows.picks(Pick::kMode, 0);
  }
}

TEST_F(Sorting, EveryTypeAndSizeOfRow) {
  for (const ScalarType type : {kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kBool})
    dispatch<kRealTypes>(type, "sort", [](auto tag) {
      using T = typename decltype(tag)::type;
      compare_all<T>(70, 7);
      compare_all<T>(3, 2048);
      compare_all<T>(3, 2049);
      compare_all<T>(2, 30011);
    });
}

TEST_F(Sorting, LongAndManyRows) {
  compare_all<float>(1, 3000017);
  compare_all<int64_t>(2, 400009);
  compare_all<float>(300, 8192);
  compare_all<Half>(20011, 33);
}

}  // namespace
}  // namespace argand::cuda
