#include "tests/window/model.h"

#include <cstring>

#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

namespace argand::fuzz {
namespace {

// Calls f(element offset) for all indices in row-major order.
template <class F>
void each_offset(const Dims& sizes, const Dims& strides, int64_t offset, F f) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  Dims index(sizes.size(), 0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = offset;
    for (size_t d = 0; d < sizes.size(); ++d) at += index[d] * strides[d];
    f(at);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

char* bytes_at(const Tensor& t) { return static_cast<char*>(t.impl().data()); }

Tensor one_element(ScalarType dtype, double x) {
  const Tensor t = exec::new_tensor({Dims{1}, dtype}, kCPU);
  dispatch<kAllTypes>(dtype, "fuzz", [&](auto tag) {
    using T = typename decltype(tag)::type;
    *reinterpret_cast<T*>(bytes_at(t)) = Scalar(x).to<T>();
  });
  return t;
}

}  // namespace

Tensor pattern_tensor(const Dims& sizes, ScalarType dtype, double x) {
  Tensor t = exec::new_tensor({sizes, dtype}, kCPU);
  dispatch<kAllTypes>(dtype, "fuzz", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < t.numel(); ++i)
      reinterpret_cast<T*>(bytes_at(t))[i] =
          Scalar(is_integral(dtype, true) ? std::abs(pattern(i, x)) * 4 : pattern(i, x)).to<T>();
  });
  return t;
}

Tensor Model::dense(const View& v) {
  Tensor t = exec::new_tensor({v.sizes, v.dtype}, kCPU);
  const int64_t item = element_size(v.dtype);
  char* to = bytes_at(t);
  each_offset(v.sizes, v.strides, v.offset, [&](int64_t at) {
    std::memcpy(to, v.bytes->data() + at * item, static_cast<size_t>(item));
    to += item;
  });
  return t;
}

void Model::store(const View& to, const Tensor& dense) {
  const int64_t item = element_size(to.dtype);
  const char* from = bytes_at(dense);
  each_offset(to.sizes, to.strides, to.offset, [&](int64_t at) {
    std::memcpy(to.bytes->data() + at * item, from, static_cast<size_t>(item));
    from += item;
  });
}

void Model::define(int out, const Tensor& metadata, const Tensor& value) {
  View& v = slot(out);
  v = {std::make_shared<std::vector<char>>(metadata.storage()->nbytes()), metadata.impl().sizes,
       metadata.impl().strides, metadata.storage_offset(), metadata.dtype()};
  store(v, value.contiguous());
}

std::vector<double> Model::values(int i) const {
  const Tensor t = dense(slot(i)).to(kDouble);
  const auto* p = reinterpret_cast<const double*>(bytes_at(t));
  return {p, p + t.numel()};
}

void Model::run(const Call& c, const Tensor& metadata) {
  Tensor in[3];
  for (int i = 0; i < 3; ++i)
    if (c.in[i] >= 0 && slot(c.in[i]).bytes) in[i] = dense(slot(c.in[i]));
  switch (c.kind) {
    case Call::kNew:
    case Call::kBlob:
      define(c.out, metadata, pattern_tensor(c.sizes, c.dtype, c.x));
      if (c.kind == Call::kBlob) remember(c.a, slot(c.out).bytes);
      break;
    case Call::kSlice:
    case Call::kSelect:
    case Call::kTranspose:
    case Call::kExpand:
    case Call::kStrided:
      slot(c.out) = View{slot(c.in[0]).bytes, metadata.impl().sizes, metadata.impl().strides, metadata.storage_offset(),
                         metadata.dtype()};
      break;
    case Call::kCompute:
      define(c.out, metadata, ops()[static_cast<size_t>(c.op)].call(in, c.x));
      break;
    case Call::kInplace:
      ops()[static_cast<size_t>(c.op)].inplace(in[0], in, c.x);
      store(slot(c.in[0]), in[0]);
      break;
    case Call::kOut:
      store(slot(c.in[0]), in[1].add(in[2]).to(in[0].dtype()).contiguous());
      break;
    case Call::kCopy:
      in[0].copy_(in[1]);
      store(slot(c.in[0]), in[0]);
      break;
    case Call::kFill:
      in[0].fill_(c.x);
      store(slot(c.in[0]), in[0]);
      break;
    case Call::kSum:
      define(c.out, metadata, in[0].sum(kLong));
      break;
    case Call::kDrop:
      slot(c.in[0]) = {};
      break;
    case Call::kExpose:
      remember(c.a, slot(c.in[0]).bytes);
      break;
    case Call::kPoke: {
      const Tensor value = one_element(c.dtype, c.x);
      std::memcpy(memory_[static_cast<size_t>(c.a)]->data() + c.b * value.itemsize(), bytes_at(value),
                  static_cast<size_t>(value.itemsize()));
      break;
    }
    case Call::kPeek:
      seen_.add(to_string(c), *memory_[static_cast<size_t>(c.a)]);
      break;
    case Call::kRead:
      seen_.add(to_string(c), *slot(c.in[0]).bytes);
      break;
    case Call::kFlush:
      break;
  }
}

void Model::finish() {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].bytes) seen_.add("t" + std::to_string(i) + " at the end", *slots_[i].bytes);
  for (size_t i = 0; i < memory_.size(); ++i)
    if (memory_[i]) seen_.add("memory " + std::to_string(i) + " at the end", *memory_[i]);
}

}  // namespace argand::fuzz
