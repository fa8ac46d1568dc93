// Finds the function that a call by name means.
#include "argand/ops/boxed.h"

#include <algorithm>
#include <array>
#include <optional>

#include "argand/base/str.h"
#include "argand/ops/boxed_table.h"

namespace argand::boxed {
namespace {

std::vector<Function> sorted_functions() {
  std::vector<Function> all;
  for (const std::span<const Function> family : families()) all.insert(all.end(), family.begin(), family.end());
  std::stable_sort(all.begin(), all.end(), [](const Function& a, const Function& b) {  // an op has several of a name
    return a.name != b.name ? a.name < b.name : a.order < b.order;
  });
  return all;
}

// dtype, layout, device and pin_memory, which a call gives one by one.
struct Options {
  static constexpr std::string_view kNames[] = {"dtype", "layout", "device", "pin_memory"};
  static constexpr Parameter kParameters[] = {
      {"dtype", "ScalarType?", Kind::kDtype, true, true, true, 0, 0},
      {"layout", "int?", Kind::kInt, true, true, true, 0, 0},
      {"device", "Device?", Kind::kDevice, true, true, true, 0, 0},
      {"pin_memory", "bool?", Kind::kBool, true, true, true, 0, 0},
  };
  std::array<const ArgumentValue*, 4> given{};

  bool any() const {
    return std::any_of(given.begin(), given.end(), [](const ArgumentValue* v) { return v != nullptr; });
  }
  // False if `name` is not among them.
  bool add(const Named& argument, std::string& why) {
    const auto at = std::find(std::begin(kNames), std::end(kNames), argument.first);
    if (at == std::end(kNames)) return false;
    const auto i = static_cast<size_t>(at - std::begin(kNames));
    if (!takes(kParameters[i], argument.second))
      why = str("argument '", *at, "' must be ", kParameters[i].type, ", not ", kind_name(argument.second));
    given[i] = &argument.second;
    return true;
  }
};

// The values of one call in the order of a function's parameters.
class Bound {
 public:
  explicit Bound(const Function& f) : function_(f), values_(f.parameters.size()), is_given_(f.parameters.size()) {}

  // Empty if the function takes the arguments, else why not.
  std::string bind(std::span<const ArgumentValue> positional, std::span<const Named> named) {
    size_t at = 0;
    for (const ArgumentValue& value : positional) {
      if (at == values_.size() || function_.parameters[at].keyword_only)
        return str("takes ", at, " positional arguments, got ", positional.size());
      if (std::string why = give(at++, value); !why.empty()) return why;
    }
    Options options;
    for (const Named& argument : named) {
      const size_t i = index_of(argument.first);
      std::string why;
      if (i < values_.size())
        why = give(i, argument.second);
      else if (index_of("options") == values_.size() || !options.add(argument, why))
        why = str("has no argument '", argument.first, "'");
      if (!why.empty()) return why;
    }
    if (options.any()) {
      const size_t i = index_of("options");
      if (is_given_[i]) return "got options, and one of dtype, layout, device and pin_memory besides";
      given_options_ = options;
      is_given_[i] = true;
      options_at_ = i;
    }
    for (size_t i = 0; i < values_.size(); ++i)
      if (!is_given_[i] && !function_.parameters[i].has_default)
        return str("misses the argument '", function_.parameters[i].name, "'");
    return "";
  }

  void call(std::vector<ArgumentValue>& results) {
    if (options_at_) values_[*options_at_] = together();
    function_.call(values_, results);
  }

 private:
  size_t index_of(std::string_view name) const {
    size_t i = 0;
    while (i < values_.size() && function_.parameters[i].name != name) ++i;
    return i;
  }
  std::string give(size_t i, const ArgumentValue& value) {
    const Parameter& p = function_.parameters[i];
    if (is_given_[i]) return str("got the argument '", p.name, "' twice");
    if (!takes(p, value)) return str("argument '", p.name, "' must be ", p.type, ", not ", kind_name(value));
    values_[i] = value;
    is_given_[i] = true;
    return "";
  }
  TensorOptions together() const {
    TensorOptions made;
    const auto& [dtype, layout, device, pinned] = given_options_.given;
    if (dtype && dtype->index()) made = made.dtype(to_dtype(*dtype));
    if (layout && layout->index()) {
      const Scalar* scalar = std::get_if<Scalar>(layout);
      const int64_t number = scalar ? scalar->toLong() : std::get<int64_t>(*layout);
      ARGAND_CHECK(NotImplementedError, number == 0, function_.name, "(): layout ", number,
                   " is not supported: tensors are strided, layout 0");
      made = made.layout(kStrided);
    }
    if (device && device->index())
      made = made.device(std::holds_alternative<Device>(*device) ? std::get<Device>(*device)
                                                                 : Device(std::get<std::string>(*device)));
    if (pinned && pinned->index()) made = made.pinned_memory(std::get<bool>(*pinned));
    return made;
  }

  const Function& function_;
  std::vector<ArgumentValue> values_;
  std::vector<bool> is_given_;
  Options given_options_;
  std::optional<size_t> options_at_;
};

}  // namespace

std::span<const Function> functions() {
  static const auto& all = *new std::vector<Function>(sorted_functions());
  return all;
}

std::span<const Function> find(std::string_view name) {
  const auto [first, last] = std::ranges::equal_range(functions(), name, {}, &Function::name);
  return {first, last};
}

std::string Function::signature() const {
  std::string text = str(name, overload.empty() ? "" : ".", overload, "(");
  bool keywords = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (i) text += ", ";
    if (p.keyword_only && !keywords) text += "*, ";
    keywords |= p.keyword_only;
    text += str(p.type, " ", p.name, p.has_default ? "=..." : "");
  }
  return text + ")";
}

std::vector<ArgumentValue> call(std::string_view name, std::span<const ArgumentValue> positional,
                                std::span<const Named> named) {
  const std::span<const Function> overloads = find(name);
  ARGAND_CHECK(ValueError, !overloads.empty(), "there is no op ", name);
  std::string reasons;
  for (const Function& f : overloads) {
    Bound bound(f);
    const std::string why = bound.bind(positional, named);
    if (!why.empty()) {
      reasons += str("\n  ", f.signature(), ": ", why);
      continue;
    }
    std::vector<ArgumentValue> results;
    bound.call(results);
    return results;
  }
  ARGAND_THROW(ValueError, name, "(): no overload takes these arguments:", reasons);
}

}  // namespace argand::boxed
