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

// Before a network is made: what the file says of its images must not make us allocate more than it holds weights for.
void check_size(const std::string& path, const StateDict& tensors, const std::string& arch, const ImageTask& task) {
  const DenseLayer dense = first_dense_layer(arch, task);
  const Tensor* weight = tensors.find(str(dense.name, ".weight"));
  const bool fits = weight && weight->dim() == 2 && weight->size(0) == dense.outputs && weight->size(1) == dense.inputs;
  ARGAND_CHECK(ValueError, fits, path, ": expected ", dense.name, ".weight of shape [", dense.outputs, ", ",
               dense.inputs, "] for ", arch, " on images of ", task.height, "x", task.width, ", got ",
               weight ? str(weight->sizes()) : std::string("none"));
}

}  // namespace

SavedModel load_model(const std::string& path) {
  const io::TensorFile file = io::load_safetensors(path);
  const std::string& format = fact(path, file.metadata, "format");
  ARGAND_CHECK(ValueError, format == "argand-model-1", path, ": expected a model (argand-model-1), got ", format);
  SavedModel out;
  out.task = {size_fact(path, file.metadata, "channels"), size_fact(path, file.metadata, "height"),
              size_fact(path, file.metadata, "width"), size_fact(path, file.metadata, "classes")};
  out.data = fact(path, file.metadata, "data");
  const std::string& arch = fact(path, file.metadata, "arch");
  check_size(path, file.tensors, arch, out.task);
  out.model = make_classifier(arch, out.task);
  try {
    out.model->load_state_dict(file.tensors);
  } catch (const ValueError& e) {
    throw ValueError(str(path, ": ", e.msg()));
  }
  out.model->eval();
  return out;
}

}  // namespace argand::cli
