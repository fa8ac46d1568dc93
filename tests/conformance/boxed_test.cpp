// Calls by name with values (ops/boxed.h) against the same calls with argument structs: every op, on its samples, in
// each of its forms.
#include "argand/ops/boxed.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/conformance/checks.h"

namespace argand::conformance {
namespace {

std::vector<Tensor> tensors_of(const std::vector<ArgumentValue>& results) {
  std::vector<Tensor> found;
  for (const ArgumentValue& r : results) {
    if (const auto* list = std::get_if<std::vector<Tensor>>(&r))
      found.insert(found.end(), list->begin(), list->end());
    else if (const auto* t = std::get_if<Tensor>(&r))
      found.push_back(*t);
    else if (const auto* b = std::get_if<bool>(&r))
      found.push_back(full({}, *b, kBool));
    else
      ADD_FAILURE() << "a result of the kind " << boxed::kind_name(r);
  }
  return found;
}

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, bool values_unset) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(str("result ", i));
    ASSERT_EQ(got[i].defined(), expected[i].defined());
    if (!got[i].defined()) continue;
    EXPECT_EQ(got[i].dtype(), expected[i].dtype());
    EXPECT_EQ(got[i].sizes(), expected[i].sizes());
    EXPECT_EQ(got[i].requires_grad(), expected[i].requires_grad());
    if (values_unset || got[i].is_meta()) continue;
    EXPECT_EQ(bytes_of(got[i].contiguous().clone()), bytes_of(expected[i].contiguous().clone()));
  }
}

// The arguments with copies of their tensors, so that a call may write them.
std::unique_ptr<AnyArgs> with_own_tensors(const OpInfo& op, AnyArgs& args) {
  auto made = args.clone();
  for (TensorSlot& slot : slots_of(*made, op))
    if (slot.tensor->defined() && !slot.tensor->is_meta() && slot.tensor->dim() > 0)
      *slot.tensor = slot.tensor->detach().clone().set_requires_grad(slot.tensor->requires_grad());
  return made;
}

std::vector<ArgumentValue> values_of(const OpInfo& op, AnyArgs& args) {
  ArgumentValues named;
  op.args.values(args.get(), named);
  std::vector<ArgumentValue> values;
  for (auto& [name, value] : named) {
    const auto* t = std::get_if<Tensor>(&value);
    values.push_back(t && !t->defined() ? ArgumentValue() : std::move(value));
  }
  return values;
}

// The form that takes these values, without those of out=; of several the first.
const boxed::Function* form_of(const OpInfo& op, const std::vector<ArgumentValue>& values, bool writes_first,
                               bool has_outs) {
  const boxed::Function* any = nullptr;
  for (const boxed::Function& f : boxed::functions()) {
    if (f.op != &op || f.writes_first != writes_first || f.has_outs != has_outs) continue;
    const size_t n = f.parameters.size() - (has_outs ? f.results.size() : 0);
    if (n != values.size()) continue;
    if (!any) any = &f;
    if (std::equal(values.begin(), values.end(), f.parameters.begin(),
                   [](const ArgumentValue& v, const boxed::Parameter& p) { return boxed::takes(p, v); }))
      return &f;
  }
  return any;
}

std::vector<Tensor> call_boxed(const boxed::Function& f, std::vector<ArgumentValue> values) {
  manual_seed(20240607);
  std::vector<ArgumentValue> results;
  f.call_taking(values, results);  // call_named() uses call()
  return tensors_of(results);
}

// Makes the call by name; arguments that must have keywords are given by their names.
std::vector<Tensor> call_named(const OpInfo& op, const boxed::Function& f, const std::vector<ArgumentValue>& values) {
  std::vector<ArgumentValue> positional;
  std::vector<boxed::Named> named;
  for (size_t i = 0; i < values.size(); ++i) {
    const SignatureArgument& a = op.signature.arguments[i];
    if (!a.keyword_only)
      positional.push_back(values[i]);
    else if (values[i].index())
      named.emplace_back(a.name, values[i]);
  }
  manual_seed(20240607);
  return tensors_of(boxed::call(f.name, positional, named));
}

void check_forms(const OpInfo& op, AnyArgs& sample, bool values_unset) {
  const auto plain = with_own_tensors(op, sample), boxed_args = with_own_tensors(op, sample),
             named = with_own_tensors(op, sample);
  const std::vector<ArgumentValue> values = values_of(op, *boxed_args);
  const boxed::Function* f = form_of(op, values, op.inplace_only && !op.signature.results.empty(), false);
  ASSERT_NE(f, nullptr);
  const std::vector<Tensor> expected = call(op, *plain);
  const bool returns = !op.signature.results.empty();
  const std::vector<Tensor> got = call_boxed(*f, values);
  if (returns) expect_same(got, expected, values_unset);
  const std::vector<Tensor> by_name = call_named(op, *f, values_of(op, *named));
  if (returns) expect_same(by_name, expected, values_unset);

  TensorSlots slots = slots_of(sample, op);
  const bool first_is_tensor = slots.size() > 0 && slots[0].argument == 0 && slots[0].tensor->defined();
  const boxed::Function* in_place = form_of(op, values, true, false);
  if (in_place && !op.inplace_only && op.has_inplace && first_is_tensor &&
      slots[0].tensor->sizes() == expected[0].sizes() && slots[0].tensor->dtype() == expected[0].dtype() &&
      slots[0].tensor->dim() > 0 && !slots[0].tensor->requires_grad()) {
    SCOPED_TRACE("in place");
    const auto theirs = with_own_tensors(op, sample), ours = with_own_tensors(op, sample);
    const Tensor written = *slots_of(*theirs, op)[0].tensor;
    call_inplace(op, *theirs, written);
    const std::vector<Tensor> results = call_boxed(*in_place, values_of(op, *ours));
    expect_same(results, {written}, values_unset);
    EXPECT_TRUE(results.at(0).is_same(*slots_of(*ours, op)[0].tensor));
  }
  const boxed::Function* to_outs = form_of(op, values, false, true);
  if (to_outs && !expected.empty() &&
      !std::any_of(expected.begin(), expected.end(), [](const Tensor& t) { return t.requires_grad(); })) {
    SCOPED_TRACE("out=");
    const auto ours = with_own_tensors(op, sample);
    std::vector<ArgumentValue> with_outs = values_of(op, *ours);
    std::vector<Tensor> outs;
    for (const Tensor& t : got) with_outs.emplace_back(outs.emplace_back(empty({0}, t.options())));
    expect_same(call_boxed(*to_outs, with_outs), expected, values_unset);
    for (size_t i = 0; i < outs.size(); ++i) EXPECT_EQ(outs[i].sizes(), expected[i].sizes());
  }
}

}  // namespace

void check_boxed(const OpCase& c) {
  const SampleSink sink = sink_of(*c.op);
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    SCOPED_TRACE(str("op=", c.name, " sample=", i));
    if (samples[i].error.empty()) {
      check_forms(*c.op, *samples[i].args, sink.are_values_unset());
      continue;
    }
    const std::vector<ArgumentValue> values = values_of(*c.op, *samples[i].args->clone());
    const boxed::Function* f = form_of(*c.op, values, c.op->inplace_only && !c.op->signature.results.empty(), false);
    ASSERT_NE(f, nullptr);
    try {
      for (const Tensor& t : call_boxed(*f, values))
        if (t.defined()) read(t);
      ADD_FAILURE() << "expected an error: " << samples[i].error;
    } catch (const InternalError& e) {
      ADD_FAILURE() << e.what();
    } catch (const Error& e) {  // of the op, or that the value of a tensor that no call may leave out is None
      const std::string_view text = e.what();
      EXPECT_TRUE(text.find(samples[i].error) != text.npos || text.find("not None") != text.npos) << text;
    }
  }
}

static const bool registered = register_tests("Boxed", check_boxed);

// Overloads and conversions that no sample reaches.
TEST(BoxedCall, PicksTheOverloadByTheValues) {
  const Tensor x = arange(6, TensorOptions(kFloat)).view({2, 3});
  const auto one = [](std::vector<ArgumentValue> results) { return std::get<Tensor>(results.at(0)); };
  EXPECT_TRUE(
      one(boxed::call("add", std::vector<ArgumentValue>{x, int64_t{2}}, std::vector<boxed::Named>{{"alpha", 3.0}}))
          .equal(x.add(2, 3.0)));
  EXPECT_TRUE(one(boxed::call("sum", std::vector<ArgumentValue>{x})).equal(x.sum()));
  EXPECT_TRUE(one(boxed::call("sum", std::vector<ArgumentValue>{x, Dims{1}, true})).equal(x.sum({1}, true)));
  EXPECT_TRUE(one(boxed::call("max", std::vector<ArgumentValue>{x})).equal(x.max()));
  EXPECT_EQ(boxed::call("max", std::vector<ArgumentValue>{x, int64_t{1}}).size(), 2u);
  EXPECT_TRUE(one(boxed::call("max", std::vector<ArgumentValue>{x, x * 2})).equal(x * 2));
  const auto options = std::vector<boxed::Named>{
      {"dtype", int64_t{7}}, {"layout", int64_t{0}}, {"device", std::string("cpu")}, {"pin_memory", false}};
  const Tensor made = one(boxed::call("zeros", std::vector<ArgumentValue>{Dims{2, 2}}, options));
  EXPECT_EQ(made.dtype(), kDouble);
  EXPECT_EQ(one(boxed::call("max_pool2d", std::vector<ArgumentValue>{x.view({1, 2, 3}), int64_t{2}})).sizes(),
            (std::vector<int64_t>{1, 1, 1}));
}

TEST(BoxedCall, TakesIntegersThatAreScalars) {
  const auto options = std::vector<boxed::Named>{{"layout", Scalar(0)}};
  const auto made = boxed::call("zeros", std::vector<ArgumentValue>{Dims{2}}, options);
  EXPECT_EQ(std::get<Tensor>(made.at(0)).sizes(), (std::vector<int64_t>{2}));
}

TEST(BoxedCall, ErrorsNameTheOpTheArgumentAndTheKinds) {
  const auto text = [](std::string_view name, std::vector<ArgumentValue> positional,
                       std::vector<boxed::Named> named = {}) -> std::string {
    try {
      boxed::call(name, positional, named);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "no error";
  };
  const Tensor x = ones({2});
  EXPECT_EQ(text("reluu", {x}), "there is no op reluu");
  EXPECT_NE(text("relu", {std::string("x")}).find("argument 'self' must be Tensor, not str"), std::string::npos);
  EXPECT_NE(text("relu", {}).find("misses the argument 'self'"), std::string::npos);
  EXPECT_NE(text("relu", {x, x}).find("takes 1 positional arguments, got 2"), std::string::npos);
  EXPECT_NE(text("add", {x, x}, {{"beta", 1.0}}).find("has no argument 'beta'"), std::string::npos);
  EXPECT_NE(text("add", {x, x}, {{"other", x}}).find("got the argument 'other' twice"), std::string::npos);
  EXPECT_NE(text("pow", {2.0, 3.0}).find("expected a Tensor among the arguments"), std::string::npos);
  EXPECT_NE(text("zeros", {Dims{2}}, {{"dtype", int64_t{8}}}).find("argument 'dtype' must be ScalarType?"),
            std::string::npos);
  std::vector<ArgumentValue> results;
  EXPECT_THROW(boxed::find("relu")[0].call({}, results), ValueError);
}

TEST(BoxedCall, NamesAreSortedAndFound) {
  const auto all = boxed::functions();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].name, all[i].name);
  for (const boxed::Function& f : all) EXPECT_FALSE(boxed::find(f.name).empty());
  EXPECT_TRUE(boxed::find("").empty());
  EXPECT_TRUE(boxed::find("zzz").empty());
}

}  // namespace argand::conformance
