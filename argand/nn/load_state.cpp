#include "argand/nn/load_state.h"

#include <cstring>
#include <vector>

#include "argand/core/grad_mode.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::nn {

void load_state(const StateDict& own, const StateDict& state, bool strict, const std::string& module) {
  std::string missing, unexpected, misshaped;
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (const auto& item : own) {
    const std::string& name = item.key();
    const Tensor& t = item.value();
    const Tensor* const given = state.find(name);
    if (!given || !given->defined())
      missing += "\n  missing: " + name;
    else if (!(given->sizes() == t.sizes()))
      misshaped += str("\n  shape of ", name, ": expected ", t.sizes(), ", got ", given->sizes());
    else
      copies.emplace_back(t, *given);
  }
  for (const auto& item : state)
    if (!own.contains(item.key())) unexpected += "\n  unexpected: " + item.key();
  if (!strict) missing.clear(), unexpected.clear();
  ARGAND_CHECK(ValueError, missing.empty() && unexpected.empty() && misshaped.empty(),
               "load_state_dict: the state does not fit ", module, "; nothing was changed", missing, unexpected,
               misshaped);
  // All that can run out of memory comes first, so that an error leaves every tensor as it was: values as they will
  // stand, and nothing that waits to be computed from or into what is there.  (Copies on a GPU fail with the device.)
  const NoGradGuard no_grad;
  for (auto& [to, from] : copies) {
    from = from.detach().to(to.device(), to.scalar_type()).contiguous();
    from.impl().data();
    to.impl().data();
  }
  for (auto& [to, from] : copies) {
    if (to.is_cpu() && to.is_contiguous()) {
      to.impl().bump_version();
      if (to.numel() > 0) std::memmove(raw<char>(to), raw<char>(from), to.nbytes());
    } else {
      to.copy_(from);
    }
  }
}

}  // namespace argand::nn
