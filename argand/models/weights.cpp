#include "argand/models/weights.h"

#include <cstdlib>
#include <filesystem>

#include "argand/base/sha256.h"
#include "argand/base/str.h"
#include "argand/io/file.h"

namespace argand::models {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "https://download.pytorch.org/models/";

// $variable/below, else $XDG_CACHE_HOME/name/below, else ~/.cache/name/below; empty without a home.
std::string cache_folder(const char* variable, const char* name, const char* below) {
  const auto set = [](const char* v) -> const char* {
    const char* text = std::getenv(v);
    return text && *text ? text : nullptr;
  };
  if (const char* folder = set(variable)) return fs::path(folder) / below;
  if (const char* folder = set("XDG_CACHE_HOME")) return fs::path(folder) / name / below;
  if (const char* home = set("HOME")) return fs::path(home) / ".cache" / name / below;
  return {};
}

std::string sha256_of_file(const std::string& path) {
  const io::InputFile file(path);
  std::vector<char> block(size_t{1} << 20);
  Sha256 hash;
  for (int64_t at = 0; at < file.size(); at += static_cast<int64_t>(block.size())) {
    const auto count = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(block.size()), file.size() - at));
    file.read(at, block.data(), count);
    hash.update(block.data(), count);
  }
  return hash.hex();
}

}  // namespace

CachedWeights find_in_cache(const Published& what, const std::vector<std::string>& more) {
  CachedWeights found;
  found.url = kSource + what.file;
  const size_t dash = what.file.rfind('-'), dot = what.file.rfind('.');
  found.sha256 = what.file.substr(dash + 1, dot - dash - 1);
  found.places = {cache_folder("ARGAND_CACHE_DIR", "argand", "models")};
  found.places.insert(found.places.end(), more.begin(), more.end());
  found.places.push_back(cache_folder("TORCH_HOME", "torch", "hub/checkpoints"));
  std::erase(found.places, "");
  for (const std::string& place : found.places) {
    const std::string path = fs::path(place) / what.file;
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    const std::string sha256 = sha256_of_file(path);
    ARGAND_CHECK(IoError, sha256.starts_with(found.sha256), path, ": expected a file whose SHA-256 begins with ",
                 found.sha256, ", got ", sha256, "; remove it, and fetch ", found.url, " again");
    found.path = path;
    break;
  }
  found.advice = str("the weights ", what.name, " of ", what.architecture, " are not here: fetch ", found.url,
                     " and put it into ", found.places.empty() ? "a folder named by $ARGAND_CACHE_DIR" : "",
                     found.places.empty() ? "" : found.places.front(), " as ", what.file);
  return found;
}

const Published* find_published(const std::string& architecture, const std::string& weights) {
  const size_t enumeration = weights.find("_Weights.");
  const std::string name = enumeration == std::string::npos ? weights : weights.substr(enumeration + 9);
  const Published* found = nullptr;
  for (const Published& p : published())
    if (p.architecture == architecture && (name == p.name || name == "DEFAULT")) found = &p;
  return found;
}

std::string weights_file(const std::string& architecture, const std::string& weights) {
  if (const Published* known = find_published(architecture, weights)) {
    const CachedWeights found = find_in_cache(*known);
    ARGAND_CHECK(IoError, !found.path.empty(), found.advice);
    return found.path;
  }
  std::string names;
  for (const Published& p : published())
    if (p.architecture == architecture) names += p.name + ", ";
  std::error_code error;
  ARGAND_CHECK(ValueError, fs::exists(weights, error), architecture, ": expected weights to be a file or one of ",
               names, "DEFAULT; got '", weights, "'");
  return weights;
}

}  // namespace argand::models
