// A second reader of PyTorch's zip archives, written from the rules in docs/design/0009-checkpoints.md and of the two
// formats.  It shares no code with argand/io: a walker over the archive, a stack machine over the pickle.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace argand::fuzz {

struct Judgement {
  std::string tree;       // the values as text, the bytes of storages included
  bool large = false;     // takes memory that only the reader counts: nothing is said of the file
  bool computed = false;  // holds what is computed from its elements (conjugated, negated): `tree` says nothing of them
};

// None where the file must be refused.
std::optional<Judgement> judge_torch(std::string_view file);

}  // namespace argand::fuzz
