// Upsample as a module; shapes and modes are those of functional::interpolate.
#pragma once
#include "argand/nn/options/upsampling.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

class UpsampleImpl : public Cloneable<UpsampleImpl> {
 public:
  explicit UpsampleImpl(const UpsampleOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UpsampleOptions options;
};
ARGAND_LIBRARY_MODULE(Upsample);

}  // namespace argand::nn
