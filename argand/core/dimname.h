// Names of dimensions, so that programs that use them compile.  No tensor has any: Tensor::refine_names throws.
#pragma once
#include <string>
#include <utility>

namespace argand {

class Symbol {
 public:
  static Symbol dimname(std::string text) { return Symbol(std::move(text)); }
  const std::string& text() const { return text_; }

 private:
  explicit Symbol(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

class Dimname {
 public:
  static Dimname fromSymbol(Symbol name) { return Dimname(std::move(name)); }
  const Symbol& symbol() const { return name_; }

 private:
  explicit Dimname(Symbol name) : name_(std::move(name)) {}
  Symbol name_;
};

}  // namespace argand
