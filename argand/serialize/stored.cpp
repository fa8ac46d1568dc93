#include "argand/serialize/stored.h"

#include <charconv>
#include <string_view>

#include "argand/io/torch_file.h"
#include "argand/io/zip.h"
#include "argand/ops/functions.h"

namespace argand::serialize {
namespace {

constexpr std::string_view kRequiresGrad = "requires_grad ", kUndefined = "undefined ", kComplex = "complex128 ",
                           kDevice = "device ", kValue = "value ";

// ---- values as text: the name of the type, then each number after a space

template <class T>
std::string numbers(const char* type, ArrayRef<T> values) {
  std::string out = type;
  for (const T& v : values) out += str(' ', v);
  return out;
}

std::string text_of(const std::string& name, const IValue& value) {
  if (value.isNone()) return "none";
  if (value.isBool()) return str("bool ", value.toBool());
  if (value.isInt()) return str("int ", value.toInt());
  if (value.isDouble()) return str("double ", value.toDouble());
  if (value.isString()) return "string " + value.toStringRef();
  if (value.isIntList()) return numbers<int64_t>("int[]", value.toIntVector());
  if (value.isDoubleList()) return numbers<double>("double[]", value.toDoubleVector());
  ARGAND_THROW(ValueError, "OutputArchive: '", name, "' holds a value of a type that cannot be saved");
}

// All numbers of `text`, separated by single spaces; nothing if there is anything else.
template <class T>
std::optional<std::vector<T>> parse(std::string_view text) {
  std::vector<T> out;
  while (!text.empty()) {
    if (text.front() != ' ') return std::nullopt;
    text.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    out.push_back(value);
  }
  return out;
}

template <class T>
std::optional<IValue> list_of(std::string_view text) {
  auto values = parse<T>(text);
  if (!values) return std::nullopt;
  return IValue(std::move(*values));
}
template <class T>
std::optional<IValue> one_of(std::string_view text) {
  const auto values = parse<T>(text);
  if (!values || values->size() != 1) return std::nullopt;
  return IValue(values->front());
}

std::optional<IValue> value_of(const std::string& text) {
  const size_t space = std::min(text.find(' '), text.size());
  const std::string_view type = std::string_view(text).substr(0, space), rest = std::string_view(text).substr(space);
  if (type == "none" && rest.empty()) return IValue();
  if (type == "bool" && (rest == " true" || rest == " false")) return IValue(rest == " true");
  if (type == "int") return one_of<int64_t>(rest);
  if (type == "double") return one_of<double>(rest);
  if (type == "string" && !rest.empty()) return IValue(std::string(rest.substr(1)));
  if (type == "int[]") return list_of<int64_t>(rest);
  if (type == "double[]") return list_of<double>(rest);
  return std::nullopt;
}

// ---- LibTorch's archives

// A list of numbers or tensors; nothing for one of anything else.
std::optional<IValue> sequence(const io::Value& v) {
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i].is_int()) ints.push_back(v[i].to_int());
    if (v[i].kind() == io::Value::Kind::kDouble) doubles.push_back(v[i].to_double());
    if (v[i].is_tensor()) tensors.push_back(v[i].tensor());
  }
  if (ints.size() == v.size()) return IValue(std::move(ints));
  if (doubles.size() == v.size()) return IValue(std::move(doubles));
  if (tensors.size() == v.size()) return IValue(std::move(tensors));
  return std::nullopt;
}

std::optional<IValue> value_of(const io::Value& v) {
  using Kind = io::Value::Kind;
  switch (v.kind()) {
    case Kind::kNone:
      return IValue();
    case Kind::kBool:
      return IValue(v.to_bool());
    case Kind::kInt:
      return IValue(v.to_int());
    case Kind::kDouble:
      return IValue(v.to_double());
    case Kind::kString:
      return IValue(v.text());
    case Kind::kTensor:
      return IValue(v.tensor());
    case Kind::kList:
    case Kind::kTuple:
      return sequence(v);
    default:
      return std::nullopt;
  }
}

// A module that is reached by several paths has several names.
constexpr size_t kMaxVisits = size_t{1} << 21;

// Values that an archive cannot hold (such as dicts with other keys than strings) are ignored: no archive wrote them.
void collect(const io::Value& object, const std::string& prefix, Entries& out, size_t& visits) {
  for (size_t i = 0; i < object.size(); ++i) {
    ARGAND_CHECK(IoError, visits-- > 0, "InputArchive::load_from: more than ", kMaxVisits, " entries");
    if (!object.key(i).is_string()) continue;
    const io::Value& value = object.value(i);
    const std::string name = prefix + object.key(i).text();
    if (value.kind() == io::Value::Kind::kObject) {
      collect(value, name + ".", out, visits);
    } else if (std::optional<IValue> found = value_of(value)) {
      out.insert(name, *found);
    }
  }
}

}  // namespace

io::TensorFile stored(const Entries& entries) {
  io::TensorFile file;
  for (const auto& entry : entries) {
    const std::string& name = entry.key();
    const auto note = [&](std::string_view what, std::string text) {
      file.metadata.insert(str(what, name), std::move(text));
    };
    if (!entry.value().isTensor()) {
      note(kValue, text_of(name, entry.value()));
      continue;
    }
    const Tensor& tensor = entry.value().toTensor();
    if (!tensor.defined()) {
      note(kUndefined, "");
      continue;
    }
    Tensor elements = tensor.detach();
    if (tensor.requires_grad()) note(kRequiresGrad, "");
    if (tensor.is_accelerator()) note(kDevice, tensor.device().str());
    if (tensor.dtype() == kComplexDouble) {
      note(kComplex, "");
      elements = view_as_real(elements);
    }
    file.tensors.insert(name, elements);
  }
  return file;
}

Entries restored(const io::TensorFile& file, const std::string& path, const std::optional<Device>& device) {
  const auto refuse = [&](const std::string& key, const char* why) {
    throw io::FileError(str(path, ": not a valid archive: metadata '", key, "' ", why), path, 0);
  };
  const auto placed = [&](const std::string& name, const Tensor& tensor) {
    if (device) return tensor.to(*device);
    const std::string key = str(kDevice, name);
    const std::string* saved_on = file.metadata.find(key);
    if (!saved_on) return tensor;
    try {
      if (saved_on->starts_with("cuda:")) return tensor.to(Device(*saved_on));
    } catch (const ValueError&) {  // no number after the colon
    } catch (const DeviceError& e) {
      ARGAND_THROW(DeviceError, path, ": '", name, "' was saved on ", *saved_on,
                   "; to load it elsewhere, give a device, such as kCPU (", e.what(), ")");
    }
    refuse(key, "is no GPU");
    return tensor;
  };
  Entries entries;
  for (const auto& item : file.tensors) entries.insert(item.key(), placed(item.key(), item.value()));
  // In two rounds, as a complex tensor becomes one before it can require grad.
  for (const auto& item : file.metadata) {
    const std::string_view key = item.key();
    if (!key.starts_with(kComplex)) continue;
    IValue* entry = entries.find(std::string(key.substr(kComplex.size())));
    if (!entry) refuse(item.key(), "names no tensor");
    const Tensor pairs = entry->toTensor();
    if (pairs.dtype() != kDouble || pairs.dim() == 0 || pairs.size(-1) != 2) refuse(item.key(), "is not of pairs");
    *entry = view_as_complex(pairs);
  }
  for (const auto& item : file.metadata) {
    const std::string_view key = item.key();
    if (key.starts_with(kUndefined) || key.starts_with(kValue)) {
      const std::string name(key.substr(key.starts_with(kValue) ? kValue.size() : kUndefined.size()));
      if (entries.contains(name)) refuse(item.key(), "names a tensor");
      const auto value = key.starts_with(kValue) ? value_of(item.value()) : std::optional(IValue(Tensor()));
      if (!value) refuse(item.key(), "has no value of a known type");
      entries.insert(name, *value);
    } else if (key.starts_with(kRequiresGrad)) {
      const IValue* entry = entries.find(std::string(key.substr(kRequiresGrad.size())));
      if (!entry || !entry->isTensor()) refuse(item.key(), "names no tensor");
      if (!is_differentiable(entry->toTensor().dtype())) refuse(item.key(), "names a tensor that cannot require grad");
      entry->toTensor().set_requires_grad(true);
    }
  }
  return entries;
}

Entries restored(const io::ByteSource& source, const std::optional<Device>& device) {
  if (!io::ZipDirectory::begins(source)) return restored(io::load_safetensors(source), source.path(), device);
  io::LoadOptions options;
  if (device) options.map_location = [&](const std::string&) { return *device; };
  const io::Value root = io::load_torch(source, options);
  if (root.kind() != io::Value::Kind::kObject)
    throw io::FileError(str(source.path(), ": expected an archive of torch::save, got a ",
                            io::Value::kind_name(root.kind()), " saved by Python; io::load() reads it"),
                        source.path(), 0);
  Entries entries;
  size_t visits = kMaxVisits;
  collect(root, "", entries, visits);
  return entries;
}

}  // namespace argand::serialize
