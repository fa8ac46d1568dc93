// Data sets that C++ reads.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/data/datasets/tar_shards.h"
#include "bindings/modules.h"

namespace argand::python {

using data::datasets::TarShards;

void add_datasets(nb::module_& module) {
  nb::class_<TarShards>(module, "_TarShards")
      .def(
          "__init__",
          [](TarShards* at, std::vector<std::string> paths, int64_t window, uint64_t seed, int64_t reader,
             int64_t readers) {
            new (at)
                TarShards(std::move(paths), {.window = window, .seed = seed, .reader = reader, .readers = readers});
          },
          nb::arg("paths"), nb::arg("window"), nb::arg("seed"), nb::arg("reader"), nb::arg("readers"))
      .def(
          "start", [](TarShards& self, int64_t epoch) { self.start(epoch); }, nb::arg("epoch"))
      // A dict of bytes by field, with the key as "__key__"; None at the end of the pass.
      .def("next", [](TarShards& self) -> nb::object {
        std::optional<std::vector<data::datasets::TarSample>> batch;
        {
          const nb::gil_scoped_release released;
          batch = self.get_batch(1);
        }
        if (!batch) return nb::none();
        nb::dict sample;
        sample["__key__"] = batch->front().key;
        for (const auto& [field, bytes] : batch->front().fields)
          sample[field.c_str()] = nb::bytes(bytes.data(), bytes.size());
        return sample;
      });
}

}  // namespace argand::python
