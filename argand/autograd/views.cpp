// In-place writes to views, as part of the graph: Note [Views in the graph].
//
// When a view is written, its base changes too.  The base's new history is CopySlices: outside the view the gradient
// flows to the base's old history, inside it through the op that wrote.  The view's own grad_fn is then a view of the
// new base.
#include "argand/autograd/accumulate.h"
#include "argand/base/fork_mutex.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/invoke.h"
#include "argand/exec/node_names.h"
#include "argand/exec/not_implemented.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {
namespace {

struct Geometry {
  explicit Geometry(const Tensor& t)
      : sizes(t.impl().sizes), strides(t.impl().strides), offset(t.storage_offset()), dtype(t.dtype()) {}
  Dims sizes, strides;
  int64_t offset;
  ScalarType dtype;
};

// What `view` sees of the storage of `base`, whose first element is now `moved` places nearer to the storage's start.
// The dtypes differ where complex numbers are seen as pairs of real ones, or pairs as complex numbers.
Tensor view_of(const Tensor& base, const Geometry& view, int64_t moved = 0) {
  if (is_complex(base.dtype()) == is_complex(view.dtype))
    return base.as_strided(view.sizes, view.strides, view.offset - moved);
  if (base.is_complex()) return view_as_real(base).as_strided(view.sizes, view.strides, view.offset - 2 * moved);
  Dims sizes = view.sizes, strides = view.strides;
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return view_as_complex(base.as_strided(sizes, strides, 2 * view.offset - moved));
}

class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, intrusive_ptr<Node> write)
      : base_(base), view_(view), write_(std::move(write)) {
    sequence_nr_ = write_->sequence_nr();
    add_input(base);
    next_edges() =
        write_->next_edges();  // the writer's first argument was the view: its gradient goes to the base instead
    next_edges()[0] = gradient_edge(base);
    write_->set_owner(this);
  }
  ~CopySlices() override { write_->set_owner(nullptr); }
  std::string name() const override {
    const char* const label = this->label();
    return label ? label : "torch::autograd::CopySlices";
  }
  void release_variables() override { write_->release_variables(); }

  // The written tensor is a view of the base after the write, whose history is this node.
  Tensor with_history(const Tensor& result, uint32_t) override {
    const Tensor base = Node::with_history(exec::alias(result, base_.sizes, base_.strides, base_.offset), 0);
    Tensor written = view_of(base, view_);
    exec::share_tangents(written, result);
    return written;
  }

  Grads apply(Grads grads) override {
    Grads out(next_edges().size());
    if (!grads[0].defined()) return out;
    // The gradient of the base in the base's own layout, so that the view has the same position in both.
    Tensor whole = empty_strided_like_base(grads[0]);
    whole = whole.copy_(grads[0]);
    const Tensor slice = view_of(whole, view_, base_.offset);
    Grads inner = write_->apply({slice.clone()});
    for (size_t i = 1; i < out.size(); ++i) out[i] = inner[i];
    if (next_edges()[0].is_valid()) {
      slice.copy_(inner[0].defined() ? inner[0] : zeros_like(slice));
      out[0] = whole;
    }
    return out;
  }

 private:
  Tensor empty_strided_like_base(const Tensor& g) const {
    int64_t span = 1;
    for (size_t i = 0; i < base_.sizes.size(); ++i) {
      if (base_.sizes[i] == 0) span = 0;
      span += (base_.sizes[i] - 1) * base_.strides[i];
    }
    return g.new_zeros({std::max<int64_t>(span, 0)}).as_strided(base_.sizes, base_.strides, 0);
  }
  Geometry base_, view_;
  intrusive_ptr<Node> write_;
};

// The gradient of `view`, as a function of the gradient of its base.
intrusive_ptr<Node> view_of_base(const Tensor& view, const Tensor& base) {
  const EnableGradGuard on;
  const exec::ForwardMode::Scope no_tangents;
  const Tensor again = view_of(base, Geometry(view));
  return autograd_meta(again).grad_fn;
}

// retain_grad() refers to the tensor's current value: its hook moves to the current history.
void set_history(AutogradMeta& meta, intrusive_ptr<Node> node) {
  if (meta.retained_grad && meta.grad_fn && node) {
    if (auto hook = meta.grad_fn->take_hook(meta.retain_handle)) {
      hook->input_nr = 0;
      node->add_hook(std::move(*hook));
    }
  }
  meta.grad_fn = std::move(node);
  meta.output_nr = 0;
}

}  // namespace

void rebase_history(const Tensor& self, intrusive_ptr<Node> node) {
  AutogradMeta& meta = autograd_meta(self);
  if (meta.base.defined()) {
    const Tensor base = meta.base;
    auto slices = intrusive_ptr<Node>(new CopySlices(base, self, std::move(node)));
    set_history(autograd_meta(base), std::move(slices));
    set_history(meta, view_of_base(self, base));
    meta.view_version = self._version();
  } else {
    set_history(meta, std::move(node));
  }
}

}  // namespace argand::autograd

namespace argand {

intrusive_ptr<autograd::Node> Tensor::grad_fn() const {
  AutogradMeta* meta = autograd_meta_or_null(*this);
  if (!meta) return nullptr;
  if (!meta->base.defined() || meta->view_version == _version()) return meta->grad_fn;
  const bool follows = meta->creation == autograd::CreationMeta::DEFAULT;
  if (follows ? meta->base.grad_fn() != nullptr : meta->base.requires_grad()) {
    if (!follows) {
      autograd::check_view_has_derivative(*meta);
      autograd::check_not_of_function("grad_fn", *meta, "its base or another view of its base has been");
      throw_unrecorded_view("grad_fn", meta->creation, "its base or another view of its base has been");
    }
    const Tensor base = meta->base;
    const ObjectLock lock(meta->mutex);
    if (meta->view_version != _version()) {
      autograd::set_history(*meta, autograd::view_of_base(*this, base));
      meta->view_version = _version();
    }
  }
  return meta->grad_fn;
}

bool Tensor::is_view() const {
  const AutogradMeta* meta = autograd_meta_or_null(*this);
  return meta && meta->base.defined();
}

Tensor Tensor::_base() const {
  ARGAND_CHECK(GradError, is_view(), "_base: the tensor is not a view");
  return autograd_meta_or_null(*this)->base;
}

}  // namespace argand
