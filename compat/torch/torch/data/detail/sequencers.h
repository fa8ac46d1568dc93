// The order of results that workers finish in any order.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "torch/types.h"

namespace torch::data::detail::sequencers {

template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  // The next result; `next_result` gives results until none is left.
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

// In the order of arrival.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  std::optional<Result> next(typename Sequencer<Result>::ResultProducer next_result) override { return next_result(); }
};

// In the order of `sequence_number`; up to `max_jobs` results wait here for the next one.
template <class Result>
struct OrderedSequencer final : Sequencer<Result> {
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}
  std::optional<Result> next(typename Sequencer<Result>::ResultProducer next_result) override {
    std::optional<Result>& slot = place_of(next_sequence_number_);
    while (!slot) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      const size_t number = result->sequence_number;
      ARGAND_CHECK(ValueError, number - next_sequence_number_ < buffer_.size(), "OrderedSequencer: expected one of ",
                   buffer_.size(), " results from ", next_sequence_number_, ", got number ", number);
      place_of(number) = std::move(result);
    }
    ++next_sequence_number_;
    return std::exchange(slot, std::nullopt);
  }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;

 private:
  std::optional<Result>& place_of(size_t number) { return buffer_[number % buffer_.size()]; }
};

}  // namespace torch::data::detail::sequencers
