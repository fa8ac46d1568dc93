#include "argand/kernels/blocks.h"

namespace argand::blocks {

constinit Block<decltype(cpu::arg_extreme)> arg_extreme(cpu::arg_extreme);
constinit Block<decltype(cpu::reduce)> reduce(cpu::reduce);
constinit Block<decltype(cpu::scan)> scan(cpu::scan);
constinit Block<decltype(cpu::scan_extreme)> scan_extreme(cpu::scan_extreme);
constinit Block<decltype(cpu::scan_linear)> scan_linear(cpu::scan_linear);
constinit Block<decltype(cpu::softmax)> softmax(cpu::softmax);
constinit Block<decltype(cpu::softmax_backward)> softmax_backward(cpu::softmax_backward);

}  // namespace argand::blocks
