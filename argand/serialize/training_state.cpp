#include "argand/serialize/training_state.h"

#include <cstring>

#include "argand/core/cpu_generator.h"
#include "argand/exec/invoke.h"
#include "argand/io/load.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"

namespace argand::serialize {

namespace {

using io::Value;

std::vector<Generator> generators_of_gpus() {
  std::vector<Generator> out;
  Backend* const backend = find_accelerator();
  if (!backend) return out;
  for (int i = 0; i < backend->device_count(); ++i)
    out.push_back(backend->default_generator(static_cast<DeviceIndex>(i)));
  return out;
}

Value random_states() {
  Value out = Value::dict(), gpus = Value::list();
  out.set("cpu", tensor_of(default_cpu_generator().state()));
  for (const Generator& g : generators_of_gpus()) gpus.push_back(tensor_of(g.state()));
  if (gpus.size() > 0) out.set(device_type_name(accelerator_type()), gpus);
  return out;
}

void set_random_states(const Value& states) {
  default_cpu_generator().set_state(bytes_of(states["cpu"].tensor()));
  const Value* const gpus = states.find(device_type_name(accelerator_type()));
  if (!gpus) return;
  std::vector<Generator> generators = generators_of_gpus();
  for (size_t i = 0; i < std::min(gpus->size(), generators.size()); ++i)
    generators[i].set_state(bytes_of((*gpus)[i].tensor()));
}

}  // namespace

Tensor tensor_of(const std::vector<uint8_t>& bytes) {
  const Tensor t = exec::new_tensor({Dims{static_cast<int64_t>(bytes.size())}, kByte}, kCPU);
  if (!bytes.empty()) std::memcpy(raw<uint8_t>(t), bytes.data(), bytes.size());
  return t;
}

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  ARGAND_CHECK(ValueError, tensor.dtype() == kByte, "a random state must be bytes, got ", tensor.dtype());
  const Tensor t = tensor.cpu().contiguous();
  if (t.numel() == 0) return {};
  const uint8_t* const p = raw<uint8_t>(t);
  return {p, p + t.numel()};
}

TrainingState& TrainingState::add(Part part) {
  for (const Part& other : parts_)
    ARGAND_CHECK(ValueError, other.name != part.name, "TrainingState: there is a part '", part.name, "' already");
  parts_.push_back(std::move(part));
  return *this;
}

Value TrainingState::state(int64_t epoch, int64_t step) const {
  Value parts = Value::dict();
  for (const Part& part : parts_) {
    Value state = Value::with_items(Value::Kind::kOrderedDict);
    for (const auto& item : part.get()) state.set(item.key(), item.value().detach());
    parts.set(part.name, state);
  }
  Value out = Value::dict();
  out.set("epoch", epoch);
  out.set("step", step);
  out.set("random", random_states());
  out.set("parts", parts);
  return out;
}

TrainingState::Position TrainingState::restore(const Value& state) {
  const Position position{state["epoch"].to_int(), state["step"].to_int()};
  std::vector<StateDict> after, before;
  for (const Part& part : parts_) {
    after.push_back(io::tensors_of(state["parts"][part.name]));
    before.emplace_back();
    for (const auto& item : part.get()) before.back().insert(item.key(), item.value().detach().clone());
  }
  const Value random_before = random_states();
  size_t begun = 0;
  try {
    for (const Part& part : parts_) part.set(after[begun++]);
    set_random_states(state["random"]);
  } catch (...) {
    for (size_t i = 0; i < begun; ++i) parts_[i].set(before[i]);
    set_random_states(random_before);
    throw;
  }
  return position;
}

}  // namespace argand::serialize
