// A fixed number of values that live on the stack if they are few: the arguments of a call, the slots of a frame.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "argand/autograd/ivalue.h"

namespace argand::jit {

template <size_t inside>
class Values {
 public:
  explicit Values(size_t capacity) : data_(reinterpret_cast<IValue*>(inside_)) {
    if (capacity <= inside) return;
    beyond_ = std::make_unique<Bytes[]>(capacity);
    data_ = reinterpret_cast<IValue*>(beyond_.get());
  }
  ~Values() {
    while (size_ > 0) data_[--size_].~IValue();
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  // REQUIRES that there is room.
  void push(IValue v) { new (&data_[size_++]) IValue(std::move(v)); }
  void fill(size_t n) {
    while (size_ < n) new (&data_[size_++]) IValue();
  }
  IValue* data() { return data_; }
  std::span<IValue> all() { return {data_, size_}; }

 private:
  struct alignas(IValue) Bytes {
    unsigned char bytes[sizeof(IValue)];
  };
  Bytes inside_[inside];
  std::unique_ptr<Bytes[]> beyond_;
  IValue* data_;
  size_t size_ = 0;
};

}  // namespace argand::jit
