// The tokens of TorchScript's code: those of Python, with the ends of lines and the changes of indentation.
#pragma once
#include <string>
#include <vector>

#include "argand/jit/source.h"

namespace argand::jit {

struct Token {
  enum class Kind : uint8_t { kName, kInt, kFloat, kImaginary, kString, kSymbol, kNewline, kIndent, kDedent, kEnd };
  Kind kind = Kind::kEnd;
  uint32_t line = 0;
  std::string text;  // of a string: its content
};

// Whether a name may begin with the character, and go on with it.
bool starts_name(char c);
bool continues_name(char c);

// The last token is kEnd.  SyntaxError for what is no token, and for more than `max_tokens`.
std::vector<Token> tokens_of(const Source& source, size_t max_tokens = size_t{1} << 24);

}  // namespace argand::jit
