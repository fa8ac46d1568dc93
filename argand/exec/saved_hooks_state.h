// The hooks of a thread (exec/saved_hooks.h), to be restored later or taken over by another thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argand/exec/saved_hooks.h"

namespace argand::autograd {

class SavedHooksState {
 public:
  SavedHooksState();  // the calling thread's
  class Scope;

 private:
  void exchange();  // swaps this state and the calling thread's
  std::vector<std::shared_ptr<SavedTensorHooks>> stack_;
  std::optional<std::string> disabled_;
};

// Makes a state the calling thread's for a scope.  Its end also undoes what was pushed, popped or disabled within it.
class SavedHooksState::Scope {
 public:
  Scope() = default;  // keeps the thread's own state
  explicit Scope(SavedHooksState state);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  SavedHooksState before_;
};

}  // namespace argand::autograd
