// Random programs with views and in-place writes have the gradients, and gradients of gradients, of the same programs
// without either; and the same bits with the issue window as without it.
//
// ARGAND_FUZZ_SEED=S runs the program of seed S alone; ARGAND_FUZZ_PROGRAMS=N runs so many.
#include <cstdlib>
#include <cstring>

#include "argand/exec/window.h"
#include "tests/autograd/random_program.h"

namespace argand::autograd {
namespace {

constexpr int64_t kPrograms = 1500;

int64_t env_or(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

// The loss, its gradients, and the gradients of a sum over those.
Grads derivatives(Runner& runner) {
  Grads out{runner.loss()};
  const Grads first = grad(out, runner.leaves(), {}, std::nullopt, true, true);
  Tensor sum = zeros({}, kDouble);
  for (const Tensor& g : first) {
    out.push_back(g.defined() ? g.detach() : g);
    if (g.defined()) sum = sum + (g * (g + 0.3)).sum();
  }
  if (sum.requires_grad())
    for (Tensor& g : grad({sum}, runner.leaves(), {}, std::nullopt, false, true)) out.push_back(std::move(g));
  out[0] = out[0].detach();
  return out;
}

// Undefined stands for zero.
bool close(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return !(a.defined() || b.defined()) || all_equal(a.defined() ? a : b, 0);
  return a.allclose(b, 1e-8, 1e-10);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && std::memcmp(x.impl().data(), y.impl().data(), x.nbytes()) == 0;
}

std::string numbers_of(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::string out;
  for (const Tensor& x : t.reshape({-1}).unbind()) out += str(x.item<double>(), " ");
  return out;
}

class WindowScope {
 public:
  explicit WindowScope(exec::WindowMode mode) : before_(exec::window_mode()) { exec::set_window_mode(mode); }
  ~WindowScope() { exec::set_window_mode(before_); }
  WindowScope(const WindowScope&) = delete;
  WindowScope& operator=(const WindowScope&) = delete;

 private:
  exec::WindowMode before_;
};

TEST(AutogradFuzz, ViewsAndWritesHaveTheRightGradients) {
  const int64_t only = env_or("ARGAND_FUZZ_SEED", -1);
  const int64_t count = only >= 0 ? 1 : env_or("ARGAND_FUZZ_PROGRAMS", kPrograms);
  int64_t refused = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto seed = static_cast<uint64_t>(only >= 0 ? only : i);
    Direct direct;
    Grads got;
    try {
      const WindowScope eager(exec::WindowMode::kEager);
      run_program(seed, direct);
      got = derivatives(direct);
    } catch (const GradError& e) {
      ASSERT_NE(std::string(e.what()).find("has been modified by an inplace operation"), std::string::npos)
          << "seed " << seed << ": " << e.what() << "\n"
          << direct.text();
      ++refused;
      continue;
    } catch (const ValueError& e) {
      ASSERT_NE(std::string(e.what()).find("refer to a single memory location"), std::string::npos)
          << "seed " << seed << ": " << e.what() << "\n"
          << direct.text();
      ++refused;
      continue;
    }
    Functional functional;
    run_program(seed, functional);
    const Grads expected = derivatives(functional);
    for (size_t k = 0; k < std::max(got.size(), expected.size()); ++k) {
      const Tensor g = k < got.size() ? got[k] : Tensor(), e = k < expected.size() ? expected[k] : Tensor();
      ASSERT_TRUE(close(g, e)) << "seed " << seed << ", result " << k
                               << " (the loss, first gradients, second gradients): " << numbers_of(g)
                               << "\nin place of " << numbers_of(e) << "\n"
                               << direct.text();
    }
    const WindowScope windowed(exec::WindowMode::kAlways);
    Direct again;
    run_program(seed, again);
    const Grads late = derivatives(again);
    for (size_t k = 0; k < got.size(); ++k)
      ASSERT_TRUE(same_bits(got[k], late[k])) << "seed " << seed << ", result " << k << " differs with the window\n"
                                              << direct.text();
  }
  EXPECT_LT(refused, count * 2 / 3) << "too many programs write over what a gradient, or the write itself, reads";
}

}  // namespace
}  // namespace argand::autograd
