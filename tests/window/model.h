// What a program means, without the machinery under test: storages are byte vectors, views are walked by plain loops,
// and an op runs on dense copies of its inputs that nothing else refers to.
#pragma once
#include <algorithm>
#include <memory>

#include "tests/window/program.h"

namespace argand::fuzz {

class Model {
 public:
  // `metadata` is the layout of the result of a call that makes a tensor: shapes are not what is tested here.
  void run(const Call& call, const Tensor& metadata);
  void finish();
  const Seen& seen() const { return seen_; }
  // Elements of a slot as doubles (real parts), in row-major order.
  std::vector<double> values(int slot) const;

 private:
  using Bytes = std::shared_ptr<std::vector<char>>;
  struct View {
    Bytes bytes;
    Dims sizes, strides;
    int64_t offset = 0;
    ScalarType dtype = kFloat;
  };
  View& slot(int i) {
    if (slots_.size() <= static_cast<size_t>(i)) slots_.resize(static_cast<size_t>(i) + 1);
    return slots_[static_cast<size_t>(i)];
  }
  const View& slot(int i) const { return slots_[static_cast<size_t>(i)]; }
  static Tensor dense(const View& v);
  static void store(const View& to, const Tensor& dense);
  void remember(int64_t i, const Bytes& bytes) {
    memory_.resize(std::max(memory_.size(), static_cast<size_t>(i) + 1));
    memory_[static_cast<size_t>(i)] = bytes;
  }
  void define(int out, const Tensor& metadata, const Tensor& value);

  std::vector<View> slots_;
  std::vector<Bytes> memory_;
  Seen seen_;
};

// `t` with elements from pattern(); a fresh storage.
Tensor pattern_tensor(const Dims& sizes, ScalarType dtype, double x);

}  // namespace argand::fuzz
