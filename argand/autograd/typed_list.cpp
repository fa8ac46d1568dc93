#include "argand/autograd/typed_list.h"

#include <algorithm>

namespace argand {
namespace {

template <class T, class Get>
IValue list_by(std::span<const IValue> elements, Get get) {
  std::vector<T> out;
  out.reserve(elements.size());
  for (const IValue& e : elements) out.push_back(get(e));
  return out;
}

}  // namespace

IValue typed_list(std::span<const IValue> elements) {
  const auto all = [&](bool (IValue::*is)() const) {
    return !elements.empty() &&
           std::all_of(elements.begin(), elements.end(), [&](const IValue& e) { return (e.*is)(); });
  };
  if (all(&IValue::isTensor)) return list_by<Tensor>(elements, [](const IValue& e) { return e.toTensor(); });
  if (all(&IValue::isInt)) return list_by<int64_t>(elements, [](const IValue& e) { return e.toInt(); });
  if (all(&IValue::isDouble)) return list_by<double>(elements, [](const IValue& e) { return e.toDouble(); });
  return std::vector<IValue>(elements.begin(), elements.end());
}

}  // namespace argand
