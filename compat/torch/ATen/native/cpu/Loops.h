// cpu_kernel(it, f): the output of the iterator is f of its inputs, element by element; f's types are those of the
// operands.
#pragma once
#include "ATen/TensorIterator.h"
#include "argand/library/dispatcher.h"

namespace at::native {

namespace detail {
template <class Signature>
struct ElementLoop;
template <class R, class... Args>
struct ElementLoop<R(Args...)> {
  template <class F, size_t... I>
  static void run(TensorIterator& it, F& f, std::index_sequence<I...>) {
    constexpr int outputs = std::is_void_v<R> ? 0 : 1;
    TORCH_CHECK(it.noutputs() == outputs && it.ninputs() == static_cast<int>(sizeof...(Args)), "cpu_kernel: expected ",
                outputs, " outputs and ", sizeof...(Args), " inputs, got ", it.noutputs(), " and ", it.ninputs())
    if constexpr (outputs == 1) check<R>(it, 0);
    (check<std::decay_t<Args>>(it, static_cast<int>(I) + outputs), ...);
    it.for_each([&](char** data, const int64_t* strides, int64_t size) {
      for (int64_t i = 0; i < size; ++i) {
        if constexpr (outputs == 0)
          f(value<std::decay_t<Args>>(data[I] + i * strides[I])...);
        else
          *reinterpret_cast<R*>(data[0] + i * strides[0]) =
              f(value<std::decay_t<Args>>(data[I + 1] + i * strides[I + 1])...);
      }
    });
    it.cast_outputs();
  }
  template <class T>
  static const T& value(const char* at) {
    return *reinterpret_cast<const T*>(at);
  }
  template <class T>
  static void check(const TensorIterator& it, int operand) {
    ARGAND_CHECK(DtypeError, it.dtype(operand) == scalar_type_v<T>, "cpu_kernel: operand ", operand, " is ",
                 dtype_cpp_name(it.dtype(operand)), ", the function takes ", dtype_cpp_name(scalar_type_v<T>));
  }
};
template <class F, class R, class... Args>
void element_loop(TensorIterator& it, F& f, R (*)(Args...)) {
  ElementLoop<R(Args...)>::run(it, f, std::index_sequence_for<Args...>());
}
}  // namespace detail

// harmless: the grain says how work is cut among threads, and one thread does it
template <class F>
void cpu_kernel(TensorIterator& it, F&& f, int64_t /*grain_size*/ = internal::GRAIN_SIZE) {
  using Signature = typename argand::library::SignatureOf<std::decay_t<F>>::type;
  detail::element_loop(it, f, static_cast<Signature*>(nullptr));
}
// `vectorized` is for LibTorch's vectors; the compiler makes its own of `f`.
template <class F, class V>
void cpu_kernel_vec(TensorIterator& it, F&& f, V&&, int64_t grain_size = internal::GRAIN_SIZE) {
  cpu_kernel(it, f, grain_size);
}
template <class F>
void cpu_serial_kernel(TensorIterator& it, F&& f) {
  cpu_kernel(it, f);
}

}  // namespace at::native
