// The building blocks that kernels of ops are made of, each with an implementation per device: an op whose `run` uses
// blocks alone runs everywhere.
//
//   blocks::softmax.on(device)(log, in, out, type, shape);
//
// All addresses in a call are memory of that device.  A GPU's block is issued on that device's current stream and
// returns before it has run.  The CUDA library registers its own where they are defined (kernels/cuda/).
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "argand/base/permanent_name.h"
#include "argand/core/device.h"
#include "argand/kernels/along_dim.h"
#include "argand/kernels/combine_at.h"
#include "argand/kernels/cpu/arg_reduce.h"
#include "argand/kernels/cpu/attention.h"
#include "argand/kernels/cpu/batch_norm.h"
#include "argand/kernels/cpu/check_index.h"
#include "argand/kernels/cpu/conv.h"
#include "argand/kernels/cpu/cross_entropy.h"
#include "argand/kernels/cpu/ctc.h"
#include "argand/kernels/cpu/fused_step.h"
#include "argand/kernels/cpu/linear_algebra.h"
#include "argand/kernels/cpu/matrix_product.h"
#include "argand/kernels/cpu/nll_loss.h"
#include "argand/kernels/cpu/pair_loss.h"
#include "argand/kernels/cpu/pieces.h"
#include "argand/kernels/cpu/pool.h"
#include "argand/kernels/cpu/recurrence.h"
#include "argand/kernels/cpu/reduce.h"
#include "argand/kernels/cpu/resample.h"
#include "argand/kernels/cpu/row_norm.h"
#include "argand/kernels/cpu/rows.h"
#include "argand/kernels/cpu/scan.h"
#include "argand/kernels/cpu/search.h"
#include "argand/kernels/cpu/sequence.h"
#include "argand/kernels/cpu/softmax.h"
#include "argand/kernels/cpu/sort.h"
#include "argand/kernels/cpu/triangle.h"
#include "argand/kernels/cpu/true_positions.h"
#include "argand/kernels/draw.h"
#include "argand/kernels/loss_scale.h"
#include "argand/kernels/numbers.h"
#include "argand/kernels/sort_numbers.h"
#include "argand/runtime/backend.h"

namespace argand {

// Thrown by a block that a device does not have, or not for this call, before it has any effect: the op then runs on
// the CPU, with a warning that says why (exec/fallback.h).  docs/operators.md lists these reasons by the files that
// throw.
class NotOnDevice final : public std::exception {
 public:
  NotOnDevice() = default;
  explicit NotOnDevice(PermanentName reason) : reason_(reason) {}  // what the block does not take
  // "complex numbers"; empty if the device has no such block.
  const char* what() const noexcept override { return reason_; }

 private:
  PermanentName reason_;
};

template <class Function>
class Block;
template <class Result, class... Arguments>
class Block<Result(Arguments...)> {
 public:
  using Function = Result(Arguments...);

  // Makes the device the current one during the call, so that callers need not (for example composites).
  class Call {
   public:
    Call(Function& f, const Device& device) : function_(f), device_(device) {}
    Result operator()(Arguments... arguments) const { return function_(std::forward<Arguments>(arguments)...); }

   private:
    Function& function_;
    DeviceScope device_;
  };

  constexpr explicit Block(Function* cpu) : functions_{cpu} {}
  Call on(const Device& device) const { return Call(of(device.type()), device); }
  // For callers that have made a device of that type the current one.
  Function& of(DeviceType type) const {
    Function* f = functions_[static_cast<int>(type)].load(std::memory_order_relaxed);
    if (!f) throw NotOnDevice();
    return *f;
  }
  bool has(DeviceType type) const { return functions_[static_cast<int>(type)].load(std::memory_order_relaxed); }
  void set(DeviceType type, Function& f) { functions_[static_cast<int>(type)].store(&f); }

 private:
  std::atomic<Function*> functions_[kNumDeviceTypes];
};

namespace blocks {

extern Block<decltype(cpu::adaptive_avg_pool)> adaptive_avg_pool;
extern Block<decltype(cpu::adaptive_avg_pool_backward)> adaptive_avg_pool_backward;
extern Block<decltype(cpu::adaptive_max_pool)> adaptive_max_pool;
extern Block<AddAt> add_at;
extern Block<decltype(cpu::add_rows)> add_rows;
extern Block<decltype(cpu::arg_extreme)> arg_extreme;
extern Block<RunAttention> attention;
extern Block<RunAttentionBackward> attention_backward;
extern Block<decltype(cpu::avg_pool)> avg_pool;
extern Block<decltype(cpu::avg_pool_backward)> avg_pool_backward;
extern Block<decltype(cpu::channel_gradient)> channel_gradient;
extern Block<decltype(cpu::channel_moments)> channel_moments;
extern Block<decltype(cpu::channel_products)> channel_products;
extern Block<decltype(cpu::channel_scale)> channel_scale;
extern Block<decltype(cpu::check_index)> check_index;
extern Block<CombineAt> combine_at;
extern Block<decltype(cpu::conv_forward)> conv_forward;
extern Block<decltype(cpu::conv_input_grad)> conv_input_grad;
extern Block<decltype(cpu::conv_weight_grad)> conv_weight_grad;
extern Block<CopyPieces> copy_pieces;
extern Block<decltype(cpu::cross_entropy)> cross_entropy;
extern Block<decltype(cpu::cross_entropy_backward)> cross_entropy_backward;
extern Block<decltype(cpu::cross_entropy_softmax_factors)> cross_entropy_softmax_factors;
extern Block<RunCtcLoss> ctc_loss;
extern Block<RunCtcLossBackward> ctc_loss_backward;
extern Block<RunGeneral> decompose_general;
extern Block<RunHermitian> decompose_hermitian;
extern Block<RunSingular> decompose_singular;
extern Block<RunCholesky> factor_cholesky;
extern Block<RunLdl> factor_ldl;
extern Block<RunLu> factor_lu;
extern Block<RunQr> factor_qr;
extern Block<decltype(cpu::fill_sequence)> fill_sequence;
extern Block<GatherAlong> gather_along;
extern Block<KeepNumbers> keep_numbers;
extern Block<decltype(cpu::matrix_product)> matrix_product;
extern Block<decltype(cpu::max_pool)> max_pool;
extern Block<decltype(cpu::max_pool_backward)> max_pool_backward;
extern Block<decltype(cpu::nll_loss)> nll_loss;
extern Block<decltype(cpu::nll_loss_backward)> nll_loss_backward;
extern Block<decltype(cpu::pair_loss)> pair_loss;
extern Block<decltype(cpu::pair_loss_derivative)> pair_loss_derivative;
extern Block<decltype(cpu::pair_loss_sum)> pair_loss_sum;
extern Block<decltype(cpu::pick)> pick;
extern Block<PutNumbers> put_numbers;
extern Block<decltype(cpu::put_rows)> put_rows;
extern Block<RunRecurrence> recurrence;
extern Block<RunRecurrenceBackward> recurrence_backward;
extern Block<decltype(cpu::reduce)> reduce;
extern Block<RunReflections> reflections_product;
extern Block<RunResample> resample;
extern Block<RunResampleBackward> resample_backward;
extern Block<decltype(cpu::row_norm)> row_norm;
extern Block<decltype(cpu::row_norm_backward)> row_norm_backward;
extern Block<RunRowOrder> row_order;
extern Block<RunDraw> run_draw;
extern Block<RunFusedStep> run_fused_step;
extern Block<decltype(cpu::scan)> scan;
extern Block<decltype(cpu::scan_extreme)> scan_extreme;
extern Block<decltype(cpu::scan_linear)> scan_linear;
extern Block<decltype(cpu::search_sorted)> search_sorted;
extern Block<SlotsAlong> slots_along;
extern Block<decltype(cpu::softmax)> softmax;
extern Block<decltype(cpu::softmax_backward)> softmax_backward;
extern Block<RunLdlSolve> solve_ldl;
extern Block<RunLuSolve> solve_lu;
extern Block<RunTriangleSolve> solve_triangle;
extern Block<decltype(cpu::sort_first)> sort_first;
extern Block<SortNumbers> sort_numbers;
extern Block<decltype(cpu::take_rows)> take_rows;
extern Block<TakesAttention> takes_attention;
extern Block<decltype(cpu::total_loss)> total_loss;
extern Block<decltype(cpu::true_positions)> true_positions;
extern Block<UnscaleGradients> unscale_gradients;
extern Block<UpdateScale> update_scale;
extern Block<decltype(cpu::zero_outside)> zero_outside;

}  // namespace blocks
}  // namespace argand
