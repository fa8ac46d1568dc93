// The tables of argand/models, which the Python networks are built from.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/models/weights.h"
#include "bindings/modules.h"

namespace argand::python {

void add_models(nb::module_& module) {
  module.def("_architecture", [](const std::string& name) {
    const models::Architecture& a = models::architecture(name);
    nb::list blocks;
    for (const models::MobileBlock& b : a.blocks)
      blocks.append(nb::make_tuple(b.kernel, b.expanded, b.out, b.squeeze, b.hardswish, b.stride));
    nb::dict out;
    out["stages"] = a.stages;
    out["bottleneck"] = a.bottleneck;
    out["blocks"] = blocks;
    out["hidden"] = a.hidden;
    return out;
  });
  // None if `weights` is no published name.
  module.def("_find_published",
             [](const std::string& architecture, const std::string& weights,
                const std::vector<std::string>& more) -> nb::object {
               const models::Published* known = models::find_published(architecture, weights);
               if (!known) return nb::none();
               const models::CachedWeights found = models::find_in_cache(*known, more);
               nb::dict out;
               out["file"] = known->file;
               out["path"] = found.path;
               out["places"] = found.places;
               out["url"] = found.url;
               out["sha256"] = found.sha256;
               out["advice"] = found.advice;
               return out;
             });
  module.def("_weights_file", &models::weights_file);
}

}  // namespace argand::python
