// The hooks of a thread (exec/saved_hooks.h), to be given back to it or taken over by another one.
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
  void exchange();  // this one and the calling thread's
  std::vector<std::shared_ptr<SavedTensorHooks>> stack_;
  std::optional<std::string> disabled_;
};

// Makes a state the calling thread's for a scope.  Whatever was pushed, popped or disabled within it, and not taken
// back, is as it was before at its end.
class SavedHooksState::Scope {
 public:
  Scope() = default;  // leaves the thread its own
  explicit Scope(SavedHooksState state);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  SavedHooksState before_;
};

}  // namespace argand::autograd
