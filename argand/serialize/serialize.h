// save(value, where...) and load(value, where...): tensors, modules, optimizers and whatever else goes into an archive
// by << and out of one by >>; `where` is what OutputArchive::save_to and InputArchive::load_from take.
//
//   save(model, "model.pt");        load(model, "model.pt");         // a module of the same structure
//   save(tensor, stream);           load(tensor, stream);
#pragma once
#include <utility>

#include "argand/serialize/archive.h"

namespace argand {

template <class Value, class... Where>
void save(const Value& value, Where&&... where) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Where>(where)...);
}
template <class Value, class... Where>
void load(Value& value, Where&&... where) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Where>(where)...);
  archive >> value;
}

namespace serialize {
OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
// Appends.
InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
}  // namespace serialize

}  // namespace argand
