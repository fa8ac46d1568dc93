#include "argand/serialize/stored.h"

#include <charconv>
#include <string_view>

#include "argand/ops/functions.h"

namespace argand::serialize {
namespace {

constexpr std::string_view kRequiresGrad = "requires_grad ", kUndefined = "undefined ", kComplex = "complex128 ",
                           kValue = "value ";

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
  Entries entries;
  for (const auto& item : file.tensors) entries.insert(item.key(), device ? item.value().to(*device) : item.value());
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

}  // namespace argand::serialize
