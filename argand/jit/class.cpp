#include "argand/jit/class.h"

#include <atomic>

#include "argand/jit/function.h"

namespace argand::jit {

namespace {

uint32_t place_of(const std::unordered_map<std::string, uint32_t>& places, const std::string& name) {
  const auto it = places.find(name);
  return it == places.end() ? Class::kAbsent : it->second;
}

}  // namespace

Class::Class() {
  static std::atomic<uint32_t> last{0};
  id = ++last;
}
Class::~Class() = default;

uint32_t Class::find_attribute(const std::string& attribute) const { return place_of(attribute_places, attribute); }
uint32_t Class::find_method(const std::string& method) const { return place_of(method_places, method); }
const Constant* Class::find_constant(const std::string& constant) const {
  for (const Constant& c : constants)
    if (c.name == constant) return &c;
  return nullptr;
}
bool Class::has(const std::string& name) const {
  return find_attribute(name) != kAbsent || find_constant(name) || find_method(name) != kAbsent;
}

Object::Object(std::shared_ptr<const Class> type) : type_(std::move(type)), places_(type_->attributes.size()) {}

const IValue& Object::getAttr(const std::string& name) const {
  const uint32_t i = type_->find_attribute(name);
  if (i != Class::kAbsent) return places_[i];
  const Constant* constant = type_->find_constant(name);
  ARGAND_CHECK(ValueError, constant, "an object of ", type_->name, " has no attribute '", name, "'");
  return constant->value;
}

void Object::setAttr(const std::string& name, IValue value) {
  const uint32_t i = type_->find_attribute(name);
  ARGAND_CHECK(ValueError, i != Class::kAbsent, "an object of ", type_->name, " has no attribute '", name, "' to set");
  const std::string kind = value.tagKind();
  ARGAND_CHECK(ValueError, conform(value, type_->attributes[i].type), "the attribute '", name, "' of ", type_->name,
               " is of type ", type_->attributes[i].type.str(), "; got a value of type ", kind);
  places_[i] = std::move(value);
}

}  // namespace argand::jit
