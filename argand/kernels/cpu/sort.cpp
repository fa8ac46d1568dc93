#include "argand/kernels/cpu/sort.h"

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/kernels/cpu/sort_entries.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements that one thread takes at a time

// Adjacent columns share the cache lines of their elements, so a few of them are read together.
int64_t columns_together(const SortRows& r) {
  constexpr int64_t kMostColumns = 16, kMostElements = 1 << 16;
  return std::clamp<int64_t>(kMostElements / std::max<int64_t>(r.n, 1), 1, std::min(kMostColumns, r.inner));
}

// Reads the rows of a group of columns as entries, lets `work` reorder each, and writes what it leaves in front.
template <class T, class Entry>
class Rows {
 public:
  Rows(const SortRows& r, bool descending, int64_t count, void* values, int64_t* indices)
      : r_(r),
        turn_(descending ? kNanKey<T> : SortKey<T>{0}),
        count_(count),
        values_(static_cast<T*>(values)),
        indices_(indices) {}

  // `work(entries, other)` has n entries and as much working memory.
  template <class Work>
  void with_all_entries(Work work) const {
    const int64_t together = columns_together(r_), groups = (r_.inner + together - 1) / together;
    parallel_for(0, r_.outer * groups, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, r_.n * together)),
                 [&](int64_t begin, int64_t end) {
                   ScratchBuffer<Entry> buffer(r_.n * (together + 1));
                   for (int64_t g = begin; g < end; ++g) {
                     const int64_t o = g / groups, first = g % groups * together;
                     const int64_t columns = std::min(together, r_.inner - first);
                     load(o, first, columns, buffer.data());
                     for (int64_t c = 0; c < columns; ++c) {
                       Entry* entries = buffer.data() + c * r_.n;
                       work(entries, buffer.data() + together * r_.n);
                       store(o, first + c, entries);
                     }
                   }
                 });
  }

  // The first few without memory for all: a heap of the best so far, whose top is the worst of them.
  void with_heap() const {
    parallel_for(0, r_.outer * r_.inner, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, r_.n)),
                 [&](int64_t begin, int64_t end) {
                   ScratchBuffer<Entry> heap(count_);
                   for (int64_t row = begin; row < end; ++row) {
                     const int64_t o = row / r_.inner, i = row % r_.inner;
                     keep_first(in() + o * r_.n * r_.inner + i, heap.data());
                     store(o, i, heap.data());
                   }
                 });
  }

 private:
  const T* in() const { return static_cast<const T*>(r_.in); }
  Entry entry(T value, int64_t at) const { return Entry::make(static_cast<SortKey<T>>(sort_key(value) ^ turn_), at); }

  void load(int64_t o, int64_t first, int64_t columns, Entry* entries) const {
    const T* from = in() + o * r_.n * r_.inner + first;
    for (int64_t j = 0; j < r_.n; ++j, from += r_.inner)
      for (int64_t c = 0; c < columns; ++c) entries[c * r_.n + j] = entry(from[c], j);
  }

  void keep_first(const T* from, Entry* heap) const {
    for (int64_t j = 0; j < count_; ++j) heap[j] = entry(from[j * r_.inner], j);
    std::make_heap(heap, heap + count_);
    for (int64_t j = count_; j < r_.n; ++j) {
      const Entry e = entry(from[j * r_.inner], j);
      if (!(e < heap[0])) continue;
      std::pop_heap(heap, heap + count_);
      heap[count_ - 1] = e;
      std::push_heap(heap, heap + count_);
    }
    std::sort_heap(heap, heap + count_);
  }

  void store(int64_t o, int64_t i, const Entry* entries) const {
    const T* from = in() + o * r_.n * r_.inner + i;
    const int64_t to = o * count_ * r_.inner + i;
    for (int64_t j = 0; j < count_; ++j) {
      indices_[to + j * r_.inner] = entries[j].at();
      if (values_) values_[to + j * r_.inner] = from[entries[j].at() * r_.inner];
    }
  }

  const SortRows& r_;
  const SortKey<T> turn_;
  const int64_t count_;
  T* const values_;
  int64_t* const indices_;
};

template <class F>
void with_rows(const SortRows& r, bool descending, int64_t count, void* values, int64_t* indices, F f) {
  dispatch<kRealTypes>(r.type, "sort", [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) <= 4) {
      if (r.n <= std::numeric_limits<uint32_t>::max())
        return f(T(), Rows<T, PackedEntry>(r, descending, count, values, indices));
    }
    f(T(), Rows<T, WideEntry>(r, descending, count, values, indices));
  });
}

// Moves the picked entry of a row to the front.
template <class T, class Entry>
void bring_to_front(Entry* entries, Entry* other, int64_t n, Pick what, int64_t nth) {
  const auto is_nan = [](const Entry& e) { return kHasNan<T> && e.key() == kNanKey<T>; };
  Entry* chosen = entries;
  if (what == Pick::kMode) {
    sort_entries(entries, other, n, 8 * sizeof(T));
    for (int64_t i = 1, start = 0, most = 1; i < n; ++i) {
      if (entries[i].key() != entries[start].key() || is_nan(entries[i])) start = i;  // NaN equals nothing
      if (i - start + 1 <= most) continue;
      most = i - start + 1;
      chosen = entries + i;
    }
  } else {
    if (what == Pick::kMedian) {
      nth = (n - 1) / 2;
      const Entry* first_nan = std::find_if(entries, entries + n, is_nan);
      if (first_nan != entries + n) {
        entries[0] = *first_nan;
        return;
      }
    } else if (what == Pick::kNanMedian) {
      nth = std::max<int64_t>(n - std::count_if(entries, entries + n, is_nan) - 1, 0) / 2;
    }
    std::nth_element(entries, entries + nth, entries + n);
    chosen = entries + nth;
  }
  entries[0] = *chosen;
}

}  // namespace

void sort_first(const SortRows& rows, int64_t count, bool descending, void* values, int64_t* indices) {
  if (count == 0 || rows.outer * rows.inner == 0) return;
  with_rows(rows, descending, count, values, indices, [&](auto element, const auto& all) {
    constexpr int kKeyBits = 8 * sizeof(element);
    if (count * 64 <= rows.n) return all.with_heap();
    all.with_all_entries([&](auto* entries, auto* other) {
      // Finding the first `count` pays when most of the sort is saved by it.
      if (count > rows.n / 4) return sort_entries(entries, other, rows.n, kKeyBits);
      std::nth_element(entries, entries + count, entries + rows.n);
      std::sort(entries, entries + count);
    });
  });
}

void pick(const SortRows& rows, Pick what, int64_t nth, void* values, int64_t* indices) {
  if (rows.outer * rows.inner == 0) return;
  with_rows(rows, false, 1, values, indices, [&](auto element, const auto& all) {
    all.with_all_entries(
        [&](auto* entries, auto* other) { bring_to_front<decltype(element)>(entries, other, rows.n, what, nth); });
  });
}

}  // namespace argand::cpu
