// Names that are kept by their address, such as the op that wrote a storage last, for later error messages.
#pragma once
#include <string_view>

namespace argand {

// The address of a text that is valid until the process ends: a constant, which the compiler checks, or what
// permanent_name() returned.  No other pointer becomes one.
class PermanentName {
 public:
  constexpr PermanentName() = default;
  // For constants with static storage only.
  consteval PermanentName(const char* constant) : text_(constant) {}
  constexpr const char* c_str() const { return text_; }
  constexpr operator const char*() const { return text_; }

 private:
  struct Kept {};
  constexpr PermanentName(const char* text, Kept) : text_(text) {}
  friend PermanentName permanent_name(std::string_view name);

  const char* text_ = "";
};

// The same text at an address that stays valid until the process ends.  Texts that are equal have one address, so the
// memory is bounded by the number of different names.  Thread-safe.  For names that are made at run time; those of ops
// are constants.
PermanentName permanent_name(std::string_view name);

}  // namespace argand
