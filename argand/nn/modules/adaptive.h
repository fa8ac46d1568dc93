// AdaptiveLogSoftmaxWithLoss ("Efficient softmax approximation for GPUs", Grave et al. 2017).
#pragma once
#include "argand/nn/modules/container/modulelist.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/options/adaptive.h"

namespace argand::nn {

struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;  // the log-probability of each target
  double loss;    // minus their mean
};

// Classes, the most frequent first, in clusters: the head tells the first cluster's classes and the other clusters
// apart, and each of these has a projection to fewer features and a layer of its own.  Inputs are [N, in_features] and
// class indices [N], or [in_features] and one index.
class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  ASMoutput forward(const Tensor& input, const Tensor& target);
  Tensor log_prob(const Tensor& input);  // for all classes, [N, n_classes]
  Tensor predict(const Tensor& input);   // the most probable class of each row

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  // with n_classes at the end
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head = nullptr;
  ModuleList tail;

 private:
  Tensor tail_output(int64_t cluster, const Tensor& rows);
};
ARGAND_LIBRARY_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace argand::nn
