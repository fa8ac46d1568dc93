// Samples in tar archives, as WebDataset writes them: members that follow each other and are called alike up to the
// first dot of the last part of their names are one sample, and what follows the dot names its fields.
//
//   train-0000.tar:  0001.jpg 0001.cls 0002.jpg 0002.cls ...
//
// A pass goes through the shards in an order of its own, and gives out a sample drawn from a window of those that come
// next.  The order depends on the seed, the pass and the window alone, so where a pass stands is two numbers, and going
// on reads headers only.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "argand/data/datasets/stateful.h"

namespace argand::data::datasets {

struct TarSample {
  std::string key;                                          // "folder/0001"
  std::vector<std::pair<std::string, std::string>> fields;  // ("jpg", bytes), in the order of the archive
};

struct TarShardsOptions {
  // Samples to draw the next one from; 0: all in the order of the archives and of `paths`.
  int64_t window = 0;
  uint64_t seed = 0;
  // The index of this reader, and the number of readers among which the shards are divided.
  int64_t reader = 0, readers = 1;
};

class TarShards : public StatefulDataset<TarShards, std::vector<TarSample>> {
 public:
  // ValueError for no paths or numbers that make no sense.  Files are opened when they are reached; FileError for what
  // is damaged, and for a member without an extension or a field that a sample has twice.
  explicit TarShards(std::vector<std::string> paths, const TarShardsOptions& options = {});
  ~TarShards() override;

  // The next samples, at most so many; nothing at the end of the pass.
  std::optional<std::vector<TarSample>> get_batch(size_t size) override;
  std::optional<size_t> size() const override { return std::nullopt; }
  // The next pass, from its beginning, unless nothing was given out of this one.
  void reset() override;
  // Pass `epoch`, after `given` samples of it.
  void start(int64_t epoch, int64_t given = 0);
  int64_t epoch() const;
  int64_t given() const;

  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  struct Pass;
  const std::unique_ptr<Pass> pass_;
};

}  // namespace argand::data::datasets
