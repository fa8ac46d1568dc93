#include "argand/kernels/blocks.h"

namespace argand::blocks {

constinit Block<decltype(cpu::check_index)> check_index(cpu::check_index);
constinit Block<decltype(cpu::take_rows)> take_rows(cpu::take_rows);
constinit Block<decltype(cpu::put_rows)> put_rows(cpu::put_rows);
constinit Block<decltype(cpu::add_rows)> add_rows(cpu::add_rows);
constinit Block<GatherAlong> gather_along(nullptr);
constinit Block<SlotsAlong> slots_along(nullptr);
constinit Block<decltype(cpu::true_positions)> true_positions(cpu::true_positions);
constinit Block<decltype(cpu::softmax)> softmax(cpu::softmax);
constinit Block<decltype(cpu::softmax_backward)> softmax_backward(cpu::softmax_backward);

}  // namespace argand::blocks
