#include "argand/data/datasets/tar_shards.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <random>

#include "argand/io/tar.h"
#include "argand/serialize/archive.h"

namespace argand::data::datasets {

namespace {

// The position of a sample.
struct Place {
  std::shared_ptr<io::InputFile> file;
  std::string key;
  std::vector<std::pair<std::string, io::TarMember>> fields;
};

// "a/b.c/0001.seg.png" is field "seg.png" of "a/b.c/0001".
std::pair<std::string, std::string> split(const io::InputFile& file, const std::string& name) {
  const size_t slash = name.rfind('/'), begin = slash == name.npos ? 0 : slash + 1, dot = name.find('.', begin);
  if (dot == name.npos || dot == begin || dot + 1 == name.size())
    throw io::FileError(str("'", file.path(), "': member '", name, "': expected a name and an extension (0001.jpg)"),
                        file.path(), 0);
  return {name.substr(0, dot), name.substr(dot + 1)};
}

// From 0 to n - 1.  As the standard's distribution may differ between libraries, one of our own.
size_t below(std::mt19937_64& random, size_t n) {
  const uint64_t most = random.max() - random.max() % n;
  for (;;)
    if (const uint64_t x = random(); x < most) return static_cast<size_t>(x % n);
}

}  // namespace

// All is called under `mutex`.
struct TarShards::Pass {
  const std::vector<std::string> paths;
  const TarShardsOptions options;
  std::mutex mutex;
  int64_t epoch = 0, given = 0;
  std::mt19937_64 random;
  std::deque<std::string> shards;  // those to come
  std::shared_ptr<io::InputFile> file;
  std::optional<io::TarReader> reader;
  std::optional<io::TarMember> ahead;  // the first member of the sample after the one that take() gave
  std::vector<Place> window;

  Pass(std::vector<std::string> p, const TarShardsOptions& o) : paths(std::move(p)), options(o) {}
  void begin(int64_t number);
  std::optional<Place> take();
  std::optional<Place> draw();
};

TarShards::TarShards(std::vector<std::string> paths, const TarShardsOptions& options)
    : pass_(std::make_unique<Pass>(std::move(paths), options)) {
  ARGAND_CHECK(ValueError, !pass_->paths.empty(), "TarShards: expected the paths of archives, got none");
  ARGAND_CHECK(ValueError, options.window >= 0, "TarShards: expected window >= 0, got ", options.window);
  ARGAND_CHECK(ValueError, options.readers > 0 && options.reader >= 0 && options.reader < options.readers,
               "TarShards: expected 0 <= reader < readers, got ", options.reader, " of ", options.readers);
  pass_->begin(0);
}

TarShards::~TarShards() = default;

void TarShards::Pass::begin(int64_t number) {
  epoch = number;
  given = 0;
  std::seed_seq seed{static_cast<uint32_t>(options.seed), static_cast<uint32_t>(options.seed >> 32),
                     static_cast<uint32_t>(epoch), static_cast<uint32_t>(static_cast<uint64_t>(epoch) >> 32)};
  random.seed(seed);
  std::vector<std::string> order = paths;
  if (options.window > 0)
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  shards.clear();
  for (size_t i = 0; i < order.size(); ++i)
    if (static_cast<int64_t>(i) % options.readers == options.reader) shards.push_back(order[i]);
  reader.reset();
  file.reset();
  ahead.reset();
  window.clear();
}

// The next sample in the order of the archives.
std::optional<Place> TarShards::Pass::take() {
  for (;;) {
    if (!reader) {
      if (shards.empty()) return std::nullopt;
      file = std::make_shared<io::InputFile>(shards.front());
      reader.emplace(*file);
      shards.pop_front();
      ahead = reader->next();
    }
    if (!ahead) {
      reader.reset();
      continue;
    }
    Place place{file, split(*file, ahead->name).first, {}};
    for (; ahead; ahead = reader->next()) {
      auto [key, field] = split(*file, ahead->name);
      if (key != place.key) break;
      for (const auto& there : place.fields)
        if (there.first == field)
          throw io::FileError(str("'", file->path(), "': sample '", key, "' has field '", field, "' twice"),
                              file->path(), 0);
      place.fields.emplace_back(std::move(field), *ahead);
    }
    return place;
  }
}

std::optional<Place> TarShards::Pass::draw() {
  std::optional<Place> drawn;
  if (options.window == 0) {
    drawn = take();
  } else {
    while (static_cast<int64_t>(window.size()) < options.window) {
      auto next = take();
      if (!next) break;
      window.push_back(std::move(*next));
    }
    if (window.empty()) return std::nullopt;
    const size_t i = below(random, window.size());
    drawn = std::move(window[i]);
    window[i] = std::move(window.back());
    window.pop_back();
  }
  if (drawn) ++given;
  return drawn;
}

std::optional<std::vector<TarSample>> TarShards::get_batch(size_t size) {
  const std::lock_guard lock(pass_->mutex);
  std::vector<TarSample> batch;
  while (batch.size() < size) {
    const auto place = pass_->draw();
    if (!place) break;
    TarSample& sample = batch.emplace_back(TarSample{place->key, {}});
    for (const auto& [field, member] : place->fields) {
      std::string bytes(static_cast<size_t>(member.size), '\0');
      place->file->read(member.offset, bytes.data(), bytes.size());
      sample.fields.emplace_back(field, std::move(bytes));
    }
  }
  if (batch.empty()) return std::nullopt;
  return batch;
}

void TarShards::reset() {
  const std::lock_guard lock(pass_->mutex);
  if (pass_->given > 0) pass_->begin(pass_->epoch + 1);
}

void TarShards::start(int64_t epoch, int64_t given) {
  ARGAND_CHECK(ValueError, epoch >= 0 && given >= 0, "TarShards: expected epoch and given >= 0, got ", epoch, " and ",
               given);
  const std::lock_guard lock(pass_->mutex);
  pass_->begin(epoch);
  while (pass_->given < given)
    ARGAND_CHECK(ValueError, pass_->draw(), "TarShards: expected a place in the pass, got ", given,
                 " samples given of ", pass_->given, ": are these the archives of before?");
}

int64_t TarShards::epoch() const {
  const std::lock_guard lock(pass_->mutex);
  return pass_->epoch;
}
int64_t TarShards::given() const {
  const std::lock_guard lock(pass_->mutex);
  return pass_->given;
}

void TarShards::save(serialize::OutputArchive& archive) const {
  const std::lock_guard lock(pass_->mutex);
  archive.write("epoch", pass_->epoch);
  archive.write("given", pass_->given);
}

void TarShards::load(serialize::InputArchive& archive) {
  IValue epoch, given;
  archive.read("epoch", epoch);
  archive.read("given", given);
  start(epoch.toInt(), given.toInt());
}

}  // namespace argand::data::datasets
