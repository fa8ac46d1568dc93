#include "tools/argand/saved_model.h"

#include <charconv>

#include "argand/io/safetensors.h"

namespace argand::cli {
namespace {

const std::string& fact(const std::string& path, const io::Metadata& m, const char* key) {
  const std::string* text = m.find(key);
  ARGAND_CHECK(ValueError, text, path, ": not a model of `argand train`: it does not say its ", key);
  return *text;
}

int64_t size_fact(const std::string& path, const io::Metadata& m, const char* key) {
  const std::string& text = fact(path, m, key);
  int64_t v = 0;
  const bool valid = std::from_chars(text.data(), text.data() + text.size(), v).ptr == text.data() + text.size();
  ARGAND_CHECK(ValueError, valid && v > 0 && v <= 65536, path, ": ", key, " must be a number from 1 to 65536, got '",
               text, "'");
  return v;
}

}  // namespace

SavedModel load_model(const std::string& path) {
  const io::TensorFile file = io::load_safetensors(path);
  SavedModel out;
  out.task = {size_fact(path, file.metadata, "channels"), size_fact(path, file.metadata, "height"),
              size_fact(path, file.metadata, "width"), size_fact(path, file.metadata, "classes")};
  out.data = fact(path, file.metadata, "data");
  out.model = make_classifier(fact(path, file.metadata, "arch"), out.task);
  out.model->load_state_dict(file.tensors);
  out.model->eval();
  return out;
}

}  // namespace argand::cli
