// Writes a line for every test: its name, its milliseconds and the numbers of the places it came by, to the file that
// ARGAND_MUTANTS_RECORD names.  The tool copies it beside the tests of its build.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "argand/base/mutants.h"

namespace {

class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : file_(std::fopen(path, "w")) {}

 private:
  void OnTestStart(const testing::TestInfo&) override { argand_mutants_reached(numbers_, kMost); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::size_t n = argand_mutants_reached(numbers_, kMost);
    std::fprintf(file_, "%s.%s\t%lld\t", test.test_suite_name(), test.name(),
                 static_cast<long long>(test.result()->elapsed_time()));
    for (std::size_t i = 0; i < n; ++i) std::fprintf(file_, i ? ",%d" : "%d", numbers_[i]);
    std::fprintf(file_, "\n");
    std::fflush(file_);
  }

  static constexpr std::size_t kMost = 4096;
  int numbers_[kMost];
  std::FILE* file_;
};

const bool registered = [] {
  if (const char* path = std::getenv("ARGAND_MUTANTS_RECORD"))
    testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
  return true;
}();

}  // namespace
