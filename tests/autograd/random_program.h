// Random differentiable programs with views and in-place writes, and two ways to run them.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "tests/autograd/helpers.h"

namespace argand::autograd {

// Runs the steps of a program; tensors are numbered from 0 in the order they are made.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void make(const Dims& sizes, bool requires_grad) = 0;
  virtual void slice(int from, int64_t dim, int64_t start, int64_t step) = 0;
  virtual void select(int from, int64_t dim, int64_t index) = 0;
  virtual void transpose(int from) = 0;
  virtual void expand(int from, int64_t rows) = 0;
  virtual void compute(int op, int a, int b) = 0;
  // `tracked`: with gradients on.
  virtual void write(int op, int to, int from, bool tracked) = 0;
  virtual Dims sizes(int i) const = 0;
  // A sum over everything that exists.
  virtual Tensor loss() = 0;
  const std::vector<Tensor>& leaves() const { return leaves_; }

 protected:
  // The same numbers for every runner.
  static Tensor numbers(const Dims& sizes, size_t seed);
  std::vector<Tensor> leaves_;
};

// Ops by number: out of place (of a, and b broadcast to a), and what a write stores (of the old value and b).
inline constexpr int kComputeOps = 6, kWriteOps = 6;
Tensor compute_op(int op, const Tensor& a, const Tensor& b);
Tensor written_value(int op, const Tensor& old, const Tensor& b);

// Runs a program with views and in-place ops.
class Direct final : public Runner {
 public:
  void make(const Dims& sizes, bool requires_grad) override;
  void slice(int from, int64_t dim, int64_t start, int64_t step) override;
  void select(int from, int64_t dim, int64_t index) override;
  void transpose(int from) override;
  void expand(int from, int64_t rows) override;
  void compute(int op, int a, int b) override;
  void write(int op, int to, int from, bool tracked) override;
  Dims sizes(int i) const override { return at(i).impl().sizes; }
  Tensor loss() override;
  const std::string& text() const { return text_; }

 private:
  const Tensor& at(int i) const { return tensors_[static_cast<size_t>(i)]; }
  void add(Tensor t, const std::string& how);
  std::vector<Tensor> tensors_;
  std::string text_;
};

// Runs it without either: memory is a flat tensor that every write replaces, a view is a list of positions in it.
class Functional final : public Runner {
 public:
  void make(const Dims& sizes, bool requires_grad) override;
  void slice(int from, int64_t dim, int64_t start, int64_t step) override;
  void select(int from, int64_t dim, int64_t index) override;
  void transpose(int from) override;
  void expand(int from, int64_t rows) override;
  void compute(int op, int a, int b) override;
  void write(int op, int to, int from, bool tracked) override;
  Dims sizes(int i) const override { return places_[static_cast<size_t>(i)].impl().sizes; }
  Tensor loss() override;

 private:
  Tensor read(int i) const;
  void add(size_t memory, const Tensor& places);
  void add_memory(const Tensor& value);
  std::vector<Tensor> memory_;  // flat
  std::vector<size_t> memory_of_;
  std::vector<Tensor> places_;  // positions in the memory, in the shape of the tensor
};

// The program of a seed.
void run_program(uint64_t seed, Runner& runner);

}  // namespace argand::autograd
