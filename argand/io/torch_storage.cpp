#include "argand/io/torch_storage.h"

#include <algorithm>
#include <bit>

#include "argand/core/late_bytes.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"

namespace argand::io {

static_assert(std::endian::native == std::endian::little, "elements are stored least significant byte first");

namespace {

// Any byte but 0 is true.
void normalize_bools(uint8_t* data, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (data[i] > 1) data[i] = 1;
}

// The conversion of the file's bytes.
void finish(const StorageRequest& request, bool big, uint8_t* data, size_t bytes) {
  const int64_t itemsize = element_size(request.dtype);
  const auto number = static_cast<size_t>(is_complex(request.dtype) ? itemsize / 2 : itemsize);
  for (size_t i = 0; big && number > 1 && i < bytes; i += number) std::reverse(data + i, data + i + number);
  if (request.dtype == kBool) normalize_bools(data, bytes);
}

void check_order(const StorageRequest& request, bool big) {
  ARGAND_CHECK(ValueError, !big || !request.untyped, "a storage of bytes whose byte order is big");
}

}  // namespace

Device place_of(const StorageRequest& request, const LoadOptions& options) {
  return options.map_location ? options.map_location(request.location) : Device(request.location);
}

Tensor read_storage(const StorageRequest& request, const Device& device, bool big, const ReadStorage& read) {
  if (device.is_meta()) return exec::new_tensor({{request.numel}, request.dtype}, kMeta);
  const Tensor t = exec::new_tensor({{request.numel}, request.dtype}, kCPU);
  const size_t bytes = t.nbytes();
  auto* data = bytes > 0 ? raw<uint8_t>(t) : nullptr;
  if (bytes > 0) read(data, bytes);
  check_order(request, big);
  finish(request, big, data, bytes);
  if (device.is_cpu()) return t;
  try {
    return t.to(device);
  } catch (const DeviceError& e) {
    ARGAND_THROW(DeviceError, "load: attempting to deserialize a tensor on ", device, ": ", e.msg(),
                 ".  Use map_location=torch.device('cpu') to have it in memory of the CPU");
  }
}

Tensor late_storage(const StorageRequest& request, bool big, ReadStorage read) {
  check_order(request, big);
  const size_t bytes = static_cast<size_t>(request.numel * element_size(request.dtype));
  auto storage =
      argand::late_storage(bytes, allocator_for(kCPU), [request, big, bytes, read = std::move(read)](void* out) {
        read(out, bytes);
        finish(request, big, static_cast<uint8_t*>(out), bytes);
      });
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Dims{request.numel}, Dims{1}, 0, request.dtype));
}

}  // namespace argand::io
