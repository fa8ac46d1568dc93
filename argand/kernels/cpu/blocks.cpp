// The blocks of kernels/blocks.h that the CPU has.
#include "argand/kernels/blocks.h"

#include "argand/kernels/cpu/arg_reduce.h"
#include "argand/kernels/cpu/attention.h"
#include "argand/kernels/cpu/batch_norm.h"
#include "argand/kernels/cpu/check_index.h"
#include "argand/kernels/cpu/conv.h"
#include "argand/kernels/cpu/cross_entropy.h"
#include "argand/kernels/cpu/ctc.h"
#include "argand/kernels/cpu/deform.h"
#include "argand/kernels/cpu/fourier.h"
#include "argand/kernels/cpu/fourier_dims.h"
#include "argand/kernels/cpu/fused_step.h"
#include "argand/kernels/cpu/linear_algebra.h"
#include "argand/kernels/cpu/matrix_product.h"
#include "argand/kernels/cpu/nll_loss.h"
#include "argand/kernels/cpu/overlap.h"
#include "argand/kernels/cpu/pair_loss.h"
#include "argand/kernels/cpu/pieces.h"
#include "argand/kernels/cpu/pool.h"
#include "argand/kernels/cpu/recurrence.h"
#include "argand/kernels/cpu/reduce.h"
#include "argand/kernels/cpu/resample.h"
#include "argand/kernels/cpu/roi.h"
#include "argand/kernels/cpu/row_norm.h"
#include "argand/kernels/cpu/rows.h"
#include "argand/kernels/cpu/scan.h"
#include "argand/kernels/cpu/search.h"
#include "argand/kernels/cpu/sequence.h"
#include "argand/kernels/cpu/softmax.h"
#include "argand/kernels/cpu/sort.h"
#include "argand/kernels/cpu/triangle.h"
#include "argand/kernels/cpu/true_positions.h"

namespace argand::cpu {
namespace {

// A separate check of the indices is as fast.
bool take_checked_rows(const char*, const void*, int64_t, int64_t, const void*, ScalarType, int64_t, void*) {
  return false;
}

// Two passes are as fast.
bool cross_entropy_and_gradient(const CrossEntropyCall&, bool, const void*, void*, void*, void*, void*) {
  return false;
}

void cross_entropy_backward_unless(const CrossEntropyCall& c, const void* log_sums, const void* scale,
                                   const void* total_weight, const void* expected, void* out) {
  const auto nbytes = static_cast<size_t>(element_size(op_math_type(c.type)));
  if (std::memcmp(expected, scale, nbytes) != 0) cross_entropy_backward(c, log_sums, scale, 0, total_weight, out);
}

bool register_blocks() {
  blocks::adaptive_avg_pool.set(kCPU, adaptive_avg_pool);
  blocks::adaptive_avg_pool_backward.set(kCPU, adaptive_avg_pool_backward);
  blocks::adaptive_max_pool.set(kCPU, adaptive_max_pool);
  blocks::add_rows.set(kCPU, add_rows);
  blocks::arg_extreme.set(kCPU, arg_extreme);
  blocks::attention.set(kCPU, attention);
  blocks::attention_backward.set(kCPU, attention_backward);
  blocks::avg_pool.set(kCPU, avg_pool);
  blocks::avg_pool_backward.set(kCPU, avg_pool_backward);
  blocks::channel_gradient.set(kCPU, channel_gradient);
  blocks::channel_moments.set(kCPU, channel_moments);
  blocks::channel_products.set(kCPU, channel_products);
  blocks::channel_scale.set(kCPU, channel_scale);
  blocks::check_index.set(kCPU, check_index);
  blocks::conv_forward.set(kCPU, conv_forward);
  blocks::conv_input_grad.set(kCPU, conv_input_grad);
  blocks::conv_takes_channels_last.set(kCPU, conv_takes_channels_last);
  blocks::conv_weight_grad.set(kCPU, conv_weight_grad);
  blocks::copy_pieces.set(kCPU, copy_pieces);
  blocks::cross_entropy.set(kCPU, cross_entropy);
  blocks::cross_entropy_backward.set(kCPU, cross_entropy_backward);
  blocks::cross_entropy_softmax_factors.set(kCPU, cross_entropy_softmax_factors);
  blocks::ctc_loss.set(kCPU, ctc_loss);
  blocks::ctc_loss_backward.set(kCPU, ctc_loss_backward);
  blocks::decompose_general.set(kCPU, decompose_general);
  blocks::decompose_hermitian.set(kCPU, decompose_hermitian);
  blocks::decompose_singular.set(kCPU, decompose_singular);
  blocks::deform_columns.set(kCPU, deform_columns);
  blocks::deform_input_grad.set(kCPU, deform_input_grad);
  blocks::deform_place_grads.set(kCPU, deform_place_grads);
  blocks::factor_cholesky.set(kCPU, factor_cholesky);
  blocks::factor_ldl.set(kCPU, factor_ldl);
  blocks::factor_lu.set(kCPU, factor_lu);
  blocks::factor_qr.set(kCPU, factor_qr);
  blocks::fill_sequence.set(kCPU, fill_sequence);
  blocks::fourier.set(kCPU, fourier);
  blocks::keep_apart.set(kCPU, keep_apart);
  blocks::matrix_product.set(kCPU, matrix_product);
  blocks::max_pool.set(kCPU, max_pool);
  blocks::max_pool_backward.set(kCPU, max_pool_backward);
  blocks::nll_loss.set(kCPU, nll_loss);
  blocks::nll_loss_backward.set(kCPU, nll_loss_backward);
  blocks::pair_loss.set(kCPU, pair_loss);
  blocks::pair_loss_derivative.set(kCPU, pair_loss_derivative);
  blocks::pair_loss_sum.set(kCPU, pair_loss_sum);
  blocks::pick.set(kCPU, pick);
  blocks::pools_take_channels_last.set(kCPU, pools_take_channels_last);
  blocks::put_rows.set(kCPU, put_rows);
  blocks::recurrence.set(kCPU, recurrence);
  blocks::recurrence_backward.set(kCPU, recurrence_backward);
  blocks::reduce.set(kCPU, reduce);
  blocks::reflections_product.set(kCPU, reflections_product);
  blocks::resample.set(kCPU, resample);
  blocks::resample_backward.set(kCPU, resample_backward);
  blocks::roi_average.set(kCPU, roi_average);
  blocks::roi_average_backward.set(kCPU, roi_average_backward);
  blocks::roi_max.set(kCPU, roi_max);
  blocks::row_norm.set(kCPU, row_norm);
  blocks::row_norm_backward.set(kCPU, row_norm_backward);
  blocks::row_order.set(kCPU, row_order);
  blocks::run_fused_step.set(kCPU, fused_step);
  blocks::scan.set(kCPU, scan);
  blocks::scan_extreme.set(kCPU, scan_extreme);
  blocks::scan_linear.set(kCPU, scan_linear);
  blocks::search_sorted.set(kCPU, search_sorted);
  blocks::softmax.set(kCPU, softmax);
  blocks::softmax_backward.set(kCPU, softmax_backward);
  blocks::solve_ldl.set(kCPU, solve_ldl);
  blocks::solve_lu.set(kCPU, solve_lu);
  blocks::solve_triangle.set(kCPU, solve_triangle);
  blocks::sort_first.set(kCPU, sort_first);
  blocks::take_rows.set(kCPU, take_rows);
  blocks::takes_attention.set(kCPU, takes_attention);
  blocks::total_loss.set(kCPU, total_loss);
  blocks::true_positions.set(kCPU, true_positions);
  blocks::zero_outside.set(kCPU, zero_outside);
  blocks::cross_entropy_and_gradient.set(kCPU, cross_entropy_and_gradient);
  blocks::cross_entropy_backward_unless.set(kCPU, cross_entropy_backward_unless);
  blocks::take_checked_rows.set(kCPU, take_checked_rows);
  return true;
}
const bool registered = register_blocks();

}  // namespace
}  // namespace argand::cpu
