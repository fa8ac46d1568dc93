// A tensor kept for backward, with the version it had.
#pragma once
#include "argand/exec/graph.h"

namespace argand::autograd {

class SavedVariable {
 public:
  SavedVariable() = default;
  // `is_output`: `t` is a result of the node that keeps it; it is kept without history, so that the node does not own
  // itself.
  SavedVariable(const Tensor& t, bool is_output);
  // The tensor; `owner` is the node that keeps it.  GradError naming the op that changed it, if its version moved.
  Tensor unpack(const intrusive_ptr<Node>& owner) const;
  void reset() { *this = {}; }
  // Packs the saved tensor by these hooks.  GradError if there is no saved tensor, or if it is packed already.
  void pack(std::shared_ptr<SavedTensorHooks> hooks);

 private:
  Tensor data_;  // undefined if hooks packed it
  std::optional<PackedTensor> packed_;
  Edge history_;  // the history of the packed tensor
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_output_ = false;
};

}  // namespace argand::autograd
