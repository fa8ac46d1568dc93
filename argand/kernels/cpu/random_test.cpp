// Every stream against what PyTorch gave: tests/data/random_streams.txt, whose maker make_random_streams.py describes
// the format.
#include "argand/kernels/cpu/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "argand/base/sha256.h"

namespace argand::cpu {
namespace {

// One line of the data file.
struct Call {
  std::string op, dtype;
  int64_t n = 0;
  std::vector<std::string> arguments;
  std::vector<uint64_t> bits;  // of all elements, or of the first when there is a digest
  std::string digest;

  double real(size_t i) const { return std::strtod(arguments.at(i).c_str(), nullptr); }
  int64_t integer(size_t i) const { return std::strtoll(arguments.at(i).c_str(), nullptr, 10); }
  uint64_t natural(size_t i) const { return std::strtoull(arguments.at(i).c_str(), nullptr, 10); }
};

Call parse(const std::string& line) {
  std::istringstream in(line);
  Call call;
  in >> call.op >> call.dtype >> call.n;
  std::string word;
  while (in >> word && word != "=") call.arguments.push_back(word);
  while (in >> word && word != "sha256") call.bits.push_back(std::strtoull(word.c_str(), nullptr, 16));
  in >> call.digest;
  return call;
}

// Samples that go through the C library's logarithm, sine, cosine or tangent: another library may round differently.
bool depends_on_libm(const Call& call) {
  for (const char* op : {"normal_serial", "exponential", "cauchy", "log_normal", "geometric"})
    if (call.op == op) return true;
  return call.op == "normal" && (call.dtype == "f64" || call.n < 16);
}

template <class T>
T from_double(double x) {
  if constexpr (ReducedFloat<T>) {
    return T(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
std::vector<T> probabilities(int64_t n) {
  std::vector<T> p;
  for (int64_t i = 0; i < n; ++i) p.push_back(from_double<T>(static_cast<double>(i) / static_cast<double>(n)));
  return p;
}

template <class T>
void run_multinomial(const Call& c, CpuGeneratorImpl& gen, int64_t* out) {
  const int64_t rows = c.integer(0), categories = c.integer(1), k = c.integer(2);
  std::vector<T> weights;
  for (int64_t i = 0; i < rows * categories; ++i) weights.push_back(from_double<T>(static_cast<double>(i % 7) / 4));
  multinomial(gen, weights.data(), rows, categories, k, c.integer(3) != 0, out);
}

template <class T>
bool run_floating(const Call& c, CpuGeneratorImpl& gen, T* out) {
  if (c.op == "uniform") return uniform(gen, out, c.n, c.real(0), c.real(1)), true;
  if (c.op == "normal") return normal(gen, out, c.n, c.real(0), c.real(1)), true;
  if (c.op == "normal_serial") return normal_serial(gen, out, c.n, c.real(0), c.real(1)), true;
  if (c.op == "exponential") return exponential(gen, out, c.n, c.real(0)), true;
  if (c.op == "cauchy") return cauchy(gen, out, c.n, c.real(0), c.real(1)), true;
  if (c.op == "log_normal") return log_normal(gen, out, c.n, c.real(0), c.real(1)), true;
  return false;
}

template <class T>
bool run(const Call& c, CpuGeneratorImpl& gen, T* out) {
  if (c.op == "random_from_to") return random_from_to(gen, out, c.n, c.integer(0), c.natural(1)), true;
  if (c.op == "random_full") return random_full(gen, out, c.n), true;
  if (c.op == "bernoulli") return bernoulli(gen, out, c.n, c.real(0)), true;
  if (c.op == "bernoulli_each_f32") return bernoulli(gen, out, probabilities<float>(c.n).data(), c.n), true;
  if (c.op == "bernoulli_each_f64") return bernoulli(gen, out, probabilities<double>(c.n).data(), c.n), true;
  if (c.op == "bernoulli_each_f16") return bernoulli(gen, out, probabilities<Half>(c.n).data(), c.n), true;
  if (c.op == "bernoulli_each_bf16") return bernoulli(gen, out, probabilities<BFloat16>(c.n).data(), c.n), true;
  if constexpr (!std::is_same_v<T, bool>) {
    if (c.op == "randperm") return randperm(gen, out, c.n), true;
    if (c.op == "geometric") return geometric(gen, out, c.n, c.real(0)), true;
  }
  if constexpr (std::is_same_v<T, int64_t>) {
    if (c.op == "multinomial_f32") return run_multinomial<float>(c, gen, out), true;
    if (c.op == "multinomial_f64") return run_multinomial<double>(c, gen, out), true;
    if (c.op == "multinomial_f16") return run_multinomial<Half>(c, gen, out), true;
    if (c.op == "multinomial_bf16") return run_multinomial<BFloat16>(c, gen, out), true;
  }
  if constexpr (!std::numeric_limits<T>::is_integer) return run_floating(c, gen, out);
  return false;
}

template <class T>
double value_of(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void check(const Call& c, CpuGeneratorImpl& gen) {
  const size_t n = static_cast<size_t>(c.n);
  // One element more, to see that nothing is written behind the end.
  std::unique_ptr<unsigned char[]> memory(new unsigned char[(n + 1) * sizeof(T)]);
  std::memset(memory.get(), 0x5a, (n + 1) * sizeof(T));
  T* out = reinterpret_cast<T*>(memory.get());
  ASSERT_TRUE(run(c, gen, out)) << "the test does not know this call";
  for (size_t i = 0; i < sizeof(T); ++i) ASSERT_EQ(memory[n * sizeof(T) + i], 0x5a) << "written behind the end";
  ASSERT_EQ(c.bits.size(), c.digest.empty() ? n : 8u);
  for (size_t i = 0; i < c.bits.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, out + i, sizeof(T));
    const double got = value_of<T>(bits), want = value_of<T>(c.bits[i]);
    if (depends_on_libm(c)) {
      const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
      ASSERT_NEAR(got, want, 8 * epsilon * std::max(1.0, std::abs(want))) << "element " << i;
    } else {
      ASSERT_EQ(bits, c.bits[i]) << "element " << i << ": got " << got << ", PyTorch has " << want;
    }
  }
  if (!c.digest.empty()) {
    ASSERT_EQ(Sha256().update(memory.get(), n * sizeof(T)).hex(), c.digest) << "an element behind the first 8";
  }
}

void check_any_dtype(const Call& c, CpuGeneratorImpl& gen) {
  if (c.dtype == "f32") return check<float>(c, gen);
  if (c.dtype == "f64") return check<double>(c, gen);
  if (c.dtype == "f16") return check<Half>(c, gen);
  if (c.dtype == "bf16") return check<BFloat16>(c, gen);
  if (c.dtype == "i8") return check<int8_t>(c, gen);
  if (c.dtype == "i16") return check<int16_t>(c, gen);
  if (c.dtype == "i32") return check<int32_t>(c, gen);
  if (c.dtype == "i64") return check<int64_t>(c, gen);
  if (c.dtype == "u8") return check<uint8_t>(c, gen);
  if (c.dtype == "bool") return check<bool>(c, gen);
  FAIL() << "the test does not know the dtype " << c.dtype;
}

TEST(RandomStreams, AreThoseOfPyTorch) {
  std::ifstream file("tests/data/random_streams.txt");
  ASSERT_TRUE(file) << "run the test from the root of the repository";
  CpuGeneratorImpl gen;
  std::string line;
  int calls = 0;
  for (int number = 1; std::getline(file, line); ++number) {
    SCOPED_TRACE("random_streams.txt:" + std::to_string(number) + ": " + line.substr(0, 80));
    if (line.rfind("seed ", 0) == 0) {
      gen.set_current_seed(std::stoull(line.substr(5)));
    } else if (line.rfind("state ", 0) == 0) {
      const std::vector<uint8_t> state = gen.state();
      EXPECT_EQ(Sha256().update(state.data(), state.size()).hex(), line.substr(6));
    } else if (line[0] != '#') {
      check_any_dtype(parse(line), gen);
      ++calls;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(calls, 200);
}

// Whether a fill is one call or many, and where the engine's blocks end, makes no difference.
TEST(RandomStreams, AFillIsTheSameInPieces) {
  constexpr int64_t kSize = 20000;
  CpuGeneratorImpl whole_gen(8), pieces_gen(8);
  std::vector<double> whole(kSize), pieces(kSize);
  uniform(whole_gen, whole.data(), kSize, -2.0, 3.0);
  for (int64_t first = 0, piece = 1; first < kSize; first += piece, piece = piece * 3 + 1)
    uniform(pieces_gen, pieces.data() + first, std::min(piece, kSize - first), -2.0, 3.0);
  EXPECT_EQ(whole, pieces);
  EXPECT_EQ(whole_gen.random(), pieces_gen.random());
}

TEST(RandomStreams, GoOnFromASavedStateWithAKeptSample) {
  CpuGeneratorImpl gen(5), restored(6);
  double first;
  normal(gen, &first, 1);
  restored.set_state(gen.state());
  std::vector<double> want(9), got(9);
  normal(gen, want.data(), 9);
  normal(restored, got.data(), 9);
  EXPECT_EQ(want, got);
}

TEST(RandomStreams, MultinomialRefusesWeightsThatAreNoDistribution) {
  CpuGeneratorImpl gen(5);
  const std::vector<uint8_t> before = gen.state();
  int64_t out[2];
  const float infinity = std::numeric_limits<float>::infinity();
  for (float bad : {-1.0f, infinity, std::numeric_limits<float>::quiet_NaN(), 0.0f}) {
    const float weights[] = {1.0f, 2.0f, bad, 0.0f};  // the second row is at fault
    EXPECT_THROW(multinomial(gen, weights, 2, 2, 1, true, out), ValueError) << bad;
    EXPECT_THROW(multinomial(gen, weights, 2, 2, 2, false, out), ValueError) << bad;
  }
  EXPECT_EQ(gen.state(), before);
}

// Two threads share a generator: each fill is one run of the stream, in either order.
TEST(RandomStreams, AFillIsOneRunOfTheStream) {
  constexpr int64_t kSize = 50000;
  CpuGeneratorImpl shared(1), alone(1);
  std::vector<float> a(kSize), b(kSize), both(2 * kSize);
  std::thread other([&] { uniform(shared, a.data(), kSize); });
  uniform(shared, b.data(), kSize);
  other.join();
  uniform(alone, both.data(), 2 * kSize);
  const std::vector<float> first(both.begin(), both.begin() + kSize), second(both.begin() + kSize, both.end());
  EXPECT_TRUE((a == first && b == second) || (a == second && b == first));
}

}  // namespace
}  // namespace argand::cpu
