// Data sets that C++ reads.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "argand/data/datasets/tar_shards.h"
#include "argand/io/cifar.h"
#include "argand/io/text.h"
#include "argand/ops/create/blob.h"
#include "argand/ops/functions.h"
#include "bindings/checkpoints.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

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
          const NoGil released;
          batch = self.get_batch(1);
        }
        if (!batch) return nb::none();
        nb::dict sample;
        sample["__key__"] = batch->front().key;
        for (const auto& [field, bytes] : batch->front().fields)
          sample[field.c_str()] = nb::bytes(bytes.data(), bytes.size());
        return sample;
      });
  module.def(
      "_read_cifar",
      [](const std::string& folder, int64_t classes, bool train) {
        ARGAND_CHECK(ValueError, classes == 10 || classes == 100, "CIFAR: expected 10 or 100 classes, got ", classes);
        return translated([&] {
          const NoGil released;
          const io::CifarSet set =
              io::load_cifar(folder, classes == 10 ? io::CifarKind::k10 : io::CifarKind::k100, train);
          const auto tensor = [&](const std::vector<uint8_t>& bytes, IntArrayRef sizes) {
            return from_blob(const_cast<uint8_t*>(bytes.data()), sizes, kByte).clone();
          };
          std::vector<Tensor> out = {tensor(set.images, {set.count, 3, 32, 32}),
                                     tensor(set.labels, {set.count}).to(kLong)};
          if (classes == 100) out.push_back(tensor(set.coarse_labels, {set.count}).to(kLong));
          return out;
        });
      },
      nb::arg("folder"), nb::arg("classes"), nb::arg("train"));
  module.def(
      "_read_csv",
      [](const std::string& path, bool wide, const std::vector<std::string>& columns, const std::string& delimiter,
         bool header) {
        ARGAND_CHECK(ValueError, delimiter.size() == 1, "read_csv: expected one byte as delimiter, got '", delimiter,
                     "'");
        return translated([&] {
          const NoGil released;
          return io::read_csv(path, wide ? kDouble : kFloat, columns, {.delimiter = delimiter[0], .header = header});
        });
      },
      nb::arg("path"), nb::arg("wide"), nb::arg("columns"), nb::arg("delimiter"), nb::arg("header"));
  module.def(
      "_read_text",
      [](const std::string& path) {
        return translated([&] {
          const NoGil released;
          return io::read_text(path);
        });
      },
      nb::arg("path"));
}

}  // namespace argand::python
