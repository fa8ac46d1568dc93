// Hooks that pack the tensors that ops save for their gradients: to another device, to a file, or to be recomputed.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "argand/core/tensor.h"

namespace argand::autograd {

class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  // `t` has no history and must not be written.  The result lives as long as the graph keeps it.
  virtual std::shared_ptr<void> pack(const Tensor& t) = 0;
  // Returns the same values, once for each pass through the graph, on any thread.
  virtual Tensor unpack(const std::shared_ptr<void>& packed) = 0;

  // Hooks of the calling thread: they pack what it records from now on.  GradError while they are disabled.
  static void push(std::shared_ptr<SavedTensorHooks> hooks);
  static void pop();
  static const std::shared_ptr<SavedTensorHooks>& current();  // null if there are none
  // Disables hooks: push then throws the message.  Returns the previous message.
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
