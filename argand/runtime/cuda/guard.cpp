#include "argand/runtime/cuda/guard.h"

#include <algorithm>
#include <optional>

#include "argand/base/str.h"
#include "argand/runtime/cuda/memory_report.h"

namespace argand::cuda {
namespace {

constexpr uint8_t kCanary = 0xA5;
constexpr uint8_t kPoison = 0xFF;

std::byte* data_begin(const Block& block) { return static_cast<std::byte*>(block.data); }

// The upper canary begins where the request ends, so that it also covers what the size was rounded up by.
std::byte* data_end(const Block& block) { return data_begin(block) + block.requested; }

size_t upper_bytes(const Block& block) { return static_cast<size_t>(block.end() - data_end(block)); }

// The position of the first or the last damaged byte.
std::optional<size_t> damaged_byte(DeviceMemory& device, const std::byte* canary, size_t nbytes, bool last) {
  std::vector<uint8_t> bytes(nbytes);
  if (!device.read(bytes.data(), canary, nbytes)) return std::nullopt;
  const auto damaged = [](uint8_t byte) { return byte != kCanary; };
  if (last) {
    const auto it = std::find_if(bytes.rbegin(), bytes.rend(), damaged);
    return it == bytes.rend() ? std::nullopt : std::optional(static_cast<size_t>(bytes.rend() - it) - 1);
  }
  const auto it = std::find_if(bytes.begin(), bytes.end(), damaged);
  return it == bytes.end() ? std::nullopt : std::optional(static_cast<size_t>(it - bytes.begin()));
}

std::string damage_text(const Block& block, size_t distance, const char* where) {
  const std::string shape = shape_text(block.holder);
  return str("a write out of bounds: ", distance, " bytes ", where, " the memory of ", op_text(block.holder),
             shape.empty() ? "" : " ", shape, " (", block.requested, " bytes)");
}

}  // namespace

void write_guards(DeviceMemory& device, const Block& block, StreamHandle stream) {
  device.fill(block.address, kCanary, kCanaryBytes, stream);
  device.fill(data_begin(block), kPoison, block.requested, stream);
  device.fill(data_end(block), kCanary, upper_bytes(block), stream);
}

std::string find_damage(DeviceMemory& device, const Block& block) {
  // The byte nearest to the data shows how far outside the write began.
  if (const auto at = damaged_byte(device, data_end(block), upper_bytes(block), false))
    return damage_text(block, *at + 1, "after the end of");
  if (const auto at = damaged_byte(device, block.address, kCanaryBytes, true))
    return damage_text(block, kCanaryBytes - *at, "before the start of");
  return "";
}

void poison(DeviceMemory& device, const Block& block, StreamHandle stream) {
  device.fill(block.address, kPoison, block.size, stream);
}

}  // namespace argand::cuda
