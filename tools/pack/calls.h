// The calls whose kernels a pack holds: what a first program on a machine is likely to make.  Nothing is computed (the
// dry run), so values do not matter.
#pragma once
#include <functional>
#include <string>

namespace argand::pack {

// Makes one call or run after another; each is announced by a name, which kernels that are compiled together share.
using Announce = std::function<void(const std::string& name)>;

// Every pointwise op alone, as its samples combine tensors, on whole ones: in float32; in float16 and bfloat16 unless
// autocast calls it in float32; in int64 unless that gives floating-point numbers.  Operands that may be numbers, as
// such; and in float32 broadcast or otherwise strided.  Copies between dtypes, and fills.
void call_pointwise_ops(const Announce& announce);
// Steps of ordinary networks in float32: the demo's, one with batch normalisation, a language model; common losses.
void train_networks(const Announce& announce);

}  // namespace argand::pack
