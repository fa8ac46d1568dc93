// Ranges that profilers see: RECORD_FUNCTION("my::op", inputs) names the rest of its scope.
#pragma once
#include <string_view>

#include "argand/exec/profiler_range.h"
#include "c10/namespaces.h"

namespace at {

enum class RecordScope : uint8_t { FUNCTION = 0, BACKWARD_FUNCTION = 1, USER_SCOPE = 7 };

// Records on the calling thread.  The inputs are not kept.
class RecordFunction {
 public:
  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION) : scope_(scope) {}
  template <class Inputs>
  void before(std::string_view name, const Inputs&) {
    before(name);
  }
  void before(std::string_view name) { range_.begin(name, static_cast<int>(scope_)); }
  void end() { range_.end(); }
  bool isActive() const { return argand::profiler::Range::is_seen(); }

 private:
  RecordScope scope_;
  argand::profiler::Range range_;
};

}  // namespace at

// The inputs are not evaluated.
#define RECORD_FUNCTION_WITH_SCOPE(scope, name, ...)  \
  ::at::RecordFunction argand_record_function(scope); \
  argand_record_function.before(name)
#define RECORD_FUNCTION(name, ...) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::FUNCTION, name)
#define RECORD_USER_SCOPE(name) RECORD_FUNCTION_WITH_SCOPE(::at::RecordScope::USER_SCOPE, name)
#define RECORD_USER_SCOPE_WITH_INPUTS(name, ...) RECORD_USER_SCOPE(name)
