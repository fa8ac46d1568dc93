// Small things the autograd tests share.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {

// What `f` throws says; "" if it throws nothing.
template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

inline testing::AssertionResult says(const std::string& message, const std::string& text) {
  if (message.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the message was: " << message;
}
// The statement throws an Error that says `text`.
#define EXPECT_MESSAGE(text, ...) EXPECT_TRUE(says(message_of([&] { __VA_ARGS__; }), text))

inline Tensor leaf(IntArrayRef sizes, double value) { return full(sizes, value, kDouble).requires_grad_(); }

// All elements of `t` equal `value` exactly.
inline testing::AssertionResult all_equal(const Tensor& t, double value) {
  if (!t.defined()) return testing::AssertionFailure() << "undefined";
  const Tensor flat = t.detach().to(kDouble).reshape({-1});
  for (int64_t i = 0; i < flat.numel(); ++i)
    if (flat[i].item<double>() != value)
      return testing::AssertionFailure() << "element " << i << " is " << flat[i].item<double>() << ", not " << value;
  return testing::AssertionSuccess();
}

}  // namespace argand::autograd
