// Sums per channel for batch, layer and group norm.
#pragma once
#include "argand/kernels/api/batch_norm.h"

namespace argand::cuda {

// The value that is subtracted from x in plane p (if inner is 1, in element p): center[p / step % count], or 0 if
// `center` is null; and the factor of the product: `scale` at the same index, or 1.  As CenterTerms in
// channel_sums.cuh.
struct Centers {
  const void *center, *scale;
  int64_t step, count;
};

// The sums of g and of g * (x - center) * scale of each channel; a result may be null.
void channel_products(const ChannelPass& call, const void* g, const void* x, const Centers& centers, void* sum,
                      void* product);

}  // namespace argand::cuda
