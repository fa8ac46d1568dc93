// Random generators: a Generator is a handle (copies share the stream) on the GeneratorImpl of one device.
#pragma once
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "argand/base/error.h"
#include "argand/base/intrusive_ptr.h"
#include "argand/core/device.h"

namespace argand {

class Tensor;

// The seed of every generator that was not given one.
inline constexpr uint64_t kDefaultSeed = 67280421310721;

// The interface of the generators of all devices.  No member locks: callers on several threads must hold mutex(), as
// LibTorch programs do.  The functions that fill memory lock it themselves.
class GeneratorImpl : public RefCounted {
 public:
  explicit GeneratorImpl(Device device) : device_(device) {}
  // Restarts the stream of numbers of `seed`.
  virtual void set_current_seed(uint64_t seed) = 0;
  virtual uint64_t current_seed() const = 0;
  // Everything needed to go on bit for bit; the layout belongs to the device (see cpu_generator.h).
  virtual std::vector<uint8_t> state() const = 0;
  // ValueError if `state` was not made by state() of such a generator; the generator is then unchanged.
  virtual void set_state(const std::vector<uint8_t>& state) = 0;
  // A number that the state determines and that no other call gets: the seed of what the CPU draws in the device's
  // place.  Moves the state on.
  virtual uint64_t take_seed() = 0;
  // An independent generator with the same state.
  virtual intrusive_ptr<GeneratorImpl> clone() const = 0;

  // Seeds from the operating system's entropy; returns the seed.
  uint64_t seed();
  Device device() const { return device_; }

  std::mutex mutex_;

 private:
  Device device_;
};

class Generator {
 public:
  Generator() = default;  // undefined: an op given one uses the default generator of its device
  explicit Generator(intrusive_ptr<GeneratorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return static_cast<bool>(impl_); }
  void set_current_seed(uint64_t seed) { impl().set_current_seed(seed); }
  uint64_t current_seed() const { return impl().current_seed(); }
  uint64_t seed() { return impl().seed(); }
  std::vector<uint8_t> state() const { return impl().state(); }
  void set_state(const std::vector<uint8_t>& state) { impl().set_state(state); }
  // The same as a tensor of bytes (ATen/Context.h).
  Tensor get_state() const;
  void set_state(const Tensor& state);
  Generator clone() const { return Generator(impl().clone()); }
  Device device() const { return impl().device(); }
  std::mutex& mutex() { return impl().mutex_; }

  // The implementation as the type it must be: `g.get<CpuGeneratorImpl>()`; DeviceError if it is another device's.
  template <class Impl>
  Impl* get() const {
    Impl* p = dynamic_cast<Impl*>(&impl());
    ARGAND_CHECK(DeviceError, p, "Generator: expected a generator for ", device_type_name(Impl::kDeviceType),
                 ", got one for ", device());
    return p;
  }
  const intrusive_ptr<GeneratorImpl>& impl_ptr() const { return impl_; }
  friend bool operator==(const Generator& a, const Generator& b) { return a.impl_ == b.impl_; }

 private:
  GeneratorImpl& impl() const {
    ARGAND_CHECK(ValueError, impl_, "Generator: this generator is undefined");
    return *impl_;
  }
  intrusive_ptr<GeneratorImpl> impl_;
};

// 64 bits from the operating system's entropy.
uint64_t nondeterministic_seed();

}  // namespace argand
