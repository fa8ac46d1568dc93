#include "argand/kernels/blocks.h"

namespace argand::blocks {

constinit Block<decltype(cpu::softmax)> softmax(cpu::softmax);
constinit Block<decltype(cpu::softmax_backward)> softmax_backward(cpu::softmax_backward);

constinit Block<decltype(cpu::matrix_product)> matrix_product(cpu::matrix_product);
constinit Block<decltype(cpu::conv_forward)> conv_forward(cpu::conv_forward);
constinit Block<decltype(cpu::conv_input_grad)> conv_input_grad(cpu::conv_input_grad);
constinit Block<decltype(cpu::conv_weight_grad)> conv_weight_grad(cpu::conv_weight_grad);
constinit Block<decltype(cpu::max_pool)> max_pool(cpu::max_pool);
constinit Block<decltype(cpu::max_pool_backward)> max_pool_backward(cpu::max_pool_backward);
constinit Block<decltype(cpu::avg_pool)> avg_pool(cpu::avg_pool);
constinit Block<decltype(cpu::avg_pool_backward)> avg_pool_backward(cpu::avg_pool_backward);
constinit Block<decltype(cpu::adaptive_avg_pool)> adaptive_avg_pool(cpu::adaptive_avg_pool);
constinit Block<decltype(cpu::adaptive_avg_pool_backward)> adaptive_avg_pool_backward(cpu::adaptive_avg_pool_backward);
constinit Block<decltype(cpu::adaptive_max_pool)> adaptive_max_pool(cpu::adaptive_max_pool);

}  // namespace argand::blocks
