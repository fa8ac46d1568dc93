// The base of requests that are not lists of indices: with a size, a loader can tell a short last batch.
#pragma once
#include <cstddef>

namespace argand::data::samplers {

struct CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  virtual size_t size() const = 0;
};

}  // namespace argand::data::samplers
