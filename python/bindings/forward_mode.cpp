// Levels of forward mode (argand/exec/forward_mode.h), for torch.autograd.forward_ad and torch.func.
#include "argand/exec/forward_mode.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "argand/ops/functions.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"
#include "bindings/with_statement.h"

namespace argand::python {
namespace {

using exec::ForwardLevel;
using exec::ForwardMode;

struct Level {
  intrusive_ptr<ForwardLevel> level;
};

nb::object or_none(const Tensor& t) { return t.defined() ? nb::steal(wrap(t)) : nb::none(); }

// Whether tangents travel, and the scope of a level's tangents: those of the levels further out alone.
class Scope {
 public:
  Scope(std::optional<Level> within, bool enabled) : within_(std::move(within)), enabled_(enabled) {}
  void enter() {
    if (within_)
      scope_.emplace(*within_->level);
    else
      scope_.emplace(ForwardMode::entered(), enabled_);
  }
  void exit() { scope_.reset(); }

 private:
  const std::optional<Level> within_;
  const bool enabled_;
  std::optional<ForwardMode::Scope> scope_;
};

}  // namespace

void add_forward_mode(nb::module_& module) {
  nb::class_<Level>(module, "_ForwardLevel")
      .def("__init__",
           [](Level* self, int64_t depth) { new (self) Level{intrusive_ptr<ForwardLevel>(new ForwardLevel(depth))}; })
      .def_prop_ro("depth", [](const Level& l) { return l.level->depth(); })
      .def("enter", [](const Level& l) { ForwardMode::enter(l.level); })
      .def("exit",
           [](const Level& l) {
             ForwardMode::exit(l.level);
             l.level->end();
           })
      .def("tangent", [](const Level& l, const Tensor& t) { return or_none(exec::tangent_of(t, *l.level)); })
      .def(
          "set",
          [](const Level& l, const Tensor& t, const Tensor& tangent, bool in_place) {
            const ForwardMode::Scope outside(*l.level);
            exec::set_tangent(t, *l.level, tangent, in_place);
          },
          nb::arg("tensor"), nb::arg("tangent"), nb::arg("in_place") = false)
      // A view without the tangents for this level and those further in.
      .def("primal", [](const Level& l, const Tensor& t) {
        const ForwardMode::Scope outside(*l.level);
        const Tensor out = argand::alias(t);
        for (const auto& level : ForwardMode::entered())
          if (level->depth() >= l.level->depth()) level->set_apart(&out.impl());
        l.level->set_apart(&out.impl());
        return nb::steal(wrap(out));
      });
  with_statement<Scope>(module, "_ForwardScope")
      .def(
          "__init__",
          [](Scope* self, std::optional<Level> within, bool on) { new (self) Scope(std::move(within), on); },
          nb::arg("within").none() = nb::none(), nb::arg("enabled") = true);
  module.def("_forward_is_enabled", ForwardMode::is_enabled);
  module.def("_set_forward_enabled", [](bool enabled) {
    const bool before = ForwardMode::is_enabled();
    ForwardMode::set_enabled(enabled);
    return before;
  });
  // The active levels for which one of the tensors has a tangent, the outermost first.
  module.def("_forward_levels", [](const std::vector<Tensor>& tensors) {
    std::vector<Level> out;
    for (const auto& level : ForwardMode::active())
      if (std::ranges::any_of(tensors, [&](const Tensor& t) { return exec::tangent_of(t, *level).defined(); }))
        out.push_back({level});
    return out;
  });
  module.def("_tangents_travel", [] { return !ForwardMode::active().empty(); });
  module.def("_alias_with_tangents", [](const Tensor& t) { return nb::steal(wrap(exec::alias_with_tangents(t))); });
  // A scope in which a Function's results are kept for its backward: share() gives what was kept their tangents.
  using Kept = WithStatement<exec::KeptResults>;
  with_statement<Kept>(module, "_KeptResults").def(nb::init<>()).def("share", [](Kept& self) { (*self).share(); });
}

}  // namespace argand::python
