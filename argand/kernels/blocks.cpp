#include "argand/kernels/blocks.h"

namespace argand::blocks {

constinit Block<decltype(cpu::check_index)> check_index(cpu::check_index);
constinit Block<decltype(cpu::take_rows)> take_rows(cpu::take_rows);
constinit Block<decltype(cpu::put_rows)> put_rows(cpu::put_rows);
constinit Block<decltype(cpu::add_rows)> add_rows(cpu::add_rows);
constinit Block<GatherAlong> gather_along(nullptr);
constinit Block<SlotsAlong> slots_along(nullptr);
constinit Block<decltype(cpu::true_positions)> true_positions(cpu::true_positions);

constinit Block<RunFusedStep> run_fused_step(nullptr);
constinit Block<RunDraw> run_draw(nullptr);

constinit Block<decltype(cpu::row_norm)> row_norm(cpu::row_norm);
constinit Block<decltype(cpu::row_norm_backward)> row_norm_backward(cpu::row_norm_backward);
constinit Block<decltype(cpu::channel_moments)> channel_moments(cpu::channel_moments);
constinit Block<decltype(cpu::channel_scale)> channel_scale(cpu::channel_scale);
constinit Block<decltype(cpu::channel_products)> channel_products(cpu::channel_products);
constinit Block<decltype(cpu::channel_gradient)> channel_gradient(cpu::channel_gradient);

constinit Block<decltype(cpu::softmax)> softmax(cpu::softmax);
constinit Block<decltype(cpu::softmax_backward)> softmax_backward(cpu::softmax_backward);

}  // namespace argand::blocks
