// Defines ops and registers kernels, as LibTorch's torch::Library; the macros TORCH_LIBRARY and its kin
// (compat/torch/torch/library.h) make one for each of their blocks.  What a Library registered goes with it.
//
//   TORCH_LIBRARY(pack, m) {
//     m.def("scale(Tensor self, float factor) -> Tensor");
//   }
//   TORCH_LIBRARY_IMPL(pack, CPU, m) {
//     m.impl("scale", scale_cpu);
//   }
#pragma once
#include <exception>

#include "argand/library/dispatcher.h"

namespace argand {

// A kernel before it is added to a Library.
class CppFunction {
 public:
  template <class F, std::enable_if_t<!std::is_same_v<std::decay_t<F>, CppFunction>, int> = 0>
  explicit CppFunction(F&& f) : kernel_(KernelFunction::from(std::decay_t<F>(std::forward<F>(f)))) {}
  CppFunction(CppFunction&&) = default;
  CppFunction& operator=(CppFunction&&) = default;
  // A kernel that hands the call on to the next key.
  static CppFunction makeFallthrough() { return CppFunction(KernelFunction::fallthrough(), 0); }
  template <auto function>
  static CppFunction makeFromBoxedFunction() {
    return CppFunction(KernelFunction::from_boxed([](const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
                         if constexpr (std::is_invocable_v<decltype(function), const OperatorHandle&, Stack*>)
                           function(op, stack);
                         else
                           function(op, keys, stack);
                       }),
                       0);
  }
  template <class F>
  static CppFunction makeFromUnboxedFunction(F f) {
    return CppFunction(f);
  }
  // harmless: LibTorch shows the text where it lists kernels, which nothing does here
  CppFunction&& debug(const std::string&) && { return std::move(*this); }

 private:
  friend class Library;
  template <class F>
  friend CppFunction dispatch(DispatchKey key, F&& f);
  // harmless: the number is there to choose this constructor
  CppFunction(KernelFunction kernel, int) : kernel_(std::move(kernel)) {}
  KernelFunction kernel_;
  DispatchKey key_ = DispatchKey::Undefined;  // that of the block
};

// A kernel for a key other than that of the block.
template <class F>
CppFunction dispatch(DispatchKey key, F&& f) {
  CppFunction out(std::forward<F>(f));
  out.key_ = key;
  return out;
}
template <class F>
CppFunction dispatch(DeviceType device, F&& f) {
  return dispatch(key_of(DispatchKey::CPU, device), std::forward<F>(f));
}

FunctionSchema schema(const char* text);

// Facts about an op for PyTorch's compiler; they are not kept.
enum class Tag { core, inplace_view, needs_fixed_stride_order, nondeterministic_seeded, pt2_compliant_tag, pointwise };

class Library {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  // Error if a Library of kind DEF has the namespace already.
  Library(Kind kind, std::string ns, std::optional<DispatchKey> key, const char* file, uint32_t line);
  Library(Library&& other) noexcept = default;
  Library& operator=(Library&&) = delete;
  ~Library();

  // Defines an op without kernels.
  // harmless: tags are for compilers of graphs, and none is here
  Library& def(const char* schema, std::initializer_list<Tag> = {}) & { return define(schema); }
  Library& def(const FunctionSchema& schema, std::initializer_list<Tag> = {}) & { return define(schema); }
  // Defines an op with a kernel for all devices; if only the name is given, the schema is that of the function.
  // harmless: tags as above
  template <class F>
  Library& def(const char* name_or_schema, F&& f, std::initializer_list<Tag> = {}) & {
    return define(name_or_schema, CppFunction(std::forward<F>(f)));
  }
  // Registers a kernel for the key of the block.
  template <class F>
  Library& impl(const char* name, F&& f) & {
    return implement(name, CppFunction(std::forward<F>(f)));
  }
  template <class Key, class F>
  Library& impl(const char* name, Key key, F&& f) & {
    return implement(name, dispatch(key, std::forward<F>(f)));
  }
  // Registers a fallback for every op without a kernel for the key of the block; the block's namespace is "_".
  template <class F>
  Library& fallback(F&& f) & {
    return add_fallback(CppFunction(std::forward<F>(f)));
  }
  // Where the Python code of the ops would be.  harmless: kernels for fake tensors are found without it
  Library& set_python_module(const char*, const char* = "") { return *this; }
  Library& impl_abstract_pystub(const char*, const char* = "") { return *this; }
  void reset();

 private:
  struct Registrations;
  Library& define(const char* schema);
  Library& define(const FunctionSchema& schema);
  Library& define(const char* name_or_schema, CppFunction f);
  Library& implement(const char* name, CppFunction f);
  Library& add_fallback(CppFunction f);
  void qualify(OperatorName& name) const;
  Kind kind_;
  std::string namespace_;
  DispatchKey key_;  // Undefined: none
  std::string place_;
  Registrations& registrations() const { return *static_cast<Registrations*>(registrations_.get()); }
  std::shared_ptr<void> registrations_;
};

// What hears of a block of TORCH_LIBRARY that failed: its exception would end the process, because it leaves the
// constructor of a static object.  `block` is the macro with its place.  Nothing of the block stays registered. Without
// a handler, as in a program, the exception goes on.  The handler must not throw.
using FailedBlockHandler = void (*)(std::exception_ptr error, const std::string& block);
void set_failed_block_handler(FailedBlockHandler handler);

namespace detail {
// Runs the block of a macro when the program or its library is loaded.
class TorchLibraryInit {
 public:
  TorchLibraryInit(Library::Kind kind, void (*block)(Library&), const char* ns, std::optional<DispatchKey> key,
                   const char* file, uint32_t line);

 private:
  std::optional<Library> library_;  // none if the block failed
};
}  // namespace detail

namespace autograd {
// For the key Autograd of an op without a gradient: the kernel below is not recorded, and backward through its results
// is an error that names the op.  In-place arguments and views follow the schema.
CppFunction autogradNotImplementedFallback();
// For the key ADInplaceOrView: marks views as such, and raises the versions of written tensors.
CppFunction autogradNotImplementedInplaceOrViewFallback();
}  // namespace autograd

}  // namespace argand
