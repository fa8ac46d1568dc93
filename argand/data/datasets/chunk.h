// A data set that is read in chunks, such as files of a folder, by threads of its own ahead of the loader:
//
//   struct Files : data::datasets::ChunkDataReader<Example<>> { ... };
//   auto set = data::datasets::make_shared_dataset<data::datasets::ChunkDataset<Files>>(
//       Files(), RandomSampler(0), RandomSampler(0), data::datasets::ChunkDatasetOptions(/*preloader_count=*/2, 64));
//   auto loader = data::make_data_loader(set, 64);
//
// The chunk sampler says which chunk comes next, the example sampler in which order the examples of a chunk (or of
// several: cross_chunk_shuffle_count) come.  Chunks take their turn in the order of the sampler however many threads
// read them, so that batches are the same for any number.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

#include "argand/base/arg.h"
#include "argand/base/error.h"
#include "argand/data/datasets/stateful.h"
#include "argand/data/samplers/random.h"

namespace argand::data::datasets {

// Gives chunk 0 to chunk_count() - 1; several threads may read at once.
template <class Example_, class Chunk = std::vector<Example_>>
class ChunkDataReader {
 public:
  using ExampleType = Example_;
  using ChunkType = Chunk;
  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  // A new pass begins; nobody reads.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  // ValueError for numbers that make no sense.
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count),
        batch_size_(batch_size),
        cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    ARGAND_CHECK(ValueError, preloader_count > 0,
                 "Preloader count is 0. At least one preloader needs to be specified.");
    ARGAND_CHECK(ValueError, batch_size > 0, "Batch size is 0. A positive batch size needs to be specified.");
    ARGAND_CHECK(ValueError, cache_size > 0, "Cache size is 0. A positive cache size needs to be specified.");
    ARGAND_CHECK(ValueError, cache_size >= batch_size,
                 "Cache size is less than batch size. Cache needs to be large enough to hold at least one batch.");
    ARGAND_CHECK(ValueError, cross_chunk_shuffle_count > 0, "cross_chunk_shuffle_count needs to be greater than 0.");
  }
  ARGAND_ARG(size_t, preloader_count);
  ARGAND_ARG(size_t, batch_size);
  ARGAND_ARG(size_t, cache_size);                 // threads wait while so many examples are ready
  ARGAND_ARG(size_t, cross_chunk_shuffle_count);  // chunks whose examples are sampled as one
};

// Thread safety: get_batch() may be called from several threads.  What a reader or the chunk sampler throws reaches
// the call of get_batch() whose turn it is, and ends the pass.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>, typename ChunkReader::ChunkType> {
 public:
  using ChunkType = typename ChunkReader::ChunkType;
  using ExampleType = typename ChunkReader::ExampleType;
  using BatchType = std::optional<ChunkType>;
  using Policy = std::function<void(ChunkType&)>;

  // The policy sees, and may change, what was read before it is sampled.
  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, Policy preprocessing_policy = nullptr)
      : reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { stop(); }

  // The next examples, as many as the options say but for the last time; nothing at the end.  ValueError for another
  // number than theirs.
  BatchType get_batch(size_t batch_size) override {
    ARGAND_CHECK(
        ValueError, batch_size == options_.batch_size(),
        "The requested batch size does not match with the initialized batch size.\n The requested batch size is ",
        batch_size, ", while the dataset is created with batch size equal to ", options_.batch_size());
    std::unique_lock lock(mutex_);
    while (ready_.size() < batch_size && next_chunk(lock)) sample_chunk();
    if (ready_.empty()) return std::nullopt;
    const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(std::min(batch_size, ready_.size()));
    ChunkType batch(std::make_move_iterator(ready_.begin()), std::make_move_iterator(end));
    ready_.erase(ready_.begin(), end);
    waiting_ -= batch.size();
    changed_.notify_all();
    return batch;
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  // Begins a pass: from the first chunk, or where a loaded state was.
  void reset() override {
    stop();
    reader_.reset();
    if (!std::exchange(is_loaded_, false)) chunk_sampler_.reset(reader_.chunk_count());
    ready_.clear();
    waiting_ = given_ = turn_ = 0;
    error_ = nullptr;
    stopping_ = false;
    reading_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) preloaders_.emplace_back([this] { preload(); });
  }
  // Not known before all is read.
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  // The state of the chunk sampler: chunks under way are not given again.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  // The pass that begins next goes on there.
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.load(archive);
    is_loaded_ = true;
  }

 private:
  // A thread: asks the sampler, reads, waits for its turn and for room.  What either throws takes a turn, too.
  void preload() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const size_t number = given_++;
      ChunkType chunk;
      std::exception_ptr error;
      try {
        const auto indices = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
        if (!indices) break;
        lock.unlock();
        chunk = read(*indices);
      } catch (...) {
        error = std::current_exception();
      }
      if (!lock.owns_lock()) lock.lock();
      changed_.wait(lock, [&] { return stopping_ || (turn_ == number && waiting_ < options_.cache_size()); });
      if (stopping_) break;
      ++turn_;
      waiting_ += chunk.size();
      if (error) {
        error_ = error, stopping_ = true;
      } else if (chunk.size() > 0) {
        chunks_.push_back(std::move(chunk));
      }
      changed_.notify_all();
    }
    --reading_;
    changed_.notify_all();
  }

  ChunkType read(const std::vector<size_t>& indices) {
    ChunkType data = reader_.read_chunk(indices[0]);
    for (size_t i = 1; i < indices.size(); ++i) {
      ChunkType more = reader_.read_chunk(indices[i]);
      data.insert(data.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    if (policy_) policy_(data);
    return data;
  }

  // Waits for a chunk; false if there are no more.
  bool next_chunk(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return !chunks_.empty() || error_ || reading_ == 0; });
    if (chunks_.empty() && error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return !chunks_.empty();
  }

  // On the thread that asks for a batch, so that a random sampler draws in an order that no timing changes.
  void sample_chunk() {
    ChunkType chunk = std::move(chunks_.front());
    chunks_.pop_front();
    example_sampler_.reset(chunk.size());
    while (const auto indices = example_sampler_.next(chunk.size()))
      for (const size_t i : *indices) ready_.push_back(std::move(chunk[i]));
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread& t : preloaders_) t.join();
    preloaders_.clear();
    chunks_.clear();
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  Policy policy_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ChunkType> chunks_;   // read, in the order of the sampler
  std::deque<ExampleType> ready_;  // sampled
  size_t waiting_ = 0;             // examples in both
  size_t given_ = 0, turn_ = 0;    // numbers of the readings: given out, added next
  size_t reading_ = 0;             // threads that may still add
  std::exception_ptr error_;
  bool stopping_ = false, is_loaded_ = false;
  std::vector<std::thread> preloaders_;
};

}  // namespace argand::data::datasets
