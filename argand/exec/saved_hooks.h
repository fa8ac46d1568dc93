// Hooks that pack what ops keep for their gradients: on another device, in a file, recomputed.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "argand/core/tensor.h"

namespace argand::autograd {

class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  // `t` has no history and must not be written; what is returned lives as long as the graph keeps it.
  virtual std::shared_ptr<void> pack(const Tensor& t) = 0;
  // The same values again, as often as the graph is walked, from any thread.
  virtual Tensor unpack(const std::shared_ptr<void>& packed) = 0;

  // The calling thread's: what it records from now on is packed by these.  GradError while they are disabled.
  static void push(std::shared_ptr<SavedTensorHooks> hooks);
  static void pop();
  static const std::shared_ptr<SavedTensorHooks>& current();  // null if there are none
  // With a message, which push then throws; returns the one before.
  static std::optional<std::string> disable(std::optional<std::string> message);
};

// A tensor as its hooks packed it.
class PackedTensor {
 public:
  PackedTensor(std::shared_ptr<SavedTensorHooks> hooks, const Tensor& t);
  Tensor unpack() const;

 private:
  std::shared_ptr<SavedTensorHooks> hooks_;
  std::shared_ptr<void> packed_;
};

}  // namespace argand::autograd
