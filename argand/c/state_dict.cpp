#include "argand/c/handles.h"
#include "argand/io/load.h"

using namespace argand;
using namespace argand::c;

argand_error* argand_state_dict_new(argand_state_dict** result) {
  return guarded([&] { give(result, "argand_state_dict_new", StateDict(), io::Metadata()); });
}

void argand_state_dict_free(argand_state_dict* state) { delete state; }

argand_error* argand_state_dict_load(const char* path, argand_device device, argand_state_dict** result) {
  return guarded([&] {
    const char* const function = "argand_state_dict_load";
    needed(path, function, "path");
    const Device to = to_device(device, function);
    argand_state_dict*& out = needed(result, function, "result");
    auto state = std::make_unique<argand_state_dict>();
    const io::InputFile file(path);
    if (io::is_safetensors(file)) {
      io::TensorFile read = io::load_safetensors(file);
      state->tensors = std::move(read.tensors);
      state->texts = std::move(read.metadata);
    } else {
      io::LoadOptions options;
      options.map_location = [](const std::string&) { return Device(kCPU); };
      state->tensors = io::load_state_dict(path, options);
    }
    if (!to.is_cpu())
      for (auto& item : state->tensors) item.value() = item.value().to(to);
    out = state.release();
  });
}

argand_error* argand_state_dict_save(argand_state_dict* state, const char* path) {
  return guarded([&] {
    const char* const function = "argand_state_dict_save";
    const argand_state_dict& s = needed(state, function, "state");
    io::save_safetensors(&needed(path, function, "path"), s.tensors, s.texts);
  });
}

argand_error* argand_state_dict_size(argand_state_dict* state, size_t* size) {
  return guarded([&] {
    const char* const function = "argand_state_dict_size";
    needed(size, function, "size") = needed(state, function, "state").tensors.size();
  });
}

argand_error* argand_state_dict_at(argand_state_dict* state, size_t index, const char** name, argand_tensor** tensor) {
  return guarded([&] {
    const char* const function = "argand_state_dict_at";
    const StateDict& tensors = needed(state, function, "state").tensors;
    ARGAND_CHECK(IndexError, index < tensors.size(), function, ": there are ", tensors.size(), " tensors, got index ",
                 index);
    if (tensor) *tensor = new_handle(tensors[index].value());
    if (name) *name = tensors[index].key().c_str();
  });
}

argand_error* argand_state_dict_get(argand_state_dict* state, const char* name, argand_tensor** tensor) {
  return guarded([&] {
    const char* const function = "argand_state_dict_get";
    const Tensor* const found = needed(state, function, "state").tensors.find(&needed(name, function, "name"));
    ARGAND_CHECK(ValueError, found, function, ": there is no tensor '", name, "'");
    give_tensor(tensor, function, *found);
  });
}

argand_error* argand_state_dict_set(argand_state_dict* state, const char* name, argand_tensor* tensor) {
  return guarded([&] {
    const char* const function = "argand_state_dict_set";
    StateDict& tensors = needed(state, function, "state").tensors;
    const std::string key = &needed(name, function, "name");
    const Tensor& given = tensor_of(tensor, function);
    if (Tensor* const known = tensors.find(key))
      *known = given;
    else
      tensors.insert(key, given);
  });
}

argand_error* argand_state_dict_get_text(argand_state_dict* state, const char* key, const char** text) {
  return guarded([&] {
    const char* const function = "argand_state_dict_get_text";
    const std::string* const found = needed(state, function, "state").texts.find(&needed(key, function, "key"));
    needed(text, function, "text") = found ? found->c_str() : nullptr;
  });
}

argand_error* argand_state_dict_set_text(argand_state_dict* state, const char* key, const char* text) {
  return guarded([&] {
    const char* const function = "argand_state_dict_set_text";
    io::Metadata& texts = needed(state, function, "state").texts;
    const std::string name = &needed(key, function, "key"), value = &needed(text, function, "text");
    if (std::string* const known = texts.find(name))
      *known = value;
    else
      texts.insert(name, value);
  });
}
