// Tensors as text, character for character as PyTorch writes them: to_string() is Python's repr, a stream gets
// LibTorch's format.  Both wait for pending work and copy to the CPU what is elsewhere; neither records anything.
// Thread-safe.
#pragma once
#include <iosfwd>
#include <optional>

#include "argand/core/tensor.h"

namespace argand {

// The words and defaults of torch.set_printoptions; they hold for one call.
struct PrintOptions {
  int precision = 4;                            // digits after the point
  int64_t threshold = 1000;                     // tensors with more elements are shown by their edges
  int64_t edgeitems = 3;                        // elements at each end of a dimension that is cut
  int64_t linewidth = 80;                       // characters; lines break between elements to stay within it
  std::optional<bool> sci_mode = std::nullopt;  // 1.0000e+00 instead of 1.0000; chosen from the values if not given
};

// "tensor([[1., 2.]], requires_grad=True)", as Python's repr; "None" for an undefined tensor.  ValueError for options
// out of range.  to_string(t), declared with Tensor, uses the defaults.
std::string to_string(const Tensor& t, const PrintOptions& options);

// LibTorch's format: columns, then "[ CPUFloatType{1,2} ]".  All elements are written, whatever their number.  The
// format flags and the precision of the stream are as before afterwards.  NotImplementedError for a meta tensor.
std::ostream& print(std::ostream& out, const Tensor& t, int64_t linesize);
std::string type_name(DeviceType device, ScalarType dtype);  // "CPUFloatType"
std::ostream& operator<<(std::ostream& out, const Tensor& t);

// What else LibTorch streams: sizes as [2, 3], a dtype as Float, a device as cuda:0, a number as itself, options as
// TensorOptions(dtype=float, device=cpu (default), ...).
std::ostream& operator<<(std::ostream& out, IntArrayRef values);
std::ostream& operator<<(std::ostream& out, ScalarType t);
namespace detail {
std::ostream& stream_value(std::ostream& out, const Device& device);
std::ostream& stream_value(std::ostream& out, DeviceType type);
std::ostream& stream_value(std::ostream& out, const Scalar& number);
std::ostream& stream_value(std::ostream& out, const TensorOptions& options);
std::ostream& stream_value(std::ostream& out, Layout layout);
std::ostream& stream_value(std::ostream& out, MemoryFormat format);
}  // namespace detail
// A template, so that nothing that merely converts to these is taken for one.
template <class T, std::enable_if_t<std::is_same_v<T, Device> || std::is_same_v<T, DeviceType> ||
                                        std::is_same_v<T, Scalar> || std::is_same_v<T, TensorOptions> ||
                                        std::is_same_v<T, Layout> || std::is_same_v<T, MemoryFormat>,
                                    int> = 0>
std::ostream& operator<<(std::ostream& out, const T& value) {
  return detail::stream_value(out, value);
}

}  // namespace argand
