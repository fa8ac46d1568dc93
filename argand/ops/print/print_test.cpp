// Texts of tensors against those of PyTorch: tests/data/printed_tensors.txt, whose maker make_printed_tensors.py
// describes it.
#include "argand/ops/print/print.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

struct Case {
  std::string line;
  ScalarType dtype = kFloat;
  std::vector<int64_t> sizes;
  int64_t step = 1;
  std::vector<std::string> table;  // bytes of the elements
  PrintOptions options;
  std::vector<std::string> words;
  std::string python, libtorch;

  bool has(const char* word) const { return std::find(words.begin(), words.end(), word) != words.end(); }
};

std::string bytes_of(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

bool set_option(PrintOptions& options, const std::string& name, int value) {
  if (name == "precision") return options.precision = value, true;
  if (name == "threshold") return options.threshold = value, true;
  if (name == "edgeitems") return options.edgeitems = value, true;
  if (name == "linewidth") return options.linewidth = value, true;
  if (name == "sci_mode") return options.sci_mode = value != 0, true;
  return false;
}

// "tensor float32 2,3 1 0000803f 00000040 precision=2 requires_grad"
Case parse(const std::string& line) {
  Case c;
  c.line = line;
  std::istringstream in(line);
  std::string word, dtype, sizes;
  in >> word >> dtype >> sizes >> c.step;
  c.dtype = parse_dtype(dtype).value();
  std::istringstream dims(sizes == "-" ? "" : sizes);
  for (std::string size; std::getline(dims, size, ',');) c.sizes.push_back(std::stoll(size));
  while (in >> word) {
    const size_t equals = word.find('=');
    if (equals != std::string::npos)
      EXPECT_TRUE(set_option(c.options, word.substr(0, equals), std::stoi(word.substr(equals + 1)))) << word;
    else if (word.find_first_not_of("0123456789abcdef") == std::string::npos)
      c.table.push_back(bytes_of(word));
    else
      c.words.push_back(word);
  }
  return c;
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::ifstream file("tests/data/printed_tensors.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("tensor ", 0) == 0) cases.push_back(parse(line));
    for (const char kind : {'p', 'c'}) {
      if (line[0] != kind) continue;
      std::string& text = kind == 'p' ? cases.back().python : cases.back().libtorch;
      text += (text.empty() ? "" : "\n") + line.substr(2);
    }
  }
  return cases;
}

Tensor tensor_of(const Case& c) {
  const Tensor t = empty(c.sizes, c.dtype);
  char* to = static_cast<char*>(t.data_ptr());
  for (int64_t i = 0; i < t.numel(); ++i) {
    const std::string& bytes = c.table[static_cast<size_t>(i * c.step) % c.table.size()];
    std::copy(bytes.begin(), bytes.end(), to + i * t.element_size());
  }
  return t;
}

std::string streamed(const Tensor& t, int64_t linesize = 80) {
  std::ostringstream out;
  print(out, t, linesize);
  return out.str();
}

TEST(Print, EveryCaseIsPyTorchsText) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 500U);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line.substr(0, 200));
    const Tensor plain = tensor_of(c);
    Tensor t = plain;
    if (c.has("requires_grad") || c.has("mul")) t.requires_grad_();
    if (c.has("mul")) t = t * 1;
    if (c.has("meta")) t = t.to(Device(kMeta));
    set_default_dtype(c.has("default64") ? kDouble : kFloat);
    EXPECT_EQ(to_string(t, c.options), c.python);
    set_default_dtype(kFloat);
    if (!c.libtorch.empty()) {
      EXPECT_EQ(streamed(plain, c.options.linewidth), c.libtorch);
    }
  }
}

TEST(Print, LayoutDoesNotMatter) {
  const Tensor t = arange(5000).reshape({50, 100}).to(kFloat);
  const Tensor transposed = t.t().contiguous().t(), part = cat({t, t}, 1).narrow(1, 0, 100);
  ASSERT_FALSE(transposed.is_contiguous());
  for (const Tensor& other : {transposed, part}) {
    EXPECT_EQ(to_string(other), to_string(t));
    EXPECT_EQ(streamed(other), streamed(t));
  }
}

TEST(Print, WaitsForPendingWork) {
  const Tensor t = full({1 << 20}, 1.0);
  const Tensor later = t * 3 + 1;
  EXPECT_EQ(to_string(later), "tensor([4., 4., 4.,  ..., 4., 4., 4.])");
}

TEST(Print, RecordsNothing) {
  const Tensor t = full({3}, 2.0).requires_grad_();
  const uint32_t version = t._version();
  to_string(t);
  streamed(t);
  EXPECT_EQ(t._version(), version);
  EXPECT_TRUE(t.is_leaf());
}

TEST(Print, StreamKeepsItsFormat) {
  std::ostringstream out;
  out << std::hexfloat << std::setprecision(2) << full({1}, 0.5) << '\n';
  EXPECT_EQ(out.str(), " 0.5000\n[ CPUFloatType{1} ]\n");
  EXPECT_EQ(out.precision(), 2);
  EXPECT_EQ(out.flags() & std::ios::floatfield, std::ios::fixed | std::ios::scientific);
}

// As LibTorch wrote them.
TEST(Print, OtherValues) {
  std::ostringstream out;
  const Tensor t = full({2, 3}, 1.0);
  out << t.sizes() << full({}, 1.0).sizes() << full({4}, 1.0).sizes() << kFloat << kBFloat16 << kComplexDouble
      << t.device() << Device("cuda:1") << Scalar(2.5) << ' ' << Scalar(3) << Scalar(true)
      << Scalar(std::complex<double>(1.5, -2)) << Scalar(1e-7 / 3) << Half(0.5F);
  EXPECT_EQ(out.str(), "[2, 3][][4]FloatBFloat16ComplexDoublecpucuda:12.5 3true(1.5,-2)3.33333e-080.5");
}

TEST(Print, UndefinedAndInMessages) {
  EXPECT_EQ(to_string(Tensor()), "None");
  EXPECT_EQ(streamed(Tensor()), "[ Tensor (undefined) ]");
  EXPECT_EQ(str("got ", full({2}, 1.5)), "got tensor([1.5000, 1.5000])");
}

TEST(Print, Errors) {
  const auto message = [](const PrintOptions& options) -> std::string {
    try {
      to_string(full({2}, 1.0), options);
    } catch (const ValueError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({.precision = -1}), "to_string: expected precision in [0, 1000], got -1");
  EXPECT_EQ(message({.edgeitems = 0}), "to_string: expected edgeitems > 0, got 0");
  EXPECT_THROW(streamed(empty({2}, TensorOptions(kFloat).device(kMeta))), NotImplementedError);
}

}  // namespace
}  // namespace argand
