// Grouped positions are those of a stable sort by row, whatever their number and that of the rows.
#include "argand/kernels/cuda/group_rows.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "argand/base/str.h"
#include "argand/kernels/cuda/device_array.h"

namespace argand::cuda {
namespace {

using Grouping = OnDevice;

std::vector<unsigned> on_host(const unsigned* from, size_t n) {
  std::vector<unsigned> out(n);
  issue_tapes(0, FlushCause::kWait);
  ARGAND_CUDA(cudaDeviceSynchronize());
  ARGAND_CUDA(cudaMemcpy(out.data(), from, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  return out;
}

TEST_F(Grouping, IsAStableSortByRow) {
  std::mt19937_64 random(1);
  for (const size_t n : {1, 1000, 1024, 1025, 8192, 8193, 200003})
    for (const uint64_t rows :
         {uint64_t{1}, uint64_t{256}, uint64_t{50304}, uint64_t{1} << 17, (uint64_t{1} << 32) - 1}) {
      SCOPED_TRACE(str(n, " positions, ", rows, " rows"));
      std::vector<int64_t> index(n);
      for (int64_t& i : index) i = static_cast<int64_t>(random() % 3 == 0 ? rows - 1 : random() % rows);
      std::vector<unsigned> order(n), keys(n);
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return index[a] < index[b]; });
      std::transform(order.begin(), order.end(), keys.begin(),
                     [&](unsigned at) { return static_cast<unsigned>(index[at]); });
      const DeviceArray<int64_t> there(index);
      const GroupedRows grouped(there.data(), static_cast<int64_t>(n), static_cast<int64_t>(rows));
      EXPECT_EQ(on_host(grouped.keys(), n), keys);
      EXPECT_EQ(on_host(grouped.order(), n), order);
    }
}

}  // namespace
}  // namespace argand::cuda
