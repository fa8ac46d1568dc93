// The complete state of a training run, from which it can be resumed exactly.
//
//   serialize::TrainingState training;
//   training.add("model", *model).add("optimizer", optimizer).add("scheduler", scheduler).add("loader", loader);
//   folder.save(step, training.state(epoch, step));                       // io/checkpoint_folder.h
//   const auto [epoch, step] = training.restore(folder.load_latest().value);
//
// The value is laid out as Python's argand.checkpoint.training_state lays it out: {"epoch", "step", "random": {"cpu",
// "cuda"}, "parts": {name: its state}}.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "argand/core/state_dict.h"
#include "argand/io/value.h"

namespace argand::serialize {

class TrainingState {
 public:
  struct Position {
    int64_t epoch, step;
  };

  // A part has state_dict() and load_state_dict(StateDict), as modules, optimizers, schedulers, scalers and loaders do;
  // it must outlive this object. Parts are restored in the order of add().  ValueError for a name that exists already.
  template <class Part>
  TrainingState& add(const std::string& name, Part& part) {
    return add({name, [&part] { return part.state_dict(); },
                [&part](const StateDict& state) { part.load_state_dict(state); }});
  }

  // The parts' states, and those of the default generators.  Tensors share memory with the parts.
  io::Value state(int64_t epoch, int64_t step) const;
  // Restores everything; if anything throws, everything is as before.  ValueError for a value of another layout.
  Position restore(const io::Value& state);

 private:
  struct Part {
    std::string name;
    std::function<StateDict()> get;
    std::function<void(const StateDict&)> set;
  };
  TrainingState& add(Part part);
  std::vector<Part> parts_;
};

// Bytes of a generator's state as a tensor, and back; ValueError for another dtype.
Tensor tensor_of(const std::vector<uint8_t>& bytes);
std::vector<uint8_t> bytes_of(const Tensor& tensor);

}  // namespace argand::serialize
