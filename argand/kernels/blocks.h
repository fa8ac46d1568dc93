// The building blocks that kernels of ops are made of, each with an implementation per device: an op whose `run` uses
// blocks alone runs everywhere.
//
//   blocks::softmax.on(device)(log, in, out, type, shape);
//
// All addresses in a call are memory of that device.  A GPU's block is issued on that device's current stream and
// returns before it has run.  The headers in kernels/api say what each block computes.  A device registers the
// functions that it has (`blocks::softmax.set(kCUDA, softmax)`): those of the CPU in kernels/cpu/blocks.cpp, those of
// the CUDA library where they are defined (kernels/cuda/).
#pragma once
#include "argand/kernels/api/along_dim.h"
#include "argand/kernels/api/arg_reduce.h"
#include "argand/kernels/api/attention.h"
#include "argand/kernels/api/batch_norm.h"
#include "argand/kernels/api/block.h"
#include "argand/kernels/api/check_index.h"
#include "argand/kernels/api/checked_rows.h"
#include "argand/kernels/api/combine_at.h"
#include "argand/kernels/api/conv.h"
#include "argand/kernels/api/conv_parameter_grads.h"
#include "argand/kernels/api/cross_entropy.h"
#include "argand/kernels/api/cross_entropy_forms.h"
#include "argand/kernels/api/ctc.h"
#include "argand/kernels/api/deform.h"
#include "argand/kernels/api/draw.h"
#include "argand/kernels/api/fourier.h"
#include "argand/kernels/api/fused_step.h"
#include "argand/kernels/api/linear_algebra.h"
#include "argand/kernels/api/loss_scale.h"
#include "argand/kernels/api/matrix_product.h"
#include "argand/kernels/api/nll_loss.h"
#include "argand/kernels/api/numbers.h"
#include "argand/kernels/api/overlap.h"
#include "argand/kernels/api/pair_loss.h"
#include "argand/kernels/api/pieces.h"
#include "argand/kernels/api/pool.h"
#include "argand/kernels/api/product_and_sums.h"
#include "argand/kernels/api/recurrence.h"
#include "argand/kernels/api/reduce.h"
#include "argand/kernels/api/resample.h"
#include "argand/kernels/api/roi.h"
#include "argand/kernels/api/row_norm.h"
#include "argand/kernels/api/rows.h"
#include "argand/kernels/api/scan.h"
#include "argand/kernels/api/search.h"
#include "argand/kernels/api/sequence.h"
#include "argand/kernels/api/softmax.h"
#include "argand/kernels/api/sort.h"
#include "argand/kernels/api/sort_numbers.h"
#include "argand/kernels/api/triangle.h"
#include "argand/kernels/api/true_positions.h"

// All blocks: name, type of the function.  No other list has their names.
// clang-format off
#define ARGAND_BLOCKS(X) \
  X(adaptive_avg_pool, RunAdaptiveAvgPool) \
  X(adaptive_avg_pool_backward, RunAdaptiveAvgPoolBackward) \
  X(adaptive_max_pool, RunAdaptiveMaxPool) \
  X(add_at, AddAt) \
  X(add_rows, AddRows) \
  X(arg_extreme, RunArgExtreme) \
  X(attention, RunAttention) \
  X(attention_backward, RunAttentionBackward) \
  X(avg_pool, RunAvgPool) \
  X(avg_pool_backward, RunAvgPoolBackward) \
  X(channel_gradient, RunChannelGradient) \
  X(channel_moments, RunChannelMoments) \
  X(channel_products, RunChannelProducts) \
  X(channel_scale, RunChannelScale) \
  X(check_index, CheckIndex) \
  X(combine_at, CombineAt) \
  X(conv_forward, RunConvForward) \
  X(conv_input_grad, RunConvInputGrad) \
  X(conv_parameter_grads, ConvParameterGrads) \
  X(conv_takes_channels_last, ConvTakesChannelsLast) \
  X(conv_weight_grad, RunConvWeightGrad) \
  X(copy_pieces, CopyPieces) \
  X(cross_entropy, RunCrossEntropy) \
  X(cross_entropy_and_gradient, CrossEntropyAndGradient) \
  X(cross_entropy_backward, RunCrossEntropyBackward) \
  X(cross_entropy_backward_unless, CrossEntropyBackwardUnless) \
  X(cross_entropy_softmax_factors, RunCrossEntropySoftmaxFactors) \
  X(ctc_loss, RunCtcLoss) \
  X(ctc_loss_backward, RunCtcLossBackward) \
  X(decompose_general, RunGeneral) \
  X(decompose_hermitian, RunHermitian) \
  X(decompose_singular, RunSingular) \
  X(deform_columns, RunDeformColumns) \
  X(deform_input_grad, RunDeformInputGrad) \
  X(deform_place_grads, RunDeformPlaceGrads) \
  X(factor_cholesky, RunCholesky) \
  X(factor_ldl, RunLdl) \
  X(factor_lu, RunLu) \
  X(factor_qr, RunQr) \
  X(fill_sequence, FillSequence) \
  X(fourier, RunFourier) \
  X(fourier_plans, GetFourierPlans) \
  X(gather_along, GatherAlong) \
  X(keep_apart, KeepApart) \
  X(keep_numbers, KeepNumbers) \
  X(matrix_product, RunMatrixProduct) \
  X(max_pool, RunMaxPool) \
  X(max_pool_backward, RunMaxPoolBackward) \
  X(nll_loss, RunNllLoss) \
  X(nll_loss_backward, RunNllLossBackward) \
  X(pair_loss, RunPairLoss) \
  X(pair_loss_derivative, RunPairLossDerivative) \
  X(pair_loss_sum, RunPairLossSum) \
  X(pick, RunPick) \
  X(pools_take_channels_last, PoolsTakeChannelsLast) \
  X(product_and_sums, ProductAndSums) \
  X(put_numbers, PutNumbers) \
  X(put_rows, PutRows) \
  X(recurrence, RunRecurrence) \
  X(recurrence_backward, RunRecurrenceBackward) \
  X(reduce, RunReduce) \
  X(reflections_product, RunReflections) \
  X(resample, RunResample) \
  X(resample_backward, RunResampleBackward) \
  X(roi_average, RunRoiAverage) \
  X(roi_average_backward, RunRoiAverageBackward) \
  X(roi_max, RunRoiMax) \
  X(row_norm, RunRowNorm) \
  X(row_norm_backward, RunRowNormBackward) \
  X(row_order, RunRowOrder) \
  X(run_draw, RunDraw) \
  X(run_fused_step, RunFusedStep) \
  X(scan, RunScan) \
  X(scan_extreme, RunScanExtreme) \
  X(scan_linear, RunScanLinear) \
  X(search_sorted, SearchSorted) \
  X(slots_along, SlotsAlong) \
  X(small_cross_entropy, SmallCrossEntropy) \
  X(softmax, RunSoftmax) \
  X(softmax_backward, RunSoftmaxBackward) \
  X(solve_ldl, RunLdlSolve) \
  X(solve_lu, RunLuSolve) \
  X(solve_triangle, RunTriangleSolve) \
  X(sort_first, SortFirst) \
  X(sort_numbers, SortNumbers) \
  X(take_checked_rows, TakeCheckedRows) \
  X(take_rows, TakeRows) \
  X(takes_attention, TakesAttention) \
  X(total_loss, RunTotalLoss) \
  X(true_positions, FindTruePositions) \
  X(unscale_gradients, UnscaleGradients) \
  X(update_scale, UpdateScale) \
  X(zero_outside, ZeroOutside)
// clang-format on

namespace argand::blocks {

#define ARGAND_DECLARE_BLOCK(name, Function) extern Block<Function> name;
ARGAND_BLOCKS(ARGAND_DECLARE_BLOCK)
#undef ARGAND_DECLARE_BLOCK

}  // namespace argand::blocks
