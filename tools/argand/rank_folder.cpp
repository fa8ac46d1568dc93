#include "tools/argand/rank_folder.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <tuple>

#include "argand/io/load.h"

namespace argand::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShared = "shared.pt";
constexpr int64_t kMostRanks = 1'000'000;  // that a name is believed to have
constexpr size_t kMostReasons = 5;

std::string name_of_rank(int64_t rank) { return str("rank-", rank, ".pt"); }
std::string folder_name(const std::string& path) {
  const fs::path p(path);
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

// The same as Python makes of these numbers: a name with other zeros is none of ours.
std::string name_of(const Generation& g) {
  char step[32];
  std::snprintf(step, sizeof step, "step-%09lld", static_cast<long long>(g.step));
  return step + (g.ranks ? str("-", g.ranks, "-ranks") : "") + (g.number ? str(".", g.number) : "");
}

std::string text_at(const io::Value& content, const char* key) {
  const io::Value* const value = content.find(io::Value(std::string(key)));
  return value && value->is_string() ? value->text() : "";
}
std::optional<int64_t> number_at(const io::Value& content, const char* key) {
  const io::Value* const value = content.find(io::Value(std::string(key)));
  return value && value->kind() == io::Value::Kind::kInt ? std::optional(value->to_int()) : std::nullopt;
}

std::string spelled(const std::string& generation, std::optional<int64_t> world_size, std::optional<int64_t> rank) {
  return str(rank ? str("the part of rank ", *rank) : "the shared part", " of ",
             world_size ? str(*world_size) : "an unknown number of", " ranks in ",
             generation.empty() ? "?" : generation);
}

// One file of a save: which save it is of, and what is wrong with it.
struct Part {
  std::string save, why;
};

Part read_part(const Generation& g, const std::string& name, std::optional<int64_t> rank, int64_t& bytes) {
  const std::string path = g.path + "/" + name;
  if (!fs::exists(path)) return {"", name + " is not there"};
  try {
    const io::InputFile file(path);
    bytes += static_cast<int64_t>(file.size());
    io::LoadOptions options;
    options.map_location = [](const std::string&) { return Device(kCPU); };
    options.verify = true;
    const io::Value content = io::load(file, options);
    if (!content.is_dict() || text_at(content, "format") != "argand.checkpoint")
      return {"", name + " is another file: expected a part of a save of DistributedCheckpointFolder"};
    const std::optional<int64_t> world_size = number_at(content, "world_size"), of = number_at(content, "rank");
    const std::string generation = text_at(content, "generation");
    // If a save has no parts of single ranks, the number of ranks does not matter.
    const bool fits = generation == name_of(g) && of == rank && world_size && (g.ranks == 0 || world_size == g.ranks);
    if (!fits)
      return {"", str(name, ": expected ", spelled(name_of(g), g.ranks ? std::optional(g.ranks) : world_size, rank),
                      ", got ", spelled(generation, world_size, of))};
    return {text_at(content, "save"), ""};
  } catch (const io::FileError& e) {
    return {"", str(name, " is damaged: ", e.msg())};
  }
}

std::string joined(const std::vector<std::string>& reasons) {
  std::string text;
  for (size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) text += (i == 0 ? "" : "; ") + reasons[i];
  return reasons.size() > kMostReasons ? text + str("; and ", reasons.size() - kMostReasons, " more") : text;
}

}  // namespace

std::optional<Generation> generation_of(const std::string& path) {
  static const std::regex pattern(R"(step-(\d{9,18})(?:-(\d{1,9})-ranks)?(?:\.(\d{1,9}))?)");
  std::smatch match;
  const std::string name = folder_name(path);
  if (!std::regex_match(name, match, pattern) || !fs::is_directory(path)) return std::nullopt;
  const auto number = [&](size_t i) { return match[i].matched ? std::stoll(match[i].str()) : 0; };
  Generation made{number(1), number(3), number(2), path};
  if (name_of(made) != name) return std::nullopt;
  return made;
}

std::vector<Generation> generations_in(const std::string& folder) {
  std::vector<Generation> all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (auto generation = generation_of(entry.path().string())) all.push_back(std::move(*generation));
  std::sort(all.begin(), all.end(), [](const Generation& a, const Generation& b) {
    return std::tie(a.step, a.number, a.ranks) < std::tie(b.step, b.number, b.ranks);
  });
  return all;
}

std::string why_not_whole(const Generation& g, int64_t& bytes) {
  if (g.ranks > kMostRanks) return str("its name says that it is of ", g.ranks, " ranks");
  std::vector<std::string> reasons;
  const Part shared = read_part(g, kShared, std::nullopt, bytes);
  if (!shared.why.empty()) reasons.push_back(shared.why);
  std::string expected = shared.save, like = kShared;
  for (int64_t rank = 0; rank < g.ranks; ++rank) {
    const Part part = read_part(g, name_of_rank(rank), rank, bytes);
    if (!part.why.empty()) {
      reasons.push_back(part.why);
    } else if (expected.empty()) {
      expected = part.save;
      like = name_of_rank(rank);
    } else if (part.save != expected) {
      reasons.push_back(str(name_of_rank(rank), " is of save ", part.save.substr(0, 8), ", and ", like, " of save ",
                            expected.substr(0, 8)));
    }
  }
  return joined(reasons);
}

int verify_generations(const std::vector<Generation>& generations) {
  std::string newest;
  int status = 0;
  for (const Generation& g : generations) {
    int64_t bytes = 0;
    const std::string why = why_not_whole(g, bytes);
    if (why.empty()) {
      newest = g.path;
      std::printf("%s: step %lld, %s, %lld bytes: whole; all checksums agree\n", g.path.c_str(),
                  static_cast<long long>(g.step),
                  g.ranks ? str("parts of ", g.ranks, " ranks").c_str() : "nothing of single ranks",
                  static_cast<long long>(bytes));
    } else {
      status = 1;
      std::printf("%s: step %lld: not whole: %s\n", g.path.c_str(), static_cast<long long>(g.step), why.c_str());
    }
  }
  if (newest.empty())
    std::printf("none is whole\n");
  else
    std::printf("the newest that is whole: %s\n", newest.c_str());
  return status;
}

}  // namespace argand::cli
