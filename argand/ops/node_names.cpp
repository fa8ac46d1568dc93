// What PyTorch calls the nodes of ops that have other names or several forms there.
#include "argand/exec/node_names.h"

#include "argand/ops/conv/args.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/pool/args.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {

extern OpInfo Add_info, Sub_info, Mul_info, Pow_info, Sum_info, ProdDim_info, Mean_info, Max_info, Min_info,
    Linear_info, ConvolutionNd_info, NllLossForward_info, MaxPoolNd_info, AvgPoolNd_info;

namespace {

using autograd::OpNode;

template <class Args>
const Args& arguments_of(const OpNode& node) {
  return static_cast<const GradContext<Args>&>(node);
}

// The form with a number in the place of a tensor: a wrapped number is kept, whether a gradient reads it or not.
template <class Args>
bool has_number(const OpNode& node) {
  const Tensor& other = arguments_of<Args>(node).other;
  return other.defined() && other.impl().wrapped_number;
}

std::string add(const OpNode& n) { return has_number<AddArgs>(n) ? "AddBackward1" : ""; }
std::string sub(const OpNode& n) { return has_number<SubArgs>(n) ? "SubBackward1" : ""; }
std::string mul(const OpNode& n) { return has_number<MulArgs>(n) ? "MulBackward1" : ""; }
std::string sum(const OpNode& n) { return arguments_of<SumArgs>(n).dim ? "SumBackward1" : ""; }
std::string mean(const OpNode& n) { return arguments_of<MeanArgs>(n).dim ? "MeanBackward1" : ""; }
std::string prod_of_dim(const OpNode&) { return "ProdBackward1"; }
std::string pow(const OpNode& n) {
  const Tensor& exponent = arguments_of<PowArgs>(n).exponent;
  return exponent.defined() && exponent.impl().wrapped_number ? "" : "PowBackward1";
}
std::string max_of_all(const OpNode&) { return "MaxBackward1"; }
std::string min_of_all(const OpNode&) { return "MinBackward1"; }
std::string linear(const OpNode& n) {
  return n.next_edges()[LinearArgs::Index::kBias].is_valid() ? "AddmmBackward0" : "MmBackward0";
}
std::string convolution(const OpNode&) { return "ConvolutionBackward0"; }
std::string nll_loss(const OpNode&) { return "NllLossBackward0"; }

std::string with_dims(const char* name, size_t dims, const char* behind = "") {
  return str(name, dims < 2 ? 2 : dims, "D", behind, "Backward0");  // those of one dimension are PyTorch's of two
}
std::string max_pool(const OpNode& n) {
  return with_dims("MaxPool", arguments_of<MaxPoolNdArgs>(n).kernel_size.size(), "WithIndices");
}
std::string avg_pool(const OpNode& n) {
  return with_dims("AvgPool", arguments_of<AvgPoolNdArgs>(n).kernel_size.size());
}

const bool named = [] {
  using autograd::name_nodes;
  name_nodes(Add_info, add);
  name_nodes(Sub_info, sub);
  name_nodes(Mul_info, mul);
  name_nodes(Sum_info, sum);
  name_nodes(Pow_info, pow);
  name_nodes(ProdDim_info, prod_of_dim);
  name_nodes(Mean_info, mean);
  name_nodes(Max_info, max_of_all);
  name_nodes(Min_info, min_of_all);
  name_nodes(Linear_info, linear);
  name_nodes(ConvolutionNd_info, convolution);
  name_nodes(NllLossForward_info, nll_loss);
  name_nodes(MaxPoolNd_info, max_pool);
  name_nodes(AvgPoolNd_info, avg_pool);
  return true;
}();

}  // namespace
}  // namespace argand::ops
