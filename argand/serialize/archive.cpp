#include "argand/serialize/archive.h"

#include <istream>
#include <iterator>
#include <ostream>

#include "argand/core/grad_mode.h"
#include "argand/io/file.h"
#include "argand/ops/functions.h"
#include "argand/serialize/stored.h"

namespace argand::serialize {

OutputArchive::OutputArchive() : entries_("Entry") {}

void OutputArchive::write(const std::string& key, const IValue& value) { entries_.insert(key, value); }
// harmless: files do not tell buffers from parameters
void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) { entries_.insert(key, IValue(tensor)); }
void OutputArchive::write(const std::string& key, OutputArchive& nested_archive) {
  for (const auto& entry : nested_archive.entries_) entries_.insert(str(key, ".", entry.key()), entry.value());
}

void OutputArchive::save_to(const std::string& filename) {
  const io::TensorFile file = stored(entries_);
  io::save_safetensors(filename, file.tensors, file.metadata);
}

void OutputArchive::save_to(std::ostream& stream) {
  save_to([&](const void* data, size_t count) {
    stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(count));
    return stream ? count : 0;
  });
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& func) {
  const io::TensorFile file = stored(entries_);
  io::write_safetensors(
      file.tensors, file.metadata, [](int64_t) {},
      [&](const void* data, size_t count) {
        const size_t taken = func(data, count);
        ARGAND_CHECK(IoError, taken == count, "OutputArchive::save_to: wrote ", taken, " of ", count,
                     " bytes: the stream takes no more");
      });
}

InputArchive::InputArchive() : entries_(std::make_shared<Entries>("Entry")) {}

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  device_ = device;
  entries_ = std::make_shared<Entries>(restored(io::InputFile(filename), device));
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  const io::MemorySource source("archive in memory", {data, size});
  device_ = device;
  entries_ = std::make_shared<Entries>(restored(source, device));
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  ARGAND_CHECK(IoError, !stream.bad(), "InputArchive::load_from: the stream cannot be read");
  load_from(bytes.data(), bytes.size(), device);
}

void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_func,
                             const std::function<size_t()>& size_func, std::optional<Device> device) {
  std::string bytes(size_func(), '\0');
  const size_t got = read_func(0, bytes.data(), bytes.size());
  ARGAND_CHECK(IoError, got == bytes.size(), "InputArchive::load_from: expected ", bytes.size(), " bytes, got ", got);
  load_from(bytes.data(), bytes.size(), device);
}

const IValue* InputArchive::find(const std::string& key) const { return entries_->find(full_name(key)); }

bool InputArchive::try_read(const std::string& key, IValue& value) {
  const IValue* found = find(key);
  if (found) value = *found;
  return found != nullptr;
}

// harmless: files do not tell buffers from parameters
bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  const IValue* found = find(key);
  if (!found || !found->isTensor()) return false;
  const Tensor& read = found->toTensor();
  if (tensor.defined() && read.defined()) {
    const NoGradGuard no_grad;
    tensor.set_data(read.detach());
    if (tensor.is_leaf() && is_differentiable(read.dtype())) tensor.set_requires_grad(read.requires_grad());
  } else {
    tensor = read;
  }
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  const std::string prefix = full_name(key) + ".";
  for (const auto& entry : *entries_) {
    if (entry.key().rfind(prefix, 0) != 0) continue;
    archive.entries_ = entries_;
    archive.device_ = device_;
    archive.prefix_ = prefix;
    return true;
  }
  return false;
}

void InputArchive::read(const std::string& key, IValue& value) {
  ARGAND_CHECK(ValueError, try_read(key, value), "the archive does not have a field with name '", full_name(key), "'");
}
void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  ARGAND_CHECK(ValueError, try_read(key, tensor, is_buffer), "No such serialized tensor '", full_name(key), "'");
}
void InputArchive::read(const std::string& key, InputArchive& archive) {
  ARGAND_CHECK(ValueError, try_read(key, archive), "No such serialized submodule: '", full_name(key), "'");
}

std::vector<std::string> InputArchive::keys() const {
  OrderedDict<std::string, bool> names;
  for (const auto& entry : *entries_) {
    if (entry.key().rfind(prefix_, 0) != 0) continue;
    std::string name = entry.key().substr(prefix_.size());
    name = name.substr(0, name.find('.'));
    if (!names.contains(name)) names.insert(name, true);
  }
  return names.keys();
}

StateDict InputArchive::state_dict() const {
  StateDict out;
  for (const auto& entry : *entries_)
    if (entry.key().rfind(prefix_, 0) == 0 && entry.value().isTensor())
      out.insert(entry.key().substr(prefix_.size()), entry.value().toTensor());
  return out;
}

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

}  // namespace argand::serialize
