// max_unpool: puts maxima back at their positions, with zeros elsewhere.
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pool/args.h"

namespace argand::ops {
namespace {

Tensor unpool(const char* op, const Tensor& self, const Tensor& indices, const Dims& output_size) {
  const auto spatial = static_cast<int64_t>(output_size.size());
  ARGAND_CHECK(DtypeError, indices.dtype() == kLong, op,
               ": elements in indices should be type int64 but got: ", indices.dtype());
  ARGAND_CHECK(ShapeError, self.dim() == spatial + 1 || self.dim() == spatial + 2, op, ": Input to ", op,
               " should be a ", spatial + 1, "d or ", spatial + 2, "d Tensor, but got: ", self.sizes());
  ARGAND_CHECK(ShapeError, self.sizes() == indices.sizes(), op,
               ": Expected shape of indices to be same as that of the input tensor (", self.sizes(),
               ") but got indices tensor with shape: ", indices.sizes());
  const Dims lead(self.sizes().slice(0, self.sizes().size() - output_size.size()));
  const auto with = [&](IntArrayRef tail) {
    Dims out = lead;
    for (const int64_t n : tail) out.push_back(n);
    return out;
  };
  for (const int64_t n : output_size)
    ARGAND_CHECK(ValueError, n >= 0, op, ": expected output_size of at least 0, got ", output_size);
  const int64_t elements = numel_of(IntArrayRef(self.sizes()).slice(lead.size()));
  const Tensor planes = zeros(with({numel_of(output_size)}), self.options());
  return laid_out_as(
      planes.scatter(-1, indices.reshape(with({elements})), self.reshape(with({elements}))).view(with(output_size)),
      self);
}

}  // namespace

struct MaxUnpool2d : Composite<MaxUnpool2dArgs> {
  static constexpr auto schema = "max_unpool2d(Tensor self, Tensor indices, int[2] output_size) -> Tensor";
  static constexpr auto doc =
      "Zeros [N, C, output_size] with self at the positions that max_pool2d_with_indices gave; of equal ones the last "
      "counts. IndexError for a position outside.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return unpool("max_unpool2d", a.self, a.indices, a.output_size); }
  static void samples(S& s) {
    const Tensor at = arange(4, kLong).reshape({1, 2, 2}).mul(5);
    s.add({s->real({2, 2, 2}), at.expand({2, 2, 2}), {4, 5}});
    s.fails({s->real({2, 2, 2}), at.expand({2, 2, 2}), {3, 5}},
            "index 15 is out of bounds for dimension 1 with size 15");
    s.fails({s->real({2, 2, 2}), at, {4, 5}}, "Expected shape of indices to be same as that of the input tensor");
    s.fails({s->real({2, 2}), at, {4, 5}}, "Input to max_unpool2d should be a 3d or 4d Tensor, but got: [2, 2]");
  }
};
ARGAND_OP(MaxUnpool2d)
ARGAND_NODE(MaxUnpool2d)

struct MaxUnpool3d : Composite<MaxUnpool3dArgs> {
  static constexpr auto schema =
      "max_unpool3d(Tensor self, Tensor indices, int[3] output_size, int[3] stride, int[3] padding) -> Tensor";
  static constexpr auto doc =
      "Zeros [N, C, output_size] with self at the positions that max_pool3d_with_indices gave. stride and padding say "
      "nothing that output_size does not.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return unpool("max_unpool3d", a.self, a.indices, a.output_size); }
  static void samples(S& s) {
    const Tensor at = arange(8, kLong).reshape({1, 2, 2, 2}).mul(3);
    s.add({s->real({1, 2, 2, 2}), at, {2, 3, 4}, {1, 1, 1}, {0, 0, 0}});
  }
};
ARGAND_OP(MaxUnpool3d)
ARGAND_NODE(MaxUnpool3d)

}  // namespace argand::ops
