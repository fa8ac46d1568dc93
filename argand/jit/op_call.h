// A place in a program that calls an op by its name.  The overload is chosen by the kinds of the arguments at the first
// call with such kinds, and remembered.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand::jit {

class OpCall {
 public:
  // "aten" and "add", or "torchvision" and "nms".  The last arguments of each call have the names `keywords`.
  OpCall(std::string space, std::string name, std::vector<std::string> keywords);
  ~OpCall();
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  // None, the result, or a tuple of several.  NotImplementedError if there is no such op; ValueError, with the
  // signatures there are, if none of them takes the arguments.
  IValue run(std::span<IValue> arguments) const;
  const std::string& name() const { return name_; }
  const std::vector<std::string>& keywords() const { return keywords_; }

 private:
  struct Plan;
  const Plan& plan_for(std::span<const IValue> arguments, std::unique_ptr<Plan>& temporary) const;
  std::unique_ptr<Plan> make_plan(std::span<const IValue> arguments) const;
  [[noreturn]] void fail(std::span<const IValue> arguments) const;

  const std::string space_, name_;
  const std::vector<std::string> keywords_;
  mutable std::atomic<const Plan*> plans_{nullptr};  // a list, the newest first
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Plan>> owned_;
};

}  // namespace argand::jit
