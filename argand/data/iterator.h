// One pass of a loader: an input iterator over its batches.
#pragma once
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>

#include "argand/data/errors.h"
#include "argand/data/pipeline.h"

namespace argand::data {

template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;  // the end
  explicit Iterator(std::shared_ptr<detail::Pass> pass) : pass_(std::move(pass)) {}

  // The first batch is waited for when it is looked at; copies of an iterator are in the same place.
  Batch& operator*() { return *operator->(); }
  Batch* operator->() {
    void* batch = current();
    ARGAND_CHECK(ValueError, batch,
                 pass_ ? "Attempted to dereference iterator that was past the end"
                       : "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    return static_cast<Batch*>(batch);
  }
  Iterator& operator++() {
    ARGAND_CHECK(ValueError, current(),
                 pass_ ? "Attempted to increment iterator past the end"
                       : "Incrementing the DataLoader's past-the-end iterator is not allowed");
    pass_->advance();
    return *this;
  }
  bool operator==(const Iterator& o) const {
    return this == &o || (at_end() && o.at_end()) || (pass_ && pass_ == o.pass_);
  }

 private:
  void* current() const { return pass_ ? pass_->current() : nullptr; }
  bool at_end() const { return current() == nullptr; }
  std::shared_ptr<detail::Pass> pass_;
};

}  // namespace argand::data
