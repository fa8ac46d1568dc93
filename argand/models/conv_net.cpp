#include "argand/models/models.h"
#include "argand/nn/utils/fusion.h"

namespace argand::models {

size_t ConvNet::add(const std::string& conv, const std::string& norm, const nn::Conv2dOptions& options,
                    const nn::BatchNormOptions& norm_options) {
  Pair pair{conv, norm, register_module(conv, nn::Conv2d(nn::Conv2dOptions(options).bias(false))),
            register_module(norm, nn::BatchNorm2d(norm_options))};
  pairs_.push_back(std::move(pair));
  return pairs_.size() - 1;
}

Tensor ConvNet::run(size_t pair, const Tensor& x) {
  Pair& p = pairs_[pair];
  const Tensor y = p.conv(x);
  return p.norm ? p.norm(y) : y;
}

void ConvNet::fuse() {
  ARGAND_CHECK(ValueError, !is_training(), "fuse: expected a network in evaluation mode, call eval() first");
  for (Pair& p : pairs_) {
    if (!p.norm) continue;
    p.conv = replace_module(p.conv_name, nn::utils::fuse_conv_bn_eval(p.conv, p.norm));
    unregister_module(p.norm_name);
    p.norm = nn::BatchNorm2d(nullptr);
  }
  for (const auto& child : children())
    if (auto* part = child->as<ConvNet>()) part->fuse();
}

}  // namespace argand::models
