// A timeout for calls that differs from their group's.
//
//   const CallTimeout guard(std::chrono::seconds(5));
//   group->barrier()->wait();   // after 5 s all ranks get the error that names who was missing
#pragma once
#include <chrono>
#include <optional>
#include <utility>

namespace argand::parallel {

// Collectives that this thread starts while the object exists have this timeout.  Messages have no timeout of their
// own: wait_for() of their Work has one.
class CallTimeout {
 public:
  explicit CallTimeout(std::optional<std::chrono::milliseconds> timeout)
      : before_(std::exchange(current(), timeout ? timeout : current())) {}
  ~CallTimeout() { current() = before_; }
  CallTimeout(const CallTimeout&) = delete;
  CallTimeout& operator=(const CallTimeout&) = delete;

  static std::chrono::milliseconds or_else(std::chrono::milliseconds of_group) { return current().value_or(of_group); }

 private:
  static std::optional<std::chrono::milliseconds>& current();
  const std::optional<std::chrono::milliseconds> before_;
};

}  // namespace argand::parallel
