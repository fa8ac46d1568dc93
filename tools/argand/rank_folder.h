// Checkpoints of several processes, as Python's argand.checkpoint.DistributedCheckpointFolder writes them: a folder for
// each save, with a file for what is alike on all ranks and one for each rank that has something of its own
// (docs/design/0009-checkpoints.md, python/argand/checkpoint/_generations.py).
//
//   run/step-000001000-4-ranks/shared.pt, rank-0.pt ... rank-3.pt
//   run/step-000001000-4-ranks.1/...                                the second save of that step
//   run/step-000002000/shared.pt                                    nothing of single ranks
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace argand::cli {

struct Generation {
  int64_t step = 0, number = 0, ranks = 0;  // number: which of this step; ranks: how many have a file, 0 if none
  std::string path;
};

// Parses a folder's name; nothing if it is not the name of a save.
std::optional<Generation> generation_of(const std::string& path);
std::vector<Generation> generations_in(const std::string& folder);  // the oldest first
// What is wrong with it, empty if it is whole.  Reads all of it and compares checksums; `bytes` becomes its size.
std::string why_not_whole(const Generation& generation, int64_t& bytes);
// A line for each, which says whether it is whole or what is wrong, and which is the newest that is; 1 if one is not.
int verify_generations(const std::vector<Generation>& generations);

}  // namespace argand::cli
