// Batches on a device, the next one of which is copied while the program works with the current one.
//
//   data::DataLoader loader(dataset, data::DataLoaderOptions(64).workers(2).pin_memory(true));
//   for (const data::Example<>& batch : data::Prefetcher(loader, Device(kCUDA))) ...
//
// One batch is taken from the source ahead of time and copied on a stream of the prefetcher's own; the caller's current
// stream waits for that copy before the batch is handed out, the host does not.  Copies run beside other work
// only if the source gives pinned tensors (DataLoaderOptions::pin_memory).  What the source throws is thrown where
// its batch would have come, and the pass ends there.  On the CPU a batch is handed on as it is, and none is taken
// ahead. A trace (exec/trace.h) shows both, numbered from 0.  Not thread-safe; memory may be dropped at any time, the
// allocators know which stream uses it.
#pragma once
#include <exception>
#include <functional>
#include <iterator>
#include <optional>

#include "argand/data/dataset.h"
#include "argand/exec/stream.h"

namespace argand::data {

class Prefetcher {
 public:
  // Puts the next batch into its argument; false at the end.
  using Source = std::function<bool(Example<>&)>;

  Prefetcher(Source source, const Device& device);
  // Reads the examples in [begin, end).  What `begin` belongs to must outlive the prefetcher.
  template <class Iterator, class End>
  Prefetcher(Iterator begin, End end, const Device& device)
      : Prefetcher(
            [at = std::move(begin), end = std::move(end), first = true](Example<>& out) mutable {
              if (!first && !(at == end)) ++at;
              first = false;
              if (at == end) return false;
              out = *at;
              return true;
            },
            device) {}
  // Reads one pass over a range, which must outlive the prefetcher.
  template <class Range>
  requires requires(Range& range) { range.begin() == range.end(); }
  Prefetcher(Range& range, const Device& device) : Prefetcher(range.begin(), range.end(), device) {}

  // The next batch, on the device; false at the end.
  bool next(Example<>& out);

  class Iterator {
   public:
    using value_type = Example<>;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(Prefetcher* of) : of_(of) { ++*this; }
    const Example<>& operator*() const { return batch_; }
    const Example<>* operator->() const { return &batch_; }
    Iterator& operator++() {
      if (of_ && !of_->next(batch_)) *this = {};
      return *this;
    }
    bool operator==(const Iterator& o) const { return of_ == o.of_; }

   private:
    Prefetcher* of_ = nullptr;
    Example<> batch_;
  };
  Iterator begin() { return Iterator(this); }
  Iterator end() { return {}; }

 private:
  void fetch();

  Source source_;
  Device device_;
  std::optional<Stream> stream_;  // nothing on the CPU
  // The fetched item: a batch whose copies are done at `copied_`, an error, or the end.
  Example<> ahead_;
  Event copied_;
  std::exception_ptr error_;
  bool fetched_ = false, more_ = true;
  int64_t number_ = 0;  // the number of the next batch
};

}  // namespace argand::data
