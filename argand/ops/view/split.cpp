// A tensor in pieces along one dimension: split, chunk, unbind.  Every piece is a view.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

int64_t dim_of(const char* op, const Tensor& t, int64_t dim) {
  ARGAND_CHECK(ShapeError, t.dim() > 0, op, " expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  return wrap_dim(dim, t.dim(), op);
}

// The gradient of all pieces at once, as one tensor: with one slice op per piece, it would need a full-size tensor for
// each.
class PiecesNode final : public autograd::Node {
 public:
  PiecesNode(const char* name, const Tensor& whole, const std::vector<Tensor>& pieces, int64_t dim, bool dropped)
      : name_(name), dim_(dim), dropped_(dropped) {
    next_edges().push_back(gradient_edge(whole));
    for (const Tensor& piece : pieces) add_input(piece);
  }
  std::string name() const override {
    const char* const label = this->label();
    return label ? label : name_;
  }
  Grads apply(Grads grads) override {
    Grads out(1);
    std::vector<Tensor> parts;
    bool any = false;
    for (size_t i = 0; i < grads.size(); ++i) {
      const autograd::GradMeta& meta = input_meta(i);
      any |= grads[i].defined();
      parts.push_back(grads[i].defined() ? grads[i]
                                         : zeros({}, TensorOptions(meta.dtype).device(meta.device)).expand(meta.sizes));
    }
    if (any) out[0] = dropped_ ? stack(parts, dim_) : parts.size() == 1 ? parts[0] : cat(parts, dim_);
    return out;
  }

 private:
  const char* name_;
  int64_t dim_;
  bool dropped_;  // the pieces lack the dimension
};

// The pieces, views of `whole` that cover it once, with one node as their history.
std::vector<Tensor> joined(const char* name, const Tensor& whole, std::vector<Tensor> pieces, int64_t dim,
                           bool dropped = false) {
  // A write in place to one of several views is refused, as in PyTorch, and not recorded.
  for (const Tensor& piece : pieces)
    if (AutogradMeta* const meta = autograd_meta_or_null(piece);
        meta && meta->base.defined() && meta->creation == autograd::CreationMeta::DEFAULT)
      meta->creation = autograd::CreationMeta::MULTI_OUTPUT_NODE;
  if (pieces.empty() || !GradMode::is_enabled() || !pieces[0].requires_grad()) return pieces;
  const intrusive_ptr<autograd::Node> node(new PiecesNode(name, whole, pieces, dim, dropped));
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    AutogradMeta& meta = autograd_meta(pieces[i]);
    meta.grad_fn = node;
    meta.output_nr = i;
  }
  return pieces;
}

// Pieces that a program may write to, as it has promised what follows from that.
std::vector<Tensor> writable(std::vector<Tensor> pieces) {
  for (const Tensor& piece : pieces)
    if (AutogradMeta* const meta = autograd_meta_or_null(piece);
        meta && meta->creation == autograd::CreationMeta::MULTI_OUTPUT_NODE)
      meta->creation = autograd::CreationMeta::DEFAULT;
  return pieces;
}

// A number of tensors that exceeds all memory is an error before the first is made.
void check_number_of_pieces(const char* op, int64_t n) {
  constexpr int64_t kBytes = sizeof(TensorImpl) + sizeof(AutogradMeta);
  int64_t nbytes;
  ARGAND_CHECK(ValueError, !__builtin_mul_overflow(n, kBytes, &nbytes), op, ": ", n, " pieces do not fit any memory");
  exec::new_tensor({{nbytes}, kByte}, kCPU);  // throws for an impossible size, and allocates nothing
}

// Pieces [0, at[0]), [at[0], at[1]), ... with Python's rules for bounds.
std::vector<Tensor> split_at(const Tensor& t, IntArrayRef at, int64_t dim) {
  std::vector<Tensor> out;
  int64_t begin = 0;
  for (const int64_t end : at) {
    out.push_back(t.slice(dim, begin, end));
    begin = end;
  }
  out.push_back(t.slice(dim, begin));
  return out;
}

}  // namespace

struct Split : Composite<SplitArgs> {
  static constexpr auto schema = "split(Tensor(a) self, int split_size, int dim=0) -> Tensor[]";
  static constexpr auto doc = "Pieces of split_size along dim; the last one may be shorter.";
  static constexpr int variants = kFunction | kMethod | kCopy;
  static std::vector<Tensor> compose(const Args& a) {
    const int64_t dim = dim_of("split", a.self, a.dim), size = a.self.sizes()[dim];
    ARGAND_CHECK(ValueError, a.split_size >= 0,
                 "split: expects split_size be non-negative, but got split_size=", a.split_size);
    ARGAND_CHECK(ValueError, a.split_size > 0 || size == 0,
                 "split: split_size can only be 0 if dimension size is 0, but got dimension size of ", size);
    if (a.split_size > 0) check_number_of_pieces("split", size / a.split_size);
    std::vector<Tensor> out;
    int64_t begin = 0;
    do {
      const int64_t n = std::min(a.split_size, size - begin);
      out.push_back(a.self.slice(dim, begin, begin + n));
      begin += n;
    } while (begin < size);
    return joined("SplitBackward0", a.self, std::move(out), dim);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), 2});
    s.add({s->real({2, 6}), 3, -1});
    s.add({s->real({0, 2}), 0});
    s.fails({s->real({}), 1}, "split expected at least a 1-dimensional tensor");
    s.fails({s->real({4}), -1}, "split: expects split_size be non-negative, but got split_size=-1");
    s.fails({s->real({4}), 0}, "split: split_size can only be 0 if dimension size is 0, but got dimension size of 4");
  }
};
ARGAND_OP(Split)

struct SplitWithSizes : Composite<SplitWithSizesArgs> {
  static constexpr auto schema = "split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor[]";
  static constexpr const char* overloads[] = {"split.sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor[]"};
  static constexpr auto doc = "Pieces of the given sizes along dim, which add up to its size.";
  static constexpr int variants = kFunction | kMethod | kCopy;
  static std::vector<Tensor> compose(const Args& a) {
    const int64_t dim = dim_of("split_with_sizes", a.self, a.dim), size = a.self.sizes()[dim];
    int64_t sum = 0;
    for (const int64_t n : a.split_sizes) {
      ARGAND_CHECK(
          ValueError, n >= 0,
          "split_with_sizes: expects split_sizes have only non-negative entries, but got split_sizes=", a.split_sizes);
      sum += n;
    }
    ARGAND_CHECK(ShapeError, sum == size, "split_with_sizes: expects split_sizes to sum exactly to ", size,
                 " (input tensor's size at dimension ", dim, "), but got split_sizes=", a.split_sizes);
    std::vector<Tensor> out;
    int64_t begin = 0;
    for (const int64_t n : a.split_sizes) {
      out.push_back(a.self.slice(dim, begin, begin + n));
      begin += n;
    }
    return joined("SplitWithSizesBackward0", a.self, std::move(out), dim);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), {2, 0, 3}});
    s.add({s->real({2, 3}), {1, 2}, 1});
    s.fails({s->real({5}), {2, 2}}, "split_with_sizes: expects split_sizes to sum exactly to 5");
    s.fails({s->real({5}), {6, -1}}, "split_with_sizes: expects split_sizes have only non-negative entries");
  }
};
ARGAND_OP(SplitWithSizes)

struct Chunk : Composite<ChunkArgs> {
  static constexpr auto schema = "chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor[]";
  static constexpr auto doc = "At most `chunks` pieces of equal size along dim; the last one may be shorter.";
  static std::vector<Tensor> compose(const Args& a) {
    const int64_t dim = dim_of("chunk", a.self, a.dim), size = a.self.sizes()[dim];
    ARGAND_CHECK(ValueError, a.chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", a.chunks);
    const int64_t each = size / a.chunks + (size % a.chunks != 0);
    if (each == 0) check_number_of_pieces("chunk", a.chunks);
    if (each == 0) return a.self.split_with_sizes(Dims(static_cast<size_t>(a.chunks), 0), dim);
    return a.self.split(each, dim);
  }
  static void samples(S& s) {
    s.add({s->real({7, 3}), 3});
    s.add({s->real({2, 6}), 4, 1});
    s.add({s->real({0, 2}), 3});
    s.fails({s->real({4}), 0}, "chunk expects `chunks` to be greater than 0, got: 0");
  }
};
ARGAND_OP(Chunk)

struct TensorSplit : Composite<TensorSplitArgs> {
  static constexpr auto schema = "tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor[]";
  static constexpr auto doc = "`sections` pieces along dim whose sizes differ by at most one, the longer ones first.";
  static std::vector<Tensor> compose(const Args& a) {
    const int64_t dim = dim_of("tensor_split", a.self, a.dim), size = a.self.sizes()[dim];
    ARGAND_CHECK(ValueError, a.sections > 0, "tensor_split: number of sections must be larger than 0, got ",
                 a.sections);
    check_number_of_pieces("tensor_split", a.sections);
    std::vector<Tensor> out;
    int64_t begin = 0;
    for (int64_t i = 0; i < a.sections; ++i) {
      const int64_t n = size / a.sections + (i < size % a.sections ? 1 : 0);
      out.push_back(a.self.slice(dim, begin, begin + n));
      begin += n;
    }
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({7, 3}), 3});
    s.add({s->real({2}), 4});
    s.fails({s->real({4}), 0}, "tensor_split: number of sections must be larger than 0, got 0");
    s.fails({s->real({4}), int64_t{1} << 62}, "tensor_split: 4611686018427387904 pieces do not fit any memory");
    s.fails({s->real({}), 2}, "tensor_split expected at least a 1-dimensional tensor");
  }
};
ARGAND_OP(TensorSplit)

struct TensorSplitIndices : Composite<TensorSplitIndicesArgs> {
  static constexpr auto schema = "tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor[]";
  static constexpr auto doc = "Pieces between the given positions of dim; positions follow Python's rules for slices.";
  static std::vector<Tensor> compose(const Args& a) {
    return split_at(a.self, a.indices, dim_of("tensor_split", a.self, a.dim));
  }
  static void samples(S& s) {
    s.add({s->real({7, 3}), {2, 5}});
    s.add({s->real({2, 4}), {1, 9}, 1});
    s.fails({s->real({}), {1}}, "tensor_split expected at least a 1-dimensional tensor");
  }
};
ARGAND_OP(TensorSplitIndices)

struct TensorSplitTensor : Composite<TensorSplitTensorArgs> {
  static constexpr auto schema =
      "tensor_split.tensor_indices_or_sections(Tensor(a) self, Tensor tensor_indices_or_sections, int dim=0) -> "
      "Tensor[]";
  static constexpr auto doc = "Pieces as many as a 0-dim tensor says, or between the positions in a vector.";
  static std::vector<Tensor> compose(const Args& a) {
    const Tensor& given = a.tensor_indices_or_sections;
    ARGAND_CHECK(DtypeError, given.dtype() == kLong,
                 "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
                 dtype_cpp_name(given.dtype()));
    ARGAND_CHECK(ShapeError, given.dim() <= 1,
                 "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                 "but got a tensor with ",
                 given.dim(), " dims");
    if (given.dim() == 0) return a.self.tensor_split(given.item().toLong(), a.dim);
    const Tensor list = given.cpu().contiguous();
    const int64_t* at = raw<int64_t>(list);
    return a.self.tensor_split(Dims(at, at + list.numel()), a.dim);
  }
  static void samples(S& s) {
    s.add({s->real({7, 3}), full({}, 3, TensorOptions(kCPU).dtype(kLong))});
    s.add({s->real({2, 4}), s->integer({1}, 1, 3), 1});
    s.fails({s->real({4}), s->real({1})},
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got Double");
    s.fails({s->real({4}), s->integer({1, 1}, 0, 2)}, "but got a tensor with 2 dims");
  }
};
ARGAND_OP(TensorSplitTensor)

// The pieces are views here as those of split(); a program cannot tell, unless it writes to one.
struct UnsafeSplit : Composite<UnsafeSplitArgs> {
  static constexpr auto schema = "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]";
  static constexpr auto doc = "split(), for programs that promise not to write to whole and pieces both.";
  static std::vector<Tensor> compose(const Args& a) { return writable(a.self.split(a.split_size, a.dim)); }
  static void samples(S& s) {
    s.add({s->real({5, 3}), 2});
    s.fails({s->real({}), 1}, "split expected at least a 1-dimensional tensor");
  }
};
ARGAND_OP(UnsafeSplit)
ARGAND_NODE(UnsafeSplit)

struct UnsafeSplitWithSizes : Composite<UnsafeSplitWithSizesArgs> {
  static constexpr auto schema = "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]";
  static constexpr auto doc = "split_with_sizes(), for programs that promise not to write to whole and pieces both.";
  static std::vector<Tensor> compose(const Args& a) { return writable(a.self.split_with_sizes(a.split_sizes, a.dim)); }
  static void samples(S& s) {
    s.add({s->real({5, 3}), {2, 3}});
    s.fails({s->real({5}), {2, 2}}, "split_with_sizes: expects split_sizes to sum exactly to 5");
  }
};
ARGAND_OP(UnsafeSplitWithSizes)
ARGAND_NODE(UnsafeSplitWithSizes)

struct UnsafeChunk : Composite<UnsafeChunkArgs> {
  static constexpr auto schema = "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]";
  static constexpr auto doc = "chunk(), for programs that promise not to write to whole and pieces both.";
  static std::vector<Tensor> compose(const Args& a) { return writable(a.self.chunk(a.chunks, a.dim)); }
  static void samples(S& s) {
    s.add({s->real({7, 3}), 3});
    s.fails({s->real({4}), 0}, "chunk expects `chunks` to be greater than 0, got: 0");
  }
};
ARGAND_OP(UnsafeChunk)
ARGAND_NODE(UnsafeChunk, "UnsafeSplitBackward0")

struct Unbind : Composite<UnbindArgs> {
  static constexpr auto schema = "unbind(Tensor(a) self, int dim=0) -> Tensor[]";
  static constexpr auto doc = "The slices along dim, which is dropped.";
  static constexpr int variants = kFunction | kMethod | kCopy;
  static std::vector<Tensor> compose(const Args& a) {
    const int64_t dim = dim_of("unbind", a.self, a.dim);
    check_number_of_pieces("unbind", a.self.sizes()[dim]);
    std::vector<Tensor> out;
    for (int64_t i = 0; i < a.self.sizes()[dim]; ++i) out.push_back(a.self.select(dim, i));
    return joined("UnbindBackward0", a.self, std::move(out), dim, true);
  }
  static void samples(S& s) {
    s.add({s->real({3, 2})});
    s.add({s->real({3, 2}), -1});
    s.fails({s->real({})}, "unbind expected at least a 1-dimensional tensor");
  }
};
ARGAND_OP(Unbind)

}  // namespace argand::ops
