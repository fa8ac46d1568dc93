// The kinds of bodies, for which kernels have a way of their own, compute what the kinds say.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "argand/exec/copy.h"
#include "argand/exec/op_info.h"
#include "argand/kernels/program.h"

namespace argand::exec {
namespace {

TEST(BodyKind, OpsSayWhatTheirBodiesAre) {
  std::map<std::string, BodyKind> known;
  for (const OpInfo* op : all_ops())
    if (op->pointwise && op->pointwise->kind != BodyKind::kOther) known[op->name.c_str()] = op->pointwise->kind;
  const std::map<std::string, BodyKind> expected{{"relu", BodyKind::kRelu},
                                                 {"threshold_backward", BodyKind::kThresholdBackward}};
  EXPECT_EQ(known, expected);
  EXPECT_EQ(copy_body().kind, BodyKind::kIdentity);
}

// An epilogue computes max(x, 0), and g where x > 0 (runtime/cuda/epilogue.cuh).
TEST(BodyKind, TheBodiesComputeWhatTheirKindsSay) {
  const float x[] = {-2, -0.f, 0, 3}, g[] = {5, 6, 7, 8}, threshold = 0;
  for (const OpInfo* op : all_ops()) {
    if (!op->pointwise || op->pointwise->kind == BodyKind::kOther) continue;
    const bool backward = op->pointwise->kind == BodyKind::kThresholdBackward;
    const void* const ins[] = {backward ? g : x, x};
    float out[4];
    op->pointwise->loops[0](out, ins, &threshold, 4);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], x[i] > 0 ? (backward ? g[i] : x[i]) : 0) << op->name.c_str();
  }
}

}  // namespace
}  // namespace argand::exec
