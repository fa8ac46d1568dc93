// c10d's ReduceOp and the option structs that calls of process groups take.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "argand/parallel/reduce_op.h"
#include "torch/csrc/distributed/c10d/Store.hpp"

namespace c10d {

struct _SupplementBase : c10::intrusive_ptr_target {};

struct PreMulSumSupplement : _SupplementBase {
  double double_factor = 0;
  at::Tensor tensor_factor;
  PreMulSumSupplement(double f) : double_factor(f) {}
  PreMulSumSupplement(at::Tensor t) : tensor_factor(std::move(t)) {
    TORCH_CHECK(tensor_factor.numel() == 1, "PREMUL_SUM: expected a factor of 1 element, got ", tensor_factor.numel());
  }
};
using NCCLPreMulSumSupplement = PreMulSumSupplement;

struct ReduceOp {
  enum RedOpType : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM, UNUSED };

  ReduceOp() = default;
  ReduceOp(RedOpType op) : op_(op) {
    TORCH_CHECK(op != PREMUL_SUM, "ReduceOp: PREMUL_SUM needs a factor; makePreMulSum(factor) makes it");
  }
  ReduceOp(RedOpType op, const c10::intrusive_ptr<_SupplementBase>& supplement) : op_(op), supplement_(supplement) {}

  operator RedOpType() const { return op_; }
  bool operator==(uint8_t other) const { return op_ == other; }
  bool operator==(RedOpType other) const { return op_ == other; }
  bool operator==(const ReduceOp& other) const { return op_ == other.op_; }

  RedOpType op_ = SUM;
  c10::intrusive_ptr<_SupplementBase> supplement_;
};

template <typename T>
ReduceOp makePreMulSum(const T& factor) {
  ReduceOp op;
  op.op_ = ReduceOp::PREMUL_SUM;
  op.supplement_ = c10::make_intrusive<PreMulSumSupplement>(factor);
  return op;
}

// The timeout of a call that has none of its own: that of the group.
constexpr auto kUnsetTimeout = std::chrono::milliseconds(-1);

// asyncOp is a hint: calls return before their work is done in any case.

struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
  std::optional<at::Tensor> sparseIndices = std::nullopt;
};

struct AllreduceCoalescedOptions : AllreduceOptions {};

struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct ScatterOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllToAllOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::optional<at::Device> device;
  bool asyncOp = true;
};

namespace detail {

inline argand::parallel::ReduceOp to_ours(const ReduceOp& op) {
  using Kind = argand::parallel::CollectiveReduce;
  static_assert(static_cast<int>(Kind::kAvg) == ReduceOp::AVG && static_cast<int>(Kind::kMax) == ReduceOp::MAX &&
                static_cast<int>(Kind::kPremulSum) == ReduceOp::PREMUL_SUM);
  TORCH_CHECK(op.op_ < ReduceOp::UNUSED, "ReduceOp: expected SUM to PREMUL_SUM, got ", static_cast<int>(op.op_));
  double factor = 1;
  if (op.op_ == ReduceOp::PREMUL_SUM) {
    const auto* supplement = dynamic_cast<const PreMulSumSupplement*>(op.supplement_.get());
    TORCH_CHECK(supplement, "ReduceOp: PREMUL_SUM needs a factor; makePreMulSum(factor) makes it");
    factor = supplement->tensor_factor.defined() ? supplement->tensor_factor.item<double>() : supplement->double_factor;
  }
  return {static_cast<Kind>(op.op_), factor};
}

}  // namespace detail

}  // namespace c10d
