#include "argand/serialize/serialize.h"

namespace argand::serialize {

OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) {
    tensors.push_back(std::move(tensor));
    tensor = Tensor();
  }
  return archive;
}

}  // namespace argand::serialize
