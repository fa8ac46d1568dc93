#include "argand/io/load.h"

#include "argand/io/safetensors.h"
#include "argand/ops/functions.h"

namespace argand::io {

namespace {

// A dict that is reached by many paths has as many names: no more than this are given.
constexpr size_t kMaxVisits = size_t{1} << 21;

Device place(const Device& device, const LoadOptions& options) {
  return options.map_location ? options.map_location(device.str()) : device;
}

void collect(const Value& value, const std::string& prefix, StateDict& out, size_t& visits) {
  for (size_t i = 0; i < value.size(); ++i) {
    ARGAND_CHECK(ValueError, visits-- > 0, "load_state_dict: more than ", kMaxVisits, " values");
    const Value &key = value.key(i), &item = value.value(i);
    if (!item.is_tensor() && !item.is_dict()) continue;
    ARGAND_CHECK(ValueError, key.is_string(), "load_state_dict: expected names as keys, got a ",
                 Value::kind_name(key.kind()));
    if (item.is_tensor())
      out.insert(prefix + key.text(), item.tensor());
    else
      collect(item, prefix + key.text() + ".", out, visits);
  }
}

}  // namespace

Value load(const ByteSource& source, const LoadOptions& options) {
  const auto* input = dynamic_cast<const InputFile*>(&source);
  const bool shards = input && is_shard_index(source);
  if (!shards && !is_safetensors(source)) return load_torch(source, options);
  const SafetensorsOptions how{options.mmap, options.verify};
  const TensorFile file = shards ? load_shards(*input, how) : load_safetensors(source, how);
  const Device device = place(kCPU, options);
  Value out = Value::dict();
  for (const auto& item : file.tensors) out.set(item.key(), device.is_cpu() ? item.value() : item.value().to(device));
  return out;
}

StateDict tensors_of(const Value& value) {
  ARGAND_CHECK(ValueError, value.is_dict(), "load_state_dict: expected a dict of tensors, got a ",
               Value::kind_name(value.kind()));
  StateDict out;
  size_t visits = kMaxVisits;
  collect(value, "", out, visits);
  return out;
}

}  // namespace argand::io
