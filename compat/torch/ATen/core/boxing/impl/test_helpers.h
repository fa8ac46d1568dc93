// Calls of ops by their handles.
#pragma once
#include "torch/library.h"
// Other names that tests expect here.
#if __has_include(<gmock/gmock.h>)
#include <gmock/gmock.h>
#endif

template <class Result, class... Args>
Result callOpUnboxed(const c10::OperatorHandle& op, Args... args) {
  return op.typed<Result(Args...)>().call(std::forward<Args>(args)...);
}

template <class... Args>
std::vector<c10::IValue> callOp(const c10::OperatorHandle& op, Args... args) {
  std::vector<c10::IValue> stack{c10::IValue(std::forward<Args>(args))...};
  op.callBoxed(&stack);
  return stack;
}
