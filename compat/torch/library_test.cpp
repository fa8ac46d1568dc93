// Ops of a program's own: schemas, kernels, the order of keys, calls with types and with stacks, gradients.
#include <ATen/core/boxing/impl/test_helpers.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include "argand/exec/autocast.h"
#include "argand/exec/profiler.h"
#include "argand/library/schema.h"

namespace {

using torch::Tensor;

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

#define EXPECT_SAYS(text, ...) \
  EXPECT_NE(message_of([&] { __VA_ARGS__; }).find(text), std::string::npos) << message_of([&] { __VA_ARGS__; })

c10::OperatorHandle op(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

// ---- blocks as programs write them

Tensor scale_cpu(const Tensor& self, double factor, int64_t times) {
  Tensor out = self.detach().clone();
  for (int64_t i = 0; i < times; ++i) out.mul_(factor);
  return out;
}

struct Scale : torch::autograd::Function<Scale> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& self, double factor, int64_t times) {
    const at::AutoDispatchBelowADInplaceOrView below;
    ctx->saved_data["by"] = std::pow(factor, static_cast<double>(times));
    static const auto scale = op("lib::scale").typed<Tensor(const Tensor&, double, int64_t)>();
    return scale.call(self, factor, times);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    return {grads[0] * ctx->saved_data["by"].toDouble(), Tensor(), Tensor()};
  }
};
Tensor scale_autograd(const Tensor& self, double factor, int64_t times) { return Scale::apply(self, factor, times); }

TORCH_LIBRARY(lib, m) {
  m.def("scale(Tensor self, float factor, int times=1) -> Tensor");
  m.def("twice", [](const Tensor& t) { return t * 2; });
  m.def("sum_all(Tensor[] tensors, *, Tensor? start=None) -> Tensor");
  m.def(
      "everything(int a, float b, bool c, str d, Scalar e, int[] f, float[] g, Tensor?[] h, ScalarType i, Device j, "
      "int[]? k, str[] l) -> (str, int[], float)");
}
TORCH_LIBRARY_IMPL(lib, CPU, m) {
  m.impl("scale", scale_cpu);
  m.impl("sum_all", [](at::TensorList tensors, const std::optional<Tensor>& start) {
    Tensor sum = start ? start->clone() : torch::zeros({});
    for (const Tensor& t : tensors) sum = sum + t;
    return sum;
  });
}
TORCH_LIBRARY_IMPL(lib, CompositeExplicitAutograd, m) {
  m.impl("everything", [](int64_t a, double b, bool c, std::string_view d, const at::Scalar& e, at::IntArrayRef f,
                          at::ArrayRef<double> g, const std::vector<std::optional<Tensor>>& h, at::ScalarType i,
                          at::Device j, at::OptionalIntArrayRef k, std::vector<std::string> l) {
    const std::string text = c10::str(a, " ", b, " ", c, " ", d, " ", e.toDouble(), " ", h.size(), h[0].has_value(),
                                      " ", i, " ", j.str(), " ", k.has_value() ? k.value().size() : 0, " ", l[1]);
    return std::make_tuple(text, f.vec(), g[0]);
  });
}
TORCH_LIBRARY_IMPL(lib, Autograd, m) { m.impl("scale", scale_autograd); }
TORCH_LIBRARY_FRAGMENT(lib, m) {
  m.def("more(Tensor self) -> Tensor", [](const Tensor& t) { return t + 1; });
}
TORCH_LIBRARY_FRAGMENT(lib, m) {
  m.def("most(Tensor self) -> Tensor", [](const Tensor& t) { return t + 2; });
}

TEST(Library, CallsTyped) {
  const Tensor x = torch::ones({2});
  const auto scale = op("lib::scale").typed<Tensor(const Tensor&, double, int64_t)>();
  EXPECT_TRUE(scale.call(x, 3, 2).equal(torch::full({2}, 9.0)));
  // Another spelling of the same types goes by a stack.
  EXPECT_TRUE(op("lib::scale").typed<Tensor(Tensor, double, int64_t)>().call(x, 3, 1).equal(torch::full({2}, 3.0)));
  EXPECT_TRUE(op("lib::more").typed<Tensor(const Tensor&)>().call(x).equal(x + 1));
  EXPECT_TRUE(op("lib::most").typed<Tensor(const Tensor&)>().call(x).equal(x + 2));
  const std::vector<Tensor> parts{x, x};
  EXPECT_TRUE(
      (callOpUnboxed<Tensor, at::TensorList, const std::optional<Tensor>&>(op("lib::sum_all"), parts, x)).equal(x * 3));
}

TEST(Library, CallsBoxed) {
  const Tensor x = torch::ones({2});
  EXPECT_TRUE(callOp(op("lib::scale"), x, 2.0, 3)[0].toTensor().equal(torch::full({2}, 8.0)));
  torch::jit::Stack stack{c10::IValue("below"), c10::IValue(x)};
  op("lib::twice").callBoxed(&stack);
  ASSERT_EQ(stack.size(), 2U);
  EXPECT_EQ(stack[0].toStringRef(), "below");
  EXPECT_TRUE(stack[1].toTensor().equal(x * 2));
  EXPECT_SAYS("expected 3 arguments on the stack, got 1", callOp(op("lib::scale"), x));
}

TEST(Library, EveryTypeGoesThroughAStack) {
  std::vector<c10::IValue> missing{c10::IValue()}, texts{c10::IValue("p"), c10::IValue("q")};
  const auto out = callOp(op("lib::everything"), 7, 0.5, true, "text", c10::Scalar(2), at::IntArrayRef({4, 5}),
                          std::vector<double>{1.5}, missing, static_cast<int64_t>(at::kFloat), at::Device("cpu"),
                          c10::IValue(), texts);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].toStringRef(), "7 0.5 1 text 2 10 Float cpu 0 q");
  EXPECT_EQ(out[1].toIntVector(), std::vector<int64_t>({4, 5}));
  EXPECT_EQ(out[2].to<double>(), 1.5);
}

TEST(Library, AutogradKernelDifferentiates) {
  const Tensor x = torch::ones({2}, torch::requires_grad());
  const Tensor y = op("lib::scale").typed<Tensor(const Tensor&, double, int64_t)>().call(x, 3, 2);
  EXPECT_TRUE(y.grad_fn()->name().starts_with("torch::autograd::CppNode<")) << y.grad_fn()->name();
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 9.0)));
  // A function without keys is made of ops that record themselves.
  const Tensor z = op("lib::twice").typed<Tensor(const Tensor&)>().call(x);
  EXPECT_TRUE(torch::autograd::grad({z.sum()}, {x})[0].equal(torch::full({2}, 2.0)));
}

struct Warnings {
  Warnings() : before(argand::set_warning_handler([this](std::string_view m) { text += m; })) {}
  ~Warnings() { argand::set_warning_handler(before); }
  std::string text;
  argand::WarningFunction before;
};

TEST(Library, WithoutAutogradKernelBackwardWarns) {
  auto m = MAKE_TORCH_LIBRARY(silent);
  m.def("copy(Tensor self) -> Tensor");
  m.def("ops(Tensor self) -> Tensor");
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(silent, CPU);
  cpu.impl("copy", [](const Tensor& t) { return t.detach().clone(); });
  cpu.impl("ops", [](const Tensor& t) { return t * t; });
  const Tensor x = torch::full({2}, 3.0, torch::requires_grad());
  const auto call = [&](const char* name) { return op(name).typed<Tensor(const Tensor&)>().call(x); };
  {
    const Warnings warnings;
    const Tensor y = call("silent::copy");
    EXPECT_TRUE(y.requires_grad());
    (y.sum() + x.sum()).backward();
    EXPECT_TRUE(x.grad().equal(torch::ones({2})));  // of the second path alone
    EXPECT_NE(warnings.text.find("silent::copy: an autograd kernel was not registered"), std::string::npos);
  }
  {
    const Warnings warnings;
    EXPECT_TRUE(torch::autograd::grad({call("silent::ops").sum()}, {x})[0].equal(torch::full({2}, 6.0)));
    EXPECT_NE(warnings.text.find("silent::ops: an autograd kernel was not registered"), std::string::npos);
  }
  auto quiet = MAKE_TORCH_LIBRARY_IMPL(silent, Autograd);
  quiet.impl("copy", torch::CppFunction::makeFallthrough());
  EXPECT_FALSE(call("silent::copy").requires_grad());
}

TEST(Library, NotImplementedNamesTheOp) {
  auto m = MAKE_TORCH_LIBRARY(nograd);
  m.def("view(Tensor(a) self) -> Tensor(a)");
  m.def("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(nograd, CPU);
  cpu.impl("view", [](const Tensor& t) { return t.view(t.sizes()); });
  cpu.impl("add_", [](Tensor& t, const Tensor& other) -> Tensor& { return t.add_(other); });
  auto autograd = MAKE_TORCH_LIBRARY_IMPL(nograd, Autograd);
  autograd.impl("view", torch::autograd::autogradNotImplementedFallback());
  autograd.impl("add_", torch::autograd::autogradNotImplementedFallback());
  auto views = MAKE_TORCH_LIBRARY_IMPL(_, ADInplaceOrView);
  views.fallback(torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  const auto view = op("nograd::view").typed<Tensor(const Tensor&)>();
  const auto add = op("nograd::add_").typed<Tensor&(Tensor&, const Tensor&)>();

  const Tensor base = torch::ones({2}, torch::requires_grad()).clone();
  const Tensor v = view.call(base);
  EXPECT_TRUE(v.is_view() && v._base().is_same(base));
  EXPECT_SAYS("derivative for nograd::view is not implemented", v.sum().backward());
  EXPECT_SAYS("Mutating the view nograd::view which does not have a derivative implemented is forbidden",
              v.add_(torch::ones({2}, torch::requires_grad())));

  // Without anything to record, a view is a view.
  const Tensor plain = torch::ones({2}), seen = view.call(plain);
  const Tensor w = torch::full({2}, 5.0, torch::requires_grad());
  seen.mul_(w);
  EXPECT_TRUE(torch::autograd::grad({plain.sum()}, {w})[0].equal(torch::ones({2})));

  Tensor leaf = torch::ones({2}, torch::requires_grad()), one = torch::ones({2});
  EXPECT_SAYS("a leaf Variable that requires grad is being used in an in-place operation", add.call(leaf, one));
  Tensor& written = add.call(one, leaf);
  EXPECT_EQ(&written, &one);
  EXPECT_SAYS("derivative for nograd::add_ is not implemented", one.sum().backward());
}

TEST(Library, KeysAreAskedInOrder) {
  auto m = MAKE_TORCH_LIBRARY(order);
  m.def("who(Tensor self) -> str");
  m.def("make(int size) -> Tensor");
  const auto who = [&](const Tensor& t) { return op("order::who").typed<std::string(const Tensor&)>().call(t); };
  const Tensor x = torch::ones({1});
  EXPECT_SAYS("Could not run 'order::who' with arguments from the 'CPU' backend", who(x));
  auto implicit = MAKE_TORCH_LIBRARY_IMPL(order, CompositeImplicitAutograd);
  implicit.impl("who", [](const Tensor&) { return std::string("implicit"); });
  EXPECT_EQ(who(x), "implicit");
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(order, CPU);
  cpu.impl("who", [](const Tensor&) { return std::string("cpu"); });
  cpu.impl("who", c10::DeviceType::Meta, [](const Tensor&) { return std::string("meta"); });
  EXPECT_EQ(who(x), "cpu");
  EXPECT_EQ(who(torch::ones({1}, at::kMeta)), "meta");
  auto autograd = MAKE_TORCH_LIBRARY_IMPL(order, Autograd);
  autograd.impl("who", [](c10::DispatchKeySet keys, const Tensor& t) {
    return "autograd " +
           op("order::who").typed<std::string(const Tensor&)>().redispatch(keys & c10::after_autograd_keyset, t);
  });
  EXPECT_EQ(who(x), "autograd cpu");
  {
    const c10::InferenceMode inference;
    EXPECT_EQ(who(x), "cpu");
  }
  auto autocast = MAKE_TORCH_LIBRARY_IMPL(order, AutocastCPU);
  autocast.impl("who", [](const Tensor& t) {
    const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastCPU);
    return "autocast " + op("order::who").typed<std::string(const Tensor&)>().call(t);
  });
  EXPECT_EQ(who(x), "autograd cpu");
  {
    const argand::AutocastGuard on(at::kCPU);
    EXPECT_EQ(who(x), "autocast autograd cpu");
  }
  EXPECT_SAYS("no fallback function is registered for schema order::make",
              op("order::make").typed<Tensor(int64_t)>().call(2));
  implicit.impl("make", [](int64_t size) { return torch::zeros({size}); });
  EXPECT_EQ(op("order::make").typed<Tensor(int64_t)>().call(2).numel(), 2);
}

TEST(Library, MistakesAreNamed) {
  auto m = MAKE_TORCH_LIBRARY(wrong);
  EXPECT_SAYS("Only a single TORCH_LIBRARY can be used to register the namespace wrong", MAKE_TORCH_LIBRARY(wrong));
  m.def("f(Tensor self, int n) -> Tensor");
  EXPECT_SAYS("with the same name and overload name multiple times", m.def("f(Tensor self) -> Tensor"));
  m.def("f.two(Tensor self, int n, int m) -> Tensor");
  EXPECT_SAYS("Explicitly provided namespace (other)", m.def("other::g(Tensor self) -> Tensor"));
  EXPECT_SAYS("expected ')'", m.def("g(Tensor(a self) -> Tensor"));
  EXPECT_SAYS("type Complicated is not known here", m.def("g(Complicated self) -> Tensor"));
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(wrong, CPU);
  EXPECT_SAYS("Type mismatch in argument 2: int vs float", cpu.impl("f", [](const Tensor& t, double) { return t; }));
  EXPECT_SAYS("Cannot define an operator inside of a TORCH_LIBRARY_IMPL", cpu.def("h(Tensor self) -> Tensor"));
  EXPECT_SAYS("call an operator with a wrong signature", op("wrong::f").typed<Tensor(const Tensor&)>());
  EXPECT_SAYS("Could not find schema for wrong::nothing", op("wrong::nothing"));
  cpu.impl("later", [](const Tensor& t) { return t; });
  EXPECT_SAYS("but we found an implementation; did you forget to def() the operator?", op("wrong::later"));
  m.reset();
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({"wrong::f", ""}));
}

// Numbers of type float as LibTorch 2.15 prints them, all else as it was written.
TEST(Library, SchemasPrintAsTheyWereWritten) {
  for (const char* text :
       {"lib::scale(Tensor self, float factor, int times=1) -> Tensor",
        "a::b.out(Tensor(a!) self, *, int[2] dim=[1, 2], Tensor? t=None) -> (Tensor(a!), int)", "a::b() -> ()",
        "a::b(Tensor?[] x, str s=\"q\", float e=1.0000000000000001e-05, bool f=False, ScalarType? d=None) -> (Tensor "
        "out, Tensor[] "
        "rest)"})
    EXPECT_EQ(c10::str(argand::parse_schema(text)), text);
  const auto schema = argand::parse_schema("a::b(Tensor(x!) self, int[2] dim=3, *, float e=2) -> Tensor(x!)");
  EXPECT_TRUE(schema.is_mutable());
  EXPECT_EQ(schema.arguments()[1].default_value()->toIntVector(), std::vector<int64_t>({3, 3}));
  EXPECT_EQ(schema.arguments()[2].default_value()->toDouble(), 2);
  EXPECT_TRUE(schema.arguments()[2].kwarg_only());
  EXPECT_EQ(schema.returns()[0].alias_info()->set, "x");
}

// ---- RegisterOperators, dicts and tuples

c10::Dict<std::string, Tensor> scaled(const c10::Dict<std::string, Tensor>& tensors,
                                      const std::vector<std::tuple<std::string, int64_t>>& by) {
  c10::Dict<std::string, Tensor> out;
  for (const auto& [name, factor] : by) out.insert(name, tensors.at(name) * factor);
  return out;
}
Tensor twice(const Tensor& t) { return t * 2; }
Tensor first(const c10::Dict<Tensor, int64_t>& dict) { return dict.begin()->key() * 1; }
int64_t count(const std::vector<int64_t>& numbers) { return static_cast<int64_t>(numbers.size()); }

auto registry =
    torch::RegisterOperators()
        .op("reg::twice", &twice)
        .op("reg::scaled", &scaled)
        .op("reg::thrice(Tensor self) -> Tensor",
            torch::RegisterOperators::options().kernel(c10::DispatchKey::CPU, [](const Tensor& t) { return t * 3; }))
        .op("reg::here", torch::RegisterOperators::options().kernel<decltype(twice), &twice>(c10::DispatchKey::CPU))
        .op("reg::first", &first)
        .op("reg::count", &count)
        .op("reg::same", torch::RegisterOperators::options().catchAllKernel<decltype(twice), &twice>());

TEST(Library, RegisterOperators) {
  const Tensor x = torch::ones({1}, torch::requires_grad());
  for (const char* name : {"reg::twice", "reg::same"})
    EXPECT_EQ(op(name).typed<Tensor(const Tensor&)>().call(x).item<float>(), 2) << name;
  EXPECT_EQ(op("reg::thrice").typed<Tensor(const Tensor&)>().call(x.detach()).item<float>(), 3);
  EXPECT_EQ(op("reg::scaled").schema().str(),
            "reg::scaled(Dict(str, Tensor) _0, (str, int)[] _1) -> Dict(str, Tensor) _0");
  c10::Dict<std::string, Tensor> tensors;
  tensors.insert("x", x);
  std::vector<c10::IValue> stack{tensors, std::vector<c10::IValue>{std::make_tuple(std::string("x"), 5)}};
  op("reg::scaled").callBoxed(&stack);
  EXPECT_EQ(stack.at(0).toGenericDict().at("x").toTensor().item<float>(), 5);
  // A kernel for a device is that device's alone, whether or not the schema is its own.
  for (const char* name : {"reg::thrice", "reg::here"}) {
    EXPECT_TRUE(op(name).hasKernelForDispatchKey(c10::DispatchKey::CPU)) << name;
    EXPECT_FALSE(op(name).hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) << name;
  }
  // An empty list says nothing of its elements.
  stack = {std::vector<c10::IValue>()};
  op("reg::count").callBoxed(&stack);
  EXPECT_EQ(stack.at(0).toInt(), 0);
}

// Keys of a call come from tensors wherever they are, keys of a dict too.
TEST(Library, TensorsInDicts) {
  c10::Dict<Tensor, int64_t> dict;
  EXPECT_FALSE(dict.contains(torch::ones({1})));
  EXPECT_EQ(dict.erase(torch::ones({1})), 0U);
  dict.insert(torch::ones({1}, torch::requires_grad()), 1);
  std::vector<c10::IValue> stack{dict};
  op("reg::first").callBoxed(&stack);
  EXPECT_TRUE(stack.at(0).toTensor().requires_grad());
  EXPECT_THROW(torch::dispatch(c10::DeviceType::XPU, &twice), c10::NotImplementedError);
}

TEST(Library, CallsAreSeenByProfilers) {
  argand::profiler::Session session({});
  op("reg::twice").typed<Tensor(const Tensor&)>().call(torch::ones({1}));
  std::vector<c10::IValue> stack{torch::ones({1})};
  op("reg::twice").callBoxed(&stack);
  int seen = 0;
  for (const auto& e : session.stop().events) seen += e.name == "reg::twice";
  EXPECT_EQ(seen, 2);
}

}  // namespace
