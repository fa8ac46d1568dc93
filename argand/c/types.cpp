// Dtypes, devices, memory formats and texts of the C interface.
#include <cstdlib>
#include <cstring>
#include <new>

#include "argand/c/handles.h"
#include "argand/core/dtype_number.h"

namespace argand::c {
namespace {

// The enumerators of the header are the numbers of argand/core/dtype_number.h.
static_assert(pytorch_number(kByte) == ARGAND_UINT8 && pytorch_number(kChar) == ARGAND_INT8 &&
              pytorch_number(kShort) == ARGAND_INT16 && pytorch_number(kInt) == ARGAND_INT32 &&
              pytorch_number(kLong) == ARGAND_INT64 && pytorch_number(kHalf) == ARGAND_FLOAT16 &&
              pytorch_number(kFloat) == ARGAND_FLOAT32 && pytorch_number(kDouble) == ARGAND_FLOAT64 &&
              pytorch_number(kComplexFloat) == ARGAND_COMPLEX64 &&
              pytorch_number(kComplexDouble) == ARGAND_COMPLEX128 && pytorch_number(kBool) == ARGAND_BOOL &&
              pytorch_number(kBFloat16) == ARGAND_BFLOAT16);
static_assert(*memory_format_of_pytorch_number(ARGAND_CHANNELS_LAST_3D) == MemoryFormat::ChannelsLast3d);
// The numbers of device types in PyTorch, by our own.
constexpr argand_device_type kDevices[] = {ARGAND_CPU, ARGAND_CUDA, ARGAND_META,
                                           ARGAND_MPS, ARGAND_XPU,  ARGAND_PRIVATEUSE1};
static_assert(std::size(kDevices) == kNumDeviceTypes);
template <class T, size_t N>
std::optional<int> place(const T (&table)[N], T value) {
  for (size_t i = 0; i < N; ++i)
    if (table[i] == value) return static_cast<int>(i);
  return std::nullopt;
}

}  // namespace

ScalarType to_dtype(argand_dtype dtype, const char* function) {
  const auto found = dtype_of_pytorch_number(dtype);
  ARGAND_CHECK(DtypeError, found, function, ": there is no dtype of number ", dtype);
  return *found;
}

argand_dtype from_dtype(ScalarType dtype) { return static_cast<argand_dtype>(pytorch_number(dtype)); }

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
  const auto found = memory_format_of_pytorch_number(format);
  ARGAND_CHECK(ValueError, found, function, ": there is no memory format of number ", format);
  return *found;
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
  const auto found = dtype_of_pytorch_number(dtype);
  return found ? dtype_name(*found) : "";
}

size_t argand_dtype_size(argand_dtype dtype) {
  const auto found = dtype_of_pytorch_number(dtype);
  return found ? static_cast<size_t>(element_size(*found)) : 0;
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
