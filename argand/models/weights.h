// Finds files of weights: a file given by path, or a published name in the cache.
#pragma once
#include <string>
#include <vector>

#include "argand/models/tables.h"

namespace argand::models {

// A published file, looked for in $ARGAND_CACHE_DIR/models (else $XDG_CACHE_HOME/argand/models, else
// ~/.cache/argand/models), then in `more`, then where PyTorch keeps it: $TORCH_HOME/hub/checkpoints (else
// $XDG_CACHE_HOME/torch/hub/checkpoints, else ~/.cache/torch/hub/checkpoints).
struct CachedWeights {
  std::string path;                 // empty if it is nowhere
  std::vector<std::string> places;  // the places that were searched
  std::string url, sha256;          // its source, and the first digits of its SHA-256
  std::string advice;               // tells the user which file to put where
};
// IoError if a file exists whose SHA-256 does not match its name.
CachedWeights find_in_cache(const Published& what, const std::vector<std::string>& more = {});

// The published weights called "IMAGENET1K_V1", "DEFAULT" or "ResNet18_Weights.IMAGENET1K_V1"; null if none is.
const Published* find_published(const std::string& architecture, const std::string& weights);

// A file: `weights` itself, or that of the name in the cache.  IoError that says which file to put where if it is not
// there (nothing is downloaded), ValueError if `weights` is neither a name nor a file.
std::string weights_file(const std::string& architecture, const std::string& weights);

}  // namespace argand::models
