#include "argand/exec/saved_hooks.h"

#include <utility>
#include <vector>

#include "argand/core/grad_mode.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/saved_hooks_state.h"

namespace argand::autograd {

namespace {

thread_local std::vector<std::shared_ptr<SavedTensorHooks>> stack;
thread_local std::optional<std::string> disabled;

}  // namespace

void SavedTensorHooks::push(std::shared_ptr<SavedTensorHooks> hooks) {
  ARGAND_CHECK(GradError, !disabled, *disabled);
  stack.push_back(std::move(hooks));
}

void SavedTensorHooks::pop() {
  ARGAND_CHECK(GradError, !stack.empty(), "saved_tensors_hooks: there are none to remove");
  stack.pop_back();
}

const std::shared_ptr<SavedTensorHooks>& SavedTensorHooks::current() {
  static const std::shared_ptr<SavedTensorHooks> none;
  return stack.empty() ? none : stack.back();
}

std::optional<std::string> SavedTensorHooks::disable(std::optional<std::string> message) {
  ARGAND_CHECK(GradError, !message || stack.empty(), *message);
  return std::exchange(disabled, std::move(message));
}

SavedHooksState::SavedHooksState() : stack_(stack), disabled_(disabled) {}

void SavedHooksState::exchange() {
  std::swap(stack_, stack);
  std::swap(disabled_, disabled);
}

SavedHooksState::Scope::Scope(SavedHooksState state) { state.exchange(); }
SavedHooksState::Scope::~Scope() { before_.exchange(); }

PackedTensor::PackedTensor(std::shared_ptr<SavedTensorHooks> hooks, const Tensor& t) : hooks_(std::move(hooks)) {
  const NoGradGuard no_grad;
  const Tensor given = exec::alias_with_tangents(t);
  const uint32_t version = given.storage()->version();
  packed_ = hooks_->pack(given);
  ARGAND_CHECK(
      GradError, given.storage()->version() == version,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not "
      "be modified by in-place operations, which would change what the program goes on with.");
}

Tensor PackedTensor::unpack() const {
  const NoGradGuard no_grad;
  const Tensor t = hooks_->unpack(packed_);
  ARGAND_CHECK(GradError, t.defined(), "a saved tensor unpack hook returned an undefined tensor");
  return exec::alias_with_tangents(t);
}

}  // namespace argand::autograd
