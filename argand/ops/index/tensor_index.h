// The indices that may be between the brackets of x[...] in Python, for Tensor::index and Tensor::index_put_:
//   x.index({0, Slice(1, None), "...", None, mask})        x[0, 1:, ..., None, mask]
// as LibTorch's torch::indexing.
#pragma once
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::indexing {

inline constexpr std::nullopt_t None = std::nullopt;
enum class EllipsisIndexType : int8_t { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;

inline constexpr int64_t INDEX_MAX = std::numeric_limits<int64_t>::max();
inline constexpr int64_t INDEX_MIN = std::numeric_limits<int64_t>::min();

// start:stop:step with Python's rules for bounds; step > 0.  A missing bound reaches to the end.
class Slice {
 public:
  explicit Slice(std::optional<int64_t> start = {}) : Slice(start, std::nullopt) {}
  Slice(std::optional<int64_t> start, std::optional<int64_t> stop, std::optional<int64_t> step = {})
      : step_(step.value_or(1)),
        start_(start.value_or(step_ < 0 ? INDEX_MAX : 0)),
        stop_(stop.value_or(step_ < 0 ? INDEX_MIN : INDEX_MAX)) {}
  int64_t start() const { return start_; }
  int64_t stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  int64_t step_, start_, stop_;
};

enum class TensorIndexType : int8_t { None, Ellipsis, Integer, Boolean, Slice, Tensor };

class TensorIndex {
 public:
  TensorIndex(std::nullopt_t) : type_(TensorIndexType::None) {}
  TensorIndex(EllipsisIndexType) : type_(TensorIndexType::Ellipsis) {}
  TensorIndex(const char* text);  // "..."; ValueError for anything else
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  TensorIndex(I value) : type_(TensorIndexType::Integer), integer_(static_cast<int64_t>(value)) {}
  template <class B, std::enable_if_t<std::is_same_v<B, bool>, int> = 0>
  TensorIndex(B value) : type_(TensorIndexType::Boolean), integer_(value) {}
  TensorIndex(Slice slice) : type_(TensorIndexType::Slice), slice_(slice) {}
  TensorIndex(Tensor tensor) : type_(TensorIndexType::Tensor), tensor_(std::move(tensor)) {}

  TensorIndexType type() const { return type_; }
  bool is_none() const { return type_ == TensorIndexType::None; }
  bool is_ellipsis() const { return type_ == TensorIndexType::Ellipsis; }
  bool is_integer() const { return type_ == TensorIndexType::Integer; }
  bool is_boolean() const { return type_ == TensorIndexType::Boolean; }
  bool is_slice() const { return type_ == TensorIndexType::Slice; }
  bool is_tensor() const { return type_ == TensorIndexType::Tensor; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  TensorIndexType type_;
  int64_t integer_ = 0;
  Slice slice_;
  Tensor tensor_;
};

// 1:2:1; None, ..., 3, true, a slice or a tensor; (None, 1:2:1).
std::ostream& operator<<(std::ostream& out, const Slice& slice);
std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

// x[indices], a view of x if no tensor or bool is among them; and x[indices] = value, broadcast and converted.
Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices);
void set_item(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value);

}  // namespace argand::indexing
