#include "argand/core/cpu_generator.h"

#include <pthread.h>

#include <bit>
#include <cstring>

#include "argand/core/live_generators.h"

namespace argand {

namespace {

// PyTorch's state of a CPU generator, field by field.  normal_x, normal_rho and the float sample are unused and written
// as zero.
struct SavedState {
  uint64_t seed;
  int32_t left;  // draws until the next block of words is made
  int32_t seeded;
  uint64_t position;
  uint64_t words[Mt19937::kWords];
  double normal_x;
  double cached_normal;
  double normal_rho;
  int32_t has_cached_normal;
  int32_t unused;
  float cached_float_normal;
  uint8_t has_cached_float_normal;
  uint8_t padding[3];
};
static_assert(sizeof(SavedState) == 5056);
static_assert(std::endian::native == std::endian::little);

}  // namespace

CpuGeneratorImpl::CpuGeneratorImpl(uint64_t seed)
    : GeneratorImpl(kCPU), seed_(seed), engine_(static_cast<uint32_t>(seed)) {
  add_live_generator(*this);
}

CpuGeneratorImpl::~CpuGeneratorImpl() { remove_live_generator(*this); }

void CpuGeneratorImpl::set_current_seed(uint64_t seed) {
  seed_ = seed;
  engine_ = Mt19937(static_cast<uint32_t>(seed));
  cached_normal_.reset();
}

std::vector<uint8_t> CpuGeneratorImpl::state() const {
  const Mt19937::State& engine = engine_.state();
  SavedState saved{};
  saved.seed = seed_;
  saved.left = engine.position == 0 ? 1 : Mt19937::kWords + 1 - engine.position;
  saved.seeded = 1;
  saved.position = static_cast<uint64_t>(engine.position);
  for (size_t i = 0; i < engine.words.size(); ++i) saved.words[i] = engine.words[i];
  saved.cached_normal = cached_normal_.value_or(0.0);
  saved.has_cached_normal = cached_normal_.has_value();
  std::vector<uint8_t> bytes(sizeof saved);
  std::memcpy(bytes.data(), &saved, sizeof saved);
  return bytes;
}

void CpuGeneratorImpl::set_state(const std::vector<uint8_t>& state) {
  ARGAND_CHECK(ValueError, state.size() == sizeof(SavedState), "Generator: expected a CPU state of ",
               sizeof(SavedState), " bytes, got ", state.size());
  SavedState saved;
  std::memcpy(&saved, state.data(), sizeof saved);
  const bool fresh = saved.position == 0 && saved.left == 1;
  const bool within = saved.position >= 1 && saved.position <= Mt19937::kWords &&
                      saved.left == Mt19937::kWords + 1 - static_cast<int32_t>(saved.position);
  ARGAND_CHECK(ValueError, saved.seeded == 1 && (fresh || within), "Generator: this CPU state is damaged (position ",
               saved.position, ", left ", saved.left, ")");
  Mt19937::State engine;
  engine.position = static_cast<int>(saved.position);
  for (size_t i = 0; i < engine.words.size(); ++i) engine.words[i] = static_cast<uint32_t>(saved.words[i]);
  seed_ = saved.seed;
  engine_ = Mt19937(engine);
  cached_normal_.reset();
  if (saved.has_cached_normal) cached_normal_ = saved.cached_normal;
}

intrusive_ptr<GeneratorImpl> CpuGeneratorImpl::clone() const {
  auto copy = make_intrusive<CpuGeneratorImpl>(seed_);
  copy->engine_ = engine_;
  copy->cached_normal_ = cached_normal_;
  return copy;
}

Generator& default_cpu_generator() {
  // Never destroyed: threads may draw from it while the program ends.
  static Generator* generator = new Generator(make_cpu_generator());
  return *generator;
}

Generator make_cpu_generator(uint64_t seed) { return Generator(make_intrusive<CpuGeneratorImpl>(seed)); }

namespace {

// Never destroyed, like that of the CPU.
struct DefaultGenerators {
  std::mutex mutex;
  std::vector<Generator> others;
  uint64_t seed = kDefaultSeed;
};
DefaultGenerators& default_generators() {
  static DefaultGenerators& all = *[] {
    // Handlers of fork() run in the reverse order of their registration.  Generators register theirs first, so that a
    // fork locks this mutex before those of generators, as manual_seed() does.
    default_cpu_generator();
    static DefaultGenerators& made = *new DefaultGenerators;
    const auto unlock = [] { made.mutex.unlock(); };
    pthread_atfork([] { made.mutex.lock(); }, unlock, unlock);
    return &made;
  }();
  return all;
}

void seed_locked(Generator& g, uint64_t seed) {
  const std::lock_guard lock(g.mutex());
  g.set_current_seed(seed);
}

}  // namespace

void add_default_generator(const Generator& g) {
  DefaultGenerators& all = default_generators();
  const std::lock_guard lock(all.mutex);
  all.others.push_back(g);
  seed_locked(all.others.back(), all.seed);
}

Generator manual_seed(uint64_t seed) {
  DefaultGenerators& all = default_generators();
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (Generator& g : all.others) seed_locked(g, seed);
  Generator& generator = default_cpu_generator();
  seed_locked(generator, seed);
  return generator;
}

}  // namespace argand
