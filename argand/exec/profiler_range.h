// A range that profilers see, for headers that every program includes: profiler.h takes too long to compile there.
#pragma once
#include <string_view>

namespace argand::profiler {

class Range {
 public:
  Range() = default;
  ~Range() { end(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  // `scope`: the number of a profiler::Scope.
  void begin(std::string_view name, int scope);
  void end() noexcept;
  static bool is_seen();  // whether a profiler is active

 private:
  void* span_ = nullptr;
};

}  // namespace argand::profiler
