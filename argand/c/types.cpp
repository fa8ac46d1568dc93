// Dtypes, devices, memory formats and texts of the C interface.
#include <cstdlib>
#include <cstring>
#include <new>

#include "argand/c/handles.h"

namespace argand::c {
namespace {

// Their numbers in PyTorch, by our own.
constexpr argand_dtype kDtypes[] = {ARGAND_UINT8,     ARGAND_INT8,       ARGAND_INT16,   ARGAND_INT32,
                                    ARGAND_INT64,     ARGAND_FLOAT16,    ARGAND_FLOAT32, ARGAND_FLOAT64,
                                    ARGAND_COMPLEX64, ARGAND_COMPLEX128, ARGAND_BOOL,    ARGAND_BFLOAT16};
static_assert(std::size(kDtypes) == kNumScalarTypes);
constexpr argand_device_type kDevices[] = {ARGAND_CPU, ARGAND_CUDA, ARGAND_META,
                                           ARGAND_MPS, ARGAND_XPU,  ARGAND_PRIVATEUSE1};
static_assert(std::size(kDevices) == kNumDeviceTypes);
constexpr argand_memory_format kFormats[] = {ARGAND_CONTIGUOUS, ARGAND_PRESERVE, ARGAND_CHANNELS_LAST,
                                             ARGAND_CHANNELS_LAST_3D};

template <class T, size_t N>
std::optional<int> place(const T (&table)[N], T value) {
  for (size_t i = 0; i < N; ++i)
    if (table[i] == value) return static_cast<int>(i);
  return std::nullopt;
}

}  // namespace

ScalarType to_dtype(argand_dtype dtype, const char* function) {
  const auto at = place(kDtypes, dtype);
  ARGAND_CHECK(DtypeError, at, function, ": there is no dtype of number ", dtype);
  return static_cast<ScalarType>(*at);
}

argand_dtype from_dtype(ScalarType dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

Device to_device(const argand_device& device, const char* function) {
  const auto at = place(kDevices, device.type);
  ARGAND_CHECK(DeviceError, at, function, ": there is no device type of number ", device.type);
  ARGAND_CHECK(DeviceError, device.index >= -1 && device.index <= 127, function,
               ": expected an index of a device, or -1 for the current one, got ", device.index);
  return Device(static_cast<DeviceType>(*at), static_cast<DeviceIndex>(device.index));
}

argand_device from_device(const Device& device) {
  return {kDevices[static_cast<size_t>(device.type())], device.index()};
}

MemoryFormat to_memory_format(argand_memory_format format, const char* function) {
  const auto at = place(kFormats, format);
  ARGAND_CHECK(ValueError, at, function, ": there is no memory format of number ", format);
  return static_cast<MemoryFormat>(*at);
}

char* new_text(std::string_view text) {
  auto* const out = static_cast<char*>(std::malloc(text.size() + 1));
  if (!out) throw std::bad_alloc();
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return out;
}

}  // namespace argand::c

using namespace argand;
using namespace argand::c;

uint32_t argand_abi_version(void) { return ARGAND_ABI_VERSION; }
const char* argand_version(void) { return ARGAND_VERSION; }

void argand_text_free(char* text) { std::free(text); }

argand_error* argand_dtype_parse(const char* name, argand_dtype* dtype) {
  return guarded([&] {
    const auto parsed = parse_dtype(&needed(name, "argand_dtype_parse", "name"));
    ARGAND_CHECK(DtypeError, parsed, "argand_dtype_parse: there is no dtype '", name, "'");
    needed(dtype, "argand_dtype_parse", "dtype") = from_dtype(*parsed);
  });
}

const char* argand_dtype_name(argand_dtype dtype) {
  const auto at = place(kDtypes, dtype);
  return at ? dtype_name(static_cast<ScalarType>(*at)) : "";
}

size_t argand_dtype_size(argand_dtype dtype) {
  const auto at = place(kDtypes, dtype);
  return at ? static_cast<size_t>(element_size(static_cast<ScalarType>(*at))) : 0;
}

argand_dtype argand_get_default_dtype(void) { return from_dtype(get_default_dtype()); }

argand_error* argand_set_default_dtype(argand_dtype dtype) {
  return guarded([&] { set_default_dtype(to_dtype(dtype, "argand_set_default_dtype")); });
}

argand_error* argand_device_parse(const char* text, argand_device* device) {
  return guarded([&] {
    needed(device, "argand_device_parse", "device") =
        from_device(Device(std::string_view(&needed(text, "argand_device_parse", "text"))));
  });
}

argand_error* argand_device_text(argand_device device, char** text) {
  return guarded([&] { give_text(text, "argand_device_text", to_device(device, "argand_device_text").str()); });
}
