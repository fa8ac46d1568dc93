#include "argand/exec/cuda/program_text.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "argand/base/error.h"
#include "argand/core/shape.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/index.cuh"

namespace argand::exec {
namespace {

bool is_bound(Walk w) { return w == Walk::kLinear || w == Walk::kStrided; }

// The number of elements from the first to the last in memory.
int64_t extent(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

bool aligned(const ProgramValue& v, int width) {
  return reinterpret_cast<uintptr_t>(v.memory) % static_cast<uintptr_t>(width * element_size(v.dtype)) == 0;
}

// The widest access that every operand allows.
int width_of(const PointwiseProgram& p, const KernelForm& f) {
  int64_t largest = 1;
  for (size_t v = 0; v < p.values.size(); ++v)
    if (is_bound(f.walk[v])) largest = std::max(largest, element_size(p.values[v].dtype));
  const auto fits = [&](int width) {
    if (f.ndim > 0 && p.sizes.back() % width != 0) return false;
    for (size_t v = 0; v < p.values.size(); ++v) {
      const ProgramValue& value = p.values[v];
      if (!is_bound(f.walk[v])) continue;
      if (f.walk[v] == Walk::kStrided) {
        const size_t last = value.strides.size() - 1;
        if (value.strides[last] == 0 && !value.store) continue;
        if (value.strides[last] != 1) return false;
        for (size_t d = 0; d < last; ++d)
          if (value.strides[d] % width != 0) return false;
      }
      if (!aligned(value, width)) return false;
    }
    return true;
  };
  int width = static_cast<int>(std::min<int64_t>(8, 16 / largest));
  while (width > 1 && !fits(width)) width /= 2;
  return width;
}

}  // namespace

KernelForm form_of(const PointwiseProgram& p) {
  KernelForm f{};
  bool strided = false;
  int64_t largest = numel_of(p.sizes);
  for (const ProgramValue& v : p.values) {
    Walk w = Walk::kRegister;
    if (v.number)
      w = Walk::kNumber;
    else if (v.memory)
      w = is_contiguous(p.sizes, v.strides) ? Walk::kLinear : Walk::kStrided;
    strided |= w == Walk::kStrided;
    if (is_bound(w)) largest = std::max(largest, extent(p.sizes, v.strides));
    f.walk.push_back(w);
  }
  f.ndim = strided ? static_cast<int>(p.sizes.size()) : 0;
  f.wide = largest >= (int64_t{1} << 31) - 16;
  if (strided && numel_of(p.sizes) < kSpecialElements && f.ndim <= kMostDims) {
    f.ndim = kAnyDims;
    f.width = 1;
    for (Walk& w : f.walk)
      if (w == Walk::kLinear) w = Walk::kStrided;
    f.inner_moves.resize(p.values.size(), false);
    return f;
  }
  f.width = width_of(p, f);
  for (size_t v = 0; v < p.values.size(); ++v)
    f.inner_moves.push_back(f.walk[v] == Walk::kStrided && p.values[v].strides.back() != 0);
  return f;
}

KernelKey kernel_key(const PointwiseProgram& p, const KernelForm& f) {
  KernelKey key;
  key.reserve(16 + p.values.size() * 4 + p.steps.size() * 20);
  const auto add = [&](const auto& x) {
    const size_t at = key.size();
    key.resize(at + sizeof(x));
    std::memcpy(key.data() + at, &x, sizeof(x));
  };
  add(static_cast<char>(f.width));
  add(static_cast<char>(f.ndim));
  add(f.wide);
  for (size_t v = 0; v < p.values.size(); ++v) {
    add(p.values[v].dtype);
    add(static_cast<char>(static_cast<int>(f.walk[v]) | (f.inner_moves[v] ? 8 : 0) | (p.values[v].load ? 16 : 0) |
                          (p.values[v].store ? 32 : 0)));
  }
  for (const ProgramStep& s : p.steps) {
    add(reinterpret_cast<uintptr_t>(s.body));
    add(s.compute);
    for (const int v : s.ins) add(static_cast<short>(v));
    add(static_cast<short>(s.out));
  }
  return key;
}

// ---- the text

namespace {

class TextOf {
 public:
  TextOf(const PointwiseProgram& p, const KernelForm& f) : p_(p), f_(f) {}

  std::string make() {
    add("#include \"argand/runtime/cuda/early_start.cuh\"\n");
    for (const char* name : {"index", "types"}) add("#include \"argand/kernels/cuda/", name, ".cuh\"\n");
    bool complex = false;
    for (const ProgramValue& v : p_.values) complex |= is_complex(v.dtype);
    for (const ProgramStep& s : p_.steps) complex |= is_complex(s.compute);
    if (complex) add("#include \"argand/kernels/cuda/complex.cuh\"\n");
    include_rare_functions();
    bodies();
    arguments();
    kernel();
    return std::move(text_);
  }

 private:
  template <class... Parts>
  void add(const Parts&... parts) {
    text_ += str(parts...);
  }

  void include_rare_functions() {
    std::set<std::string_view> headers;
    for (const ProgramStep& s : p_.steps)
      if (s.body->math_header) headers.insert(s.body->math_header);
    for (const std::string_view h : headers) add("#include \"argand/kernels/math/", h, ".h\"\n");
  }

  // The bodies are inside argand::math, whose functions hide CUDA's functions of the same names.
  void bodies() {
    add("namespace argand::math::", kGroup, " {\n");
    for (size_t s = 0; s < p_.steps.size(); ++s) {
      const PointwiseBody& body = *p_.steps[s].body;
      std::string params;  // "(x, y)" becomes "(T x, T y)"
      for (const char* c = body.params; *c; ++c) {
        if (*c != ' ') params += *c;
        if (*c == '(' || *c == ',') params += "T ";
      }
      add("template <class T> __device__ __forceinline__ T step", s, params, " { return static_cast<T>(", body.text,
          "); }\n");
    }
    add("}\n");
  }

  void arguments() {
    add("namespace argand::", kGroup, " {\nstruct Arguments {\n  ", index(), " n;\n");
    if (!f_.wide) add("  unsigned unused;\n");
    if (f_.ndim == kAnyDims) add("  long long ndim;\n");
    if (f_.ndim != 0) add("  FastDiv size[", dims(), "];\n");
    for (size_t v = 0; v < p_.values.size(); ++v) {
      if (!is_bound(f_.walk[v])) continue;
      add("  ", type(v), "* p", v, ";\n");
      if (f_.walk[v] == Walk::kStrided) add("  long long stride", v, "[", dims(), "];\n");
    }
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (f_.walk[v] == Walk::kNumber) add("  alignas(16) ", type(v), " number", v, ";\n");
    for (size_t s = 0; s < p_.steps.size(); ++s)
      for (int k = 0; k < p_.steps[s].body->num_scalars; ++k)
        add("  alignas(16) ", cuda::code_type(p_.steps[s].compute), " scalar", s, "_", k, ";\n");
    add("};\n");
  }

  void kernel() {
    add("__global__ void __launch_bounds__(", kKernelThreads, ") pointwise(const __grid_constant__ Arguments a) {\n");
    add("  await_earlier_work();\n  constexpr int W = ", f_.width, ";\n  using I = ", index(), ";\n");
    add("  for (I at = (I(blockIdx.x) * ", kKernelThreads, " + threadIdx.x) * W; at < a.n; at += I(gridDim.x) * ",
        kKernelThreads * f_.width, ") {\n");
    places();
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (p_.values[v].load) load(v);
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (p_.values[v].store) add("    Vec<", type(v), ", W> out", v, ";\n");
    add("#pragma unroll\n    for (int k = 0; k < W; ++k) {\n");
    for (size_t s = 0; s < p_.steps.size(); ++s) step(s);
    add("    }\n");
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (p_.values[v].store) store(v);
    add("  }\n}\n}\n");
  }

  // The offset of each strided operand.
  void places() {
    if (f_.ndim == 0) return;
    add("    I rest = at;\n");
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (f_.walk[v] == Walk::kStrided) add("    I o", v, " = 0;\n");
    if (f_.ndim == kAnyDims)
      add("#pragma unroll 1\n    for (int d = int(a.ndim) - 1; d > 0; --d) {\n");
    else
      add("#pragma unroll\n    for (int d = ", f_.ndim - 1, "; d > 0; --d) {\n");
    add("      const I q = split(rest, a.size[d]), place = rest;\n      rest = q;\n");
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (f_.walk[v] == Walk::kStrided) add("      o", v, " += place * I(a.stride", v, "[d]);\n");
    add("    }\n");
    for (size_t v = 0; v < p_.values.size(); ++v)
      if (f_.walk[v] == Walk::kStrided) add("    o", v, " += rest * I(a.stride", v, "[0]);\n");
  }
  int dims() const { return f_.ndim == kAnyDims ? kMostDims : f_.ndim; }

  void load(size_t v) {
    if (f_.walk[v] == Walk::kNumber) return;
    if (f_.walk[v] == Walk::kLinear)
      add("    const Vec<", type(v), ", W> in", v, " = argand::load<W>(a.p", v, ", at, a.n);\n");
    else if (f_.inner_moves[v] && f_.width > 1)
      add("    const Vec<", type(v), ", W> in", v, " = argand::load<W>(a.p", v, " + o", v, ", I(0), I(W));\n");
    else
      add("    const ", type(v), " in", v, " = a.p", v, "[o", v, "];\n");
  }
  std::string loaded(int v) const {
    if (f_.walk[v] == Walk::kNumber) return str("a.number", v);
    const bool vector = f_.walk[v] == Walk::kLinear || (f_.inner_moves[v] && f_.width > 1);
    return str("in", v, vector ? "[k]" : "");
  }

  void step(size_t s) {
    const ProgramStep& step = p_.steps[s];
    const char* compute = cuda::code_type(step.compute);
    add("      const ", type(step.out), " v", step.out, " = convert<", type(step.out), ">(math::", kGroup, "::step", s,
        "<", compute, ">(");
    bool first = true;
    for (const int v : step.ins) {
      add(first ? "" : ", ", "convert<", compute, ">(", p_.values[v].load ? loaded(v) : str("v", v), ")");
      first = false;
    }
    for (int k = 0; k < step.body->num_scalars; ++k) {
      add(first ? "" : ", ", "a.scalar", s, "_", k);
      first = false;
    }
    add("));\n");
    if (p_.values[step.out].store) add("      out", step.out, "[k] = v", step.out, ";\n");
  }

  void store(size_t v) {
    if (f_.walk[v] == Walk::kLinear)
      add("    argand::store<W>(a.p", v, ", at, a.n, out", v, ");\n");
    else if (f_.width > 1)
      add("    argand::store<W>(a.p", v, " + o", v, ", I(0), I(W), out", v, ");\n");
    else
      add("    a.p", v, "[o", v, "] = out", v, "[0];\n");
  }

  const char* type(size_t v) const { return cuda::code_type(p_.values[v].dtype); }
  const char* type(int v) const { return type(static_cast<size_t>(v)); }
  const char* index() const { return f_.wide ? "unsigned long long" : "unsigned"; }

  const PointwiseProgram& p_;
  const KernelForm& f_;
  std::string text_;
};

}  // namespace

std::string kernel_text(const PointwiseProgram& program, const KernelForm& form) {
  return TextOf(program, form).make();
}

SmallVector<char, 512> kernel_arguments(const PointwiseProgram& p, const KernelForm& f) {
  SmallVector<char, 512> out;
  const auto add = [&](const void* from, size_t n) {
    const size_t at = out.size();
    out.resize(at + (n + 7) / 8 * 8);
    std::memcpy(out.data() + at, from, n);
  };
  const auto add_number = [&](const void* from, ScalarType type) {
    out.resize((out.size() + 15) / 16 * 16);
    add(from, static_cast<size_t>(element_size(type)));
  };
  const int64_t n = numel_of(p.sizes);
  add(&n, sizeof(n));
  const auto ndim = static_cast<int64_t>(p.sizes.size());
  const int64_t room = f.ndim == kAnyDims ? kMostDims : f.ndim;
  if (f.ndim == kAnyDims) add(&ndim, sizeof(ndim));
  for (int64_t d = 0; d < room; ++d) {
    const int64_t size = d < ndim ? p.sizes[d] : 1;
    ARGAND_CHECK(ShapeError, size < (int64_t{1} << 31), "a dimension of ", size,
                 " elements beside strided operands is not supported on a GPU");
    const FastDiv div = fast_div(static_cast<unsigned>(size));
    add(&div, sizeof(div));
  }
  for (size_t v = 0; v < p.values.size(); ++v) {
    if (!is_bound(f.walk[v])) continue;
    add(&p.values[v].memory, sizeof(void*));
    for (int64_t d = 0; d < room && f.walk[v] == Walk::kStrided; ++d) {
      const int64_t stride = d < ndim ? p.values[v].strides[d] : 0;
      add(&stride, sizeof(stride));
    }
  }
  for (size_t v = 0; v < p.values.size(); ++v)
    if (f.walk[v] == Walk::kNumber) add_number(p.values[v].memory, p.values[v].dtype);
  for (const ProgramStep& s : p.steps) {
    const auto size = static_cast<size_t>(element_size(s.compute));
    for (int k = 0; k < s.body->num_scalars; ++k) add_number(s.scalars + static_cast<size_t>(k) * size, s.compute);
  }
  out.resize((out.size() + 15) / 16 * 16);  // the struct ends at its alignment
  return out;
}

}  // namespace argand::exec
