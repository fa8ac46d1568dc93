#include "argand/kernels/blocks.h"

namespace argand::blocks {

constinit Block<decltype(cpu::adaptive_avg_pool)> adaptive_avg_pool(cpu::adaptive_avg_pool);
constinit Block<decltype(cpu::adaptive_avg_pool_backward)> adaptive_avg_pool_backward(cpu::adaptive_avg_pool_backward);
constinit Block<decltype(cpu::adaptive_max_pool)> adaptive_max_pool(cpu::adaptive_max_pool);
constinit Block<decltype(cpu::add_rows)> add_rows(cpu::add_rows);
constinit Block<decltype(cpu::arg_extreme)> arg_extreme(cpu::arg_extreme);
constinit Block<RunAttention> attention(cpu::attention);
constinit Block<RunAttentionBackward> attention_backward(cpu::attention_backward);
constinit Block<decltype(cpu::avg_pool)> avg_pool(cpu::avg_pool);
constinit Block<decltype(cpu::avg_pool_backward)> avg_pool_backward(cpu::avg_pool_backward);
constinit Block<decltype(cpu::channel_gradient)> channel_gradient(cpu::channel_gradient);
constinit Block<decltype(cpu::channel_moments)> channel_moments(cpu::channel_moments);
constinit Block<decltype(cpu::channel_products)> channel_products(cpu::channel_products);
constinit Block<decltype(cpu::channel_scale)> channel_scale(cpu::channel_scale);
constinit Block<decltype(cpu::check_index)> check_index(cpu::check_index);
constinit Block<decltype(cpu::conv_forward)> conv_forward(cpu::conv_forward);
constinit Block<decltype(cpu::conv_input_grad)> conv_input_grad(cpu::conv_input_grad);
constinit Block<decltype(cpu::conv_weight_grad)> conv_weight_grad(cpu::conv_weight_grad);
constinit Block<CopyPieces> copy_pieces(cpu::copy_pieces);
constinit Block<decltype(cpu::cross_entropy)> cross_entropy(cpu::cross_entropy);
constinit Block<decltype(cpu::cross_entropy_backward)> cross_entropy_backward(cpu::cross_entropy_backward);
constinit Block<decltype(cpu::cross_entropy_softmax_factors)> cross_entropy_softmax_factors(
    cpu::cross_entropy_softmax_factors);
constinit Block<RunCtcLoss> ctc_loss(cpu::ctc_loss);
constinit Block<RunCtcLossBackward> ctc_loss_backward(cpu::ctc_loss_backward);
constinit Block<decltype(cpu::fill_sequence)> fill_sequence(cpu::fill_sequence);
constinit Block<GatherAlong> gather_along(nullptr);
constinit Block<KeepNumbers> keep_numbers(nullptr);
constinit Block<decltype(cpu::matrix_product)> matrix_product(cpu::matrix_product);
constinit Block<decltype(cpu::max_pool)> max_pool(cpu::max_pool);
constinit Block<decltype(cpu::max_pool_backward)> max_pool_backward(cpu::max_pool_backward);
constinit Block<decltype(cpu::nll_loss)> nll_loss(cpu::nll_loss);
constinit Block<decltype(cpu::nll_loss_backward)> nll_loss_backward(cpu::nll_loss_backward);
constinit Block<decltype(cpu::pair_loss)> pair_loss(cpu::pair_loss);
constinit Block<decltype(cpu::pair_loss_derivative)> pair_loss_derivative(cpu::pair_loss_derivative);
constinit Block<decltype(cpu::pair_loss_sum)> pair_loss_sum(cpu::pair_loss_sum);
constinit Block<decltype(cpu::pick)> pick(cpu::pick);
constinit Block<PutNumbers> put_numbers(nullptr);
constinit Block<decltype(cpu::put_rows)> put_rows(cpu::put_rows);
constinit Block<RunRecurrence> recurrence(cpu::recurrence);
constinit Block<RunRecurrenceBackward> recurrence_backward(cpu::recurrence_backward);
constinit Block<decltype(cpu::reduce)> reduce(cpu::reduce);
constinit Block<RunResample> resample(cpu::resample);
constinit Block<RunResampleBackward> resample_backward(cpu::resample_backward);
constinit Block<decltype(cpu::row_norm)> row_norm(cpu::row_norm);
constinit Block<decltype(cpu::row_norm_backward)> row_norm_backward(cpu::row_norm_backward);
constinit Block<RunDraw> run_draw(nullptr);
constinit Block<RunFusedStep> run_fused_step(cpu::fused_step);
constinit Block<decltype(cpu::scan)> scan(cpu::scan);
constinit Block<decltype(cpu::scan_extreme)> scan_extreme(cpu::scan_extreme);
constinit Block<decltype(cpu::scan_linear)> scan_linear(cpu::scan_linear);
constinit Block<decltype(cpu::search_sorted)> search_sorted(cpu::search_sorted);
constinit Block<SlotsAlong> slots_along(nullptr);
constinit Block<decltype(cpu::softmax)> softmax(cpu::softmax);
constinit Block<decltype(cpu::softmax_backward)> softmax_backward(cpu::softmax_backward);
constinit Block<decltype(cpu::sort_first)> sort_first(cpu::sort_first);
constinit Block<decltype(cpu::take_rows)> take_rows(cpu::take_rows);
constinit Block<TakesAttention> takes_attention(cpu::takes_attention);
constinit Block<decltype(cpu::total_loss)> total_loss(cpu::total_loss);
constinit Block<decltype(cpu::true_positions)> true_positions(cpu::true_positions);
constinit Block<UnscaleGradients> unscale_gradients(nullptr);
constinit Block<UpdateScale> update_scale(nullptr);
constinit Block<decltype(cpu::zero_outside)> zero_outside(cpu::zero_outside);

}  // namespace argand::blocks
