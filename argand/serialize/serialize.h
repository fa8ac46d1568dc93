// save(value, where...) and load(value, where...): for tensors, modules, optimizers and all types with << into and >>
// from an archive; `where` is an argument of OutputArchive::save_to and InputArchive::load_from.
//
//   save(model, "model.pt");        load(model, "model.pt");         // a module of the same structure
//   save(tensor, stream);           load(tensor, stream);
#pragma once
#include <utility>

#include "argand/io/load.h"
#include "argand/serialize/archive.h"

namespace argand {

template <class Value, class... Where>
void save(const Value& value, Where&&... where) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Where>(where)...);
}
// With a path alone, load() is another function: what the file holds, argand/io/load.h.
template <class Value, class First, class... Where,
          std::enable_if_t<!std::is_same_v<std::decay_t<First>, io::LoadOptions>, int> = 0>
void load(Value& value, First&& first, Where&&... where) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<First>(first), std::forward<Where>(where)...);
  archive >> value;
}

namespace serialize {
OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
// Appends.
InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
}  // namespace serialize

}  // namespace argand
