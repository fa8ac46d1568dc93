#include "argand/nn/modules/container/any.h"

namespace argand::nn {
namespace detail {

void AnyModuleBase::complete(std::vector<AnyValue>& arguments, size_t wanted, const DefaultArguments* defaults,
                             const Module& module) {
  const size_t given = arguments.size();
  if (!defaults) {
    ARGAND_CHECK(
        ValueError, given == wanted, module.name(), "'s forward() method expects ", wanted,
        " argument(s), but received ", given, ".",
        given < wanted
            ? " If " + module.name() +
                  "'s forward() method has default arguments, please make sure the forward() method is declared "
                  "with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."
            : std::string());
    return;
  }
  const size_t required = wanted - defaults->size();
  ARGAND_CHECK(ValueError, given >= required && given <= wanted, module.name(), "'s forward() method expects at least ",
               required, " argument(s) and at most ", wanted, " argument(s), but received ", given, ".");
  for (const auto& [index, value] : *defaults)
    if (index >= given) arguments.push_back(value);
}

void AnyModuleBase::wrong_type(size_t index, const std::type_info& wanted, const std::type_info& got) {
  ARGAND_THROW(ValueError, "Expected argument #", index, " to be of type ", type_name(wanted),
               ", but received value of type ", type_name(got));
}

}  // namespace detail

AnyModule AnyModule::clone(std::optional<Device> device) const {
  AnyModule out;
  if (content_) out.content_ = content_->clone(device);
  return out;
}

detail::AnyModuleBase& AnyModule::content(const char* caller) const {
  ARGAND_CHECK(ValueError, content_, "Cannot call ", caller, "() on an empty AnyModule");
  return *content_;
}

void AnyModule::check_type(const char* caller, const std::type_info& wanted) const {
  const std::type_info& actual = content(caller).type();
  ARGAND_CHECK(ValueError, actual == wanted, "Attempted to cast module of type ", detail::type_name(actual),
               " to type ", detail::type_name(wanted));
}

}  // namespace argand::nn
