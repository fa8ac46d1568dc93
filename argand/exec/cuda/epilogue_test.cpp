// The texts by which activations are known are those of the ops, and of no others.
#include "argand/exec/cuda/epilogue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "argand/exec/op_info.h"

namespace argand::exec {
namespace {

TEST(Epilogue, KnowsTheBodiesOfItsOps) {
  std::map<std::string, Activation> known;
  for (const OpInfo* op : all_ops())
    if (op->pointwise && activation_of(*op->pointwise) != Activation::kNone)
      known[op->name.c_str()] = activation_of(*op->pointwise);
  const std::map<std::string, Activation> expected{{"relu", Activation::kRelu},
                                                   {"threshold_backward", Activation::kThresholdBackward}};
  EXPECT_EQ(known, expected);
}

}  // namespace
}  // namespace argand::exec
