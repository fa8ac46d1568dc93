// Ops with a gradient of your own, as LibTorch's torch::autograd::Function:
//
//   struct Square : autograd::Function<Square> {
//     static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x;
//     }
//     static autograd::variable_list backward(autograd::AutogradContext* ctx, autograd::variable_list grads) {
//       return {grads[0] * 2 * ctx->get_saved_variables()[0]};
//     }
//   };
//   Tensor y = Square::apply(x);
//
// `forward` runs without recording and returns a Tensor or a variable_list.  `backward` gets one gradient per result
// and returns one per argument of `forward`, undefined for those that are not tensors or need none; written in ops, it
// can be differentiated again.  Arguments of type Tensor, std::optional<Tensor> and TensorList take part in the graph;
// a tensor inside any other type does not.
#pragma once
#include <string>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>

#include "argand/autograd/ivalue.h"
#include "argand/autograd/saved_variable.h"

namespace argand::autograd {

using Variable = Tensor;
using variable_list = std::vector<Tensor>;
using tensor_list = std::vector<Tensor>;

class FunctionNode;
using IndexRange = std::pair<size_t, size_t>;  // the half-open range [first, second)

// The values that forward hands to backward.
class AutogradContext {
 public:
  AutogradContext();  // in the .cpp, because the map's headers are expensive to include
  ~AutogradContext();
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  std::unordered_map<std::string, IValue> saved_data;

  // Saves inputs and results of forward that backward reads; called once per forward.  Tensors kept in other ways are
  // not checked for in-place changes, and a result kept in another way is never freed.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  // The tensors in the order of save_for_backward.  GradError if one was changed in place since, or the graph was
  // freed.
  variable_list get_saved_variables() const;
  // Names inputs that forward changed in place; it must return them too.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  // Names results that never require grad.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  // Whether backward sees zeros (the default) or undefined tensors for results without a gradient.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  // The same for results that mark_non_differentiable() named.
  void set_materialize_non_diff_grads(bool value) { materialize_non_diff_ = value; }
  // Whether the gradient of this tensor argument of forward (counting tensors alone) is wanted.
  bool needs_input_grad(size_t tensor_argument) const;
  bool needs_input_grad(std::initializer_list<IndexRange> tensor_arguments) const;  // whether any is

 private:
  friend class FunctionNode;
  variable_list to_save_, dirty_, non_differentiable_;
  std::vector<SavedVariable> saved_;
  bool materialize_grads_ = true, materialize_non_diff_ = true;
  bool freed_ = false;
  FunctionNode* node_ = nullptr;
};

// The part of a Function's node in the graph that does not depend on the Function's type.
class FunctionNode : public Node {
 public:
  FunctionNode();
  ~FunctionNode() override;
  AutogradContext& context() { return ctx_; }
  Grads apply(Grads grads) final;
  void release_variables() final;
  // The tensors that save_for_backward saved, for programs that inspect a graph.  GradError after the graph was freed.
  std::vector<SavedVariable>& saved();

  // Notes where the inputs' gradients go.  Called before forward, which may change inputs in place.
  void connect(const variable_list& inputs);
  // For a program that names the saved tensors only after forward.  GradError if these, or `others`, contain a result
  // that is an unchanged input: as one tensor it would have the history of the input where the result is meant.
  void check_saved(const variable_list& inputs, const variable_list& outputs, const variable_list& others) const;
  // Links `outputs` to this node if any input requires grad (and grad mode is on); `is_tensor` has one entry per
  // argument.  An undefined output is no tensor and has no gradient.
  void record(const variable_list& inputs, std::vector<bool> is_tensor, variable_list& outputs, bool records);

 protected:
  virtual variable_list backward(variable_list grads) = 0;

 private:
  Tensor link(const Tensor& output, const variable_list& inputs, size_t num_outputs);
  AutogradContext ctx_;
  std::vector<bool> is_tensor_;
  enum class Output : uint8_t { kDifferentiable, kConstant, kNoTensor };
  std::vector<Output> kinds_;
};

// The name of the node of a Function of this type: "torch::autograd::CppNode<Square>", with its namespaces.
std::string node_name(const std::type_info& type);

template <class T>
class Function {
 public:
  template <class X = T, class... Args>
  static auto apply(Args&&... args) {
    using Result = decltype(X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...));
    static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, variable_list>,
                  "forward returns a Tensor or a variable_list");
    const intrusive_ptr<CppNode> node(new CppNode);
    variable_list inputs;
    std::vector<bool> is_tensor;
    (collect(args, inputs, is_tensor), ...);
    bool records = false;
    for (const Tensor& t : inputs) records |= GradMode::is_enabled() && t.defined() && t.requires_grad();
    if (records) node->connect(inputs);
    variable_list outputs;
    {
      const NoGradGuard no_grad;
      if constexpr (std::is_same_v<Result, Tensor>)
        outputs = {X::forward(&node->context(), std::forward<Args>(args)...)};
      else
        outputs = X::forward(&node->context(), std::forward<Args>(args)...);
    }
    node->record(inputs, std::move(is_tensor), outputs, records);
    if constexpr (std::is_same_v<Result, Tensor>)
      return outputs[0];
    else
      return outputs;
  }

 private:
  class CppNode final : public FunctionNode {
   public:
    std::string name() const override { return node_name(typeid(T)); }

   private:
    variable_list backward(variable_list grads) override { return T::backward(&context(), std::move(grads)); }
  };

  static void collect(const Tensor& t, variable_list& inputs, std::vector<bool>& is_tensor) {
    inputs.push_back(t);
    is_tensor.push_back(true);
  }
  static void collect(const std::optional<Tensor>& t, variable_list& inputs, std::vector<bool>& is_tensor) {
    collect(t.value_or(Tensor()), inputs, is_tensor);
  }
  static void collect(TensorList list, variable_list& inputs, std::vector<bool>& is_tensor) {
    for (const Tensor& t : list) collect(t, inputs, is_tensor);
  }
  static void collect(const variable_list& list, variable_list& inputs, std::vector<bool>& is_tensor) {
    collect(TensorList(list), inputs, is_tensor);
  }
  template <class Other, class = std::enable_if_t<!std::is_convertible_v<const Other&, Tensor> &&
                                                  !std::is_convertible_v<const Other&, std::optional<Tensor>> &&
                                                  !std::is_convertible_v<const Other&, TensorList>>>
  static void collect(const Other&, variable_list&, std::vector<bool>& is_tensor) {
    is_tensor.push_back(false);
  }
};

}  // namespace argand::autograd
