// ARGAND_NODE gives an op's autograd node the name that PyTorch has, where the name made from the op's would be
// another. It is written behind the definition of the op:
//
//   ARGAND_NODE(Dot)                    a composite that is one node there: "DotBackward0"
//   ARGAND_NODE(Tile, "RepeatBackward0")
//   ARGAND_NODE(Fmod, [](const FmodArgs& a) { return is_number(a.other) ? "FmodBackward0" : "FmodBackward1"; })
//
// A function that returns null leaves the name that is made from the op's.  A composite makes several nodes; the name
// goes to the last one, which is the node of its result.
#pragma once
#include "argand/exec/node_names.h"
#include "argand/ops/define.h"

namespace argand::ops {

// The form with a number in the place of a tensor: a wrapped number is kept, whether a gradient reads it or not.
inline bool is_number(const Tensor& t) { return t.defined() && t.impl().wrapped_number; }

namespace detail {

inline void label(const Tensor& t, const char* name, uint64_t since) { autograd::label_node(t, name, since); }
inline void label(const std::vector<Tensor>& list, const char* name, uint64_t since) {
  for (const Tensor& t : list) label(t, name, since);
}
inline void label(const Scalar&, const char*, uint64_t) {}
template <class... T>
void label(const std::tuple<T...>& all, const char* name, uint64_t since) {
  std::apply([&](const T&... each) { (label(each, name, since), ...); }, all);
}

// `choose` is a name, or a function without captures.
template <class Op, class Choose>
bool name_nodes(OpInfo& op, Choose choose) {
  using Args = typename Op::Args;
  static const Choose chosen = choose;
  static autograd::NodeNaming naming{};
  naming.name = [](const void* args, const autograd::OpNode* node) -> const char* {
    if constexpr (std::is_convertible_v<Choose, const char*>)
      return chosen;
    else if constexpr (std::is_invocable_v<Choose, const Args&>)
      return chosen(*static_cast<const Args*>(args));
    else
      return chosen(*static_cast<const Args*>(args), node);
  };
  if constexpr (Op::kind == OpKind::kComposite)
    naming.label = [](const void* result, const char* name, uint64_t since) {
      label(*static_cast<const typename Args::Result*>(result), name, since);
    };
  op.naming = &naming;
  return true;
}

// The name for NAME_copy, of the arguments of NAME: "PermuteBackward0_copy".
template <class ViewArgs>
constexpr auto copy_of = [](const auto&) {
  static const auto& name = *new std::string(autograd::node_name_of(ViewArgs::kName) + "_copy");
  return name.c_str();
};

template <class Op>
bool name_nodes(OpInfo& op) {
  return name_nodes<Op>(op, [](const typename Op::Args&) {
    static const auto& name = *new std::string(autograd::node_name_of(Op::Args::kName));
    return name.c_str();
  });
}

}  // namespace detail
}  // namespace argand::ops

#define ARGAND_NODE(Name, ...) \
  [[maybe_unused]] static const bool Name##_named = detail::name_nodes<Name>(Name##_info __VA_OPT__(, ) __VA_ARGS__);
