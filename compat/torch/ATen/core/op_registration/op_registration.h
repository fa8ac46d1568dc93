// torch::RegisterOperators.  With <torch/script.h> and <torch/extension.h>; <torch/torch.h> alone does not have it, for
// what it would cost every other program's compiler.
#pragma once
#include "torch/library.h"

namespace c10 {

// TORCH_LIBRARY's forerunner: static auto registry = torch::RegisterOperators().op("pack::twice", &twice);
class RegisterOperators {
 public:
  // A schema and kernels, for op() with the name of the op or nothing.
  class Options {
   public:
    Options&& schema(std::string text) && { return schema_ = std::move(text), std::move(*this); }
    template <class F>
    Options&& catchAllKernel(F&& f) && {
      return add(DispatchKey::CompositeImplicitAutograd, std::forward<F>(f));
    }
    template <class F, F* f>
    Options&& catchAllKernel() && {
      return add(DispatchKey::CompositeImplicitAutograd, f);
    }
    template <class F>
    Options&& kernel(DispatchKey key, F&& f) && {
      return add(key, std::forward<F>(f));
    }
    template <class F, F* f>
    Options&& kernel(DispatchKey key) && {
      return add(key, f);
    }
    template <class Kind>
    Options&& aliasAnalysis(Kind) && {
      return std::move(*this);
    }

   private:
    friend class RegisterOperators;
    template <class F>
    Options&& add(DispatchKey key, F&& f) {
      kernels_.push_back(dispatch(key, std::forward<F>(f)));
      return std::move(*this);
    }
    std::string schema_;
    std::vector<CppFunction> kernels_;  // each with its key
  };
  static Options options() { return {}; }

  RegisterOperators() = default;
  template <class F>
  RegisterOperators(const std::string& name_or_schema, F&& f) {
    define(name_or_schema, std::forward<F>(f));
  }
  template <class F>
  RegisterOperators&& op(const std::string& name_or_schema, F&& f) && {
    return define(name_or_schema, std::forward<F>(f)), std::move(*this);
  }
  template <class F>
  RegisterOperators& op(const std::string& name_or_schema, F&& f) & {
    return define(name_or_schema, std::forward<F>(f)), *this;
  }
  RegisterOperators&& op(Options&& options) && {
    return op(std::string(options.schema_), std::move(options)), std::move(*this);
  }

 private:
  Library& library_of(const std::string& name) {
    const std::string ns = name.substr(0, name.find("::"));
    libraries_.emplace_back(Library::FRAGMENT, ns, std::nullopt, "RegisterOperators", 0U);
    return libraries_.back();
  }
  template <class F>
  void define(const std::string& name_or_schema, F&& f) {
    Library& library = library_of(name_or_schema);
    if constexpr (std::is_same_v<std::decay_t<F>, Options>) {
      const std::string schema = f.schema_.empty() ? name_or_schema : f.schema_;
      // A name alone is an op whose schema is that of its kernel.
      size_t defined = 0;
      if (schema.find('(') != std::string::npos)
        library.def(schema.c_str());
      else if (!f.kernels_.empty())
        library.def(schema.c_str(), std::move(f.kernels_[defined++]));
      const std::string name = schema.substr(0, schema.find('('));
      for (size_t i = defined; i < f.kernels_.size(); ++i) library.impl(name.c_str(), std::move(f.kernels_[i]));
    } else {
      library.def(name_or_schema.c_str(), std::forward<F>(f));
    }
  }
  std::vector<Library> libraries_;
};

}  // namespace c10
