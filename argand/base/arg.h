// One option of an options struct: ARGAND_ARG(int64_t, stride) = 1; gives a chained setter and a getter of that name.
// There is one setter, which takes its value by value: two setters for each of 400 options cost a compiler 3 MB.
#pragma once
#include <utility>

#define ARGAND_ARG(T, name)                                       \
 public:                                                          \
  inline auto name(T value)->decltype(*this) { /* NOLINT */       \
    this->name##_ = std::move(value);                             \
    return *this;                                                 \
  }                                                               \
  inline const T& name() const noexcept { return this->name##_; } \
  inline T& name() noexcept { return this->name##_; }             \
                                                                  \
 private:                                                         \
  T name##_ /* NOLINT */
