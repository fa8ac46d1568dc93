// Parses the code of TorchScript archives: the part of Python that PyTorch prints, and what is close to it.
#pragma once
#include "argand/jit/source.h"
#include "argand/jit/syntax.h"

namespace argand::jit {

struct ParseLimits {
  size_t nesting = 384;  // of expressions and blocks together; one bracket counts three times
};

// SyntaxError with file and line for anything else.  Time and memory are linear in the text.
FileTree parse(const Source& source, const ParseLimits& limits = {});

}  // namespace argand::jit
