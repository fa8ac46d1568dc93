// The bytes of tensors: for pickles and files.
#include <cstring>

#include "argand/core/watched_bytes.h"
#include "argand/ops/functions.h"
#include "argand/runtime/cpu/mapped_file.h"
#include "argand/runtime/cpu/shared_blocks.h"
#include "bindings/constants.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

nb::bytes copy_out(const void* data, size_t nbytes) { return nb::bytes(data, nbytes); }

// The elements of a contiguous tensor of the CPU.
nb::bytes to_bytes(const Tensor& t) {
  ARGAND_CHECK(ValueError, t.is_cpu() && t.is_contiguous(), "_to_bytes: expected a contiguous tensor on the CPU");
  const void* data;
  {
    const NoGil no_gil;
    data = t.impl().data();
  }
  nb::bytes out = copy_out(data, t.nbytes());
  check_watched(*t.storage());
  return out;
}

Tensor from_bytes(nb::bytes bytes, nb::handle dtype) {
  const auto type = as_dtype(dtype.ptr());
  if (!type) throw nb::type_error("_from_bytes: expected a dtype");
  const int64_t count = static_cast<int64_t>(bytes.size()) / element_size(*type);
  Tensor out = argand::empty({count}, *type);
  if (count > 0) std::memcpy(out.impl().data(), bytes.c_str(), out.nbytes());
  return out;
}

// A tensor that owns the memory which `t` has now, and keeps it from being resized: for arrays and capsules, which show
// it.
Tensor hold_memory(const Tensor& t) {
  t.storage()->fix_size();
  return t.detach();
}

Tensor all_bytes_of(const StoragePtr& storage) {
  return Tensor(make_intrusive<TensorImpl>(storage, Dims{static_cast<int64_t>(storage->nbytes())}, Dims{1}, 0, kByte));
}

// All bytes of the storage of `t`, whatever part of it `t` shows.
Tensor all_bytes(const Tensor& t) { return all_bytes_of(t.storage()); }

void share_storage(const Tensor& t) {
  const NoGil no_gil;
  share_bytes(*t.storage());
}

int descriptor_of(const Tensor& t) {
  const NoGil no_gil;
  return t.is_cpu() ? shared_descriptor(*t.storage()) : -1;
}

// A tensor of all bytes of the storage behind a descriptor.
Tensor map_storage(int descriptor, size_t nbytes) { return all_bytes_of(map_shared(descriptor, nbytes)); }

// A tensor of bytes of a file; takes the descriptor.
Tensor map_a_file(int descriptor, nb::bytes path, size_t nbytes, bool shared, size_t first) {
  const std::string name(path.c_str(), path.size());
  const NoGil no_gil;
  return all_bytes_of(map_file(descriptor, name, nbytes, shared, first));
}

nb::bytes path_of(const Tensor& t) {
  const std::string path = path_of_mapped(*t.storage());
  return nb::bytes(path.data(), path.size());
}

// More bytes in the storage of `t`; those that were there stay.  It does not become smaller: other tensors may show its
// bytes.
void grow_storage(const Tensor& t, int64_t nbytes) {
  ARGAND_CHECK(ValueError, nbytes >= static_cast<int64_t>(t.storage()->nbytes()),
               "resize_: a storage does not become smaller, since tensors may show its bytes; it has ",
               t.storage()->nbytes(), ", got ", nbytes);
  const NoGil no_gil;
  all_bytes(t).resize_({nbytes});
}

}  // namespace

void add_storages(nb::module_& module) {
  module.def("_to_bytes", to_bytes);
  module.def("_from_bytes", from_bytes);
  module.def("_hold_memory", hold_memory);
  module.def("_storage_nbytes", [](const Tensor& t) { return t.storage()->nbytes(); });
  module.def("_storage_bytes", all_bytes);
  module.def("_grow_storage", grow_storage);
  module.def("_map_file", map_a_file, nb::arg("descriptor"), nb::arg("path"), nb::arg("nbytes"), nb::arg("shared"),
             nb::arg("first") = 0);
  module.def("_path_of_mapped", path_of);
  module.def("_share_storage", share_storage);
  module.def("_shared_descriptor", descriptor_of);
  module.def("_map_shared", map_storage);
  module.def("_storage_resizable", [](const Tensor& t) { return t.storage()->resizable(); });
  module.def("_storage_use_count", [](const Tensor& t) { return t.storage().use_count(); });
  module.def("_storage_id", [](const Tensor& t) { return reinterpret_cast<uintptr_t>(t.storage().get()); });
}

}  // namespace argand::python
