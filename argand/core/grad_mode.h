// Thread-local switches of autograd and their guards.  This file has the switches only, and nothing of the graph.
#pragma once
#include "argand/base/shared.h"

namespace argand {

struct ARGAND_SHARED GradMode {
  static bool is_enabled() { return flags.grad; }
  static void set_enabled(bool on) { flags.grad = on; }

 private:
  friend struct InferenceMode;
  struct Flags {
    bool grad, inference;
  };
  static inline thread_local Flags flags{true, false};
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) : before_(GradMode::is_enabled()) { GradMode::set_enabled(on); }
  ~AutoGradMode() { GradMode::set_enabled(before_); }
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};

struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
struct EnableGradGuard : AutoGradMode {
  EnableGradGuard() : AutoGradMode(true) {}
};

// As c10::InferenceMode: nothing is recorded, and tensors made inside can never become part of a graph.  Switched off,
// gradients are on.
struct InferenceMode {
  explicit InferenceMode(bool on = true) : before_(GradMode::flags) {
    GradMode::flags.inference = on;
    GradMode::flags.grad = !on;
  }
  ~InferenceMode() { GradMode::flags = before_; }
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled() { return GradMode::flags.inference; }

 private:
  GradMode::Flags before_;
};

}  // namespace argand
