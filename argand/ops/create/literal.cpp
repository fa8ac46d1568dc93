#include "argand/ops/create/literal.h"

#include "argand/exec/invoke.h"
#include "argand/ops/convert_args.h"
#include "argand/ops/functions.h"

namespace argand {

TensorLiteral::TensorLiteral(std::initializer_list<TensorLiteral> parts) : dtype_(get_default_dtype()), braces_(true) {
  sizes_.push_back(static_cast<int64_t>(parts.size()));
  if (parts.size() == 0) return;
  const TensorLiteral& first = *parts.begin();
  dtype_ = first.dtype_;
  sizes_.insert_all(first.sizes_);
  for (const TensorLiteral& part : parts) {
    ARGAND_CHECK(ShapeError, part.sizes_ == first.sizes_,
                 "tensor: Expected all sub-lists to have sizes: ", first.sizes_,
                 ", but got sub-list with sizes: ", part.sizes_);
    dtype_ = promote_types(dtype_, part.dtype_);
    values_.insert(values_.end(), part.values_.begin(), part.values_.end());
  }
}

Tensor tensor(const TensorLiteral& literal, const TensorOptions& options) {
  const ScalarType written = literal.dtype();
  const ScalarType plain = is_integral(written) && written != kByte && written != kChar && written != kShort ? kLong
                           : written == kFloat || written == kDouble ? get_default_dtype()
                                                                     : written;
  const ScalarType dtype = options.dtype_opt().value_or(plain);
  Tensor t = exec::new_tensor({literal.sizes(), dtype}, kCPU);
  dispatch<kAllTypes>(dtype, "tensor", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = raw<T>(t);
    for (const Scalar& v : literal.values()) {
      ARGAND_CHECK(ValueError, is_complex(dtype) || !v.isComplex() || v.to<std::complex<double>>().imag() == 0,
                   "tensor: value cannot be converted to type ",
                   dtype == kFloat    ? "float"
                   : dtype == kDouble ? "double"
                                      : dtype_name(dtype),
                   " without overflow: can not do torch::tensor(complex, dtype=non-complex) because complex can not be "
                   "casted to real number without loss of information, got ",
                   v);
      *p++ = v.to<T>();
    }
  });
  if (options.has_device()) t = t.to(options.device());
  return ops::as_leaf(std::move(t), options);
}

}  // namespace argand
