#include "tools/argand/metrics.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include "argand/io/file.h"

namespace argand::cli {

namespace {

constexpr std::string_view kNames = "epoch,train_loss,train_accuracy,test_loss,test_accuracy,learning_rate,seconds";
constexpr double EpochMetrics::*kColumns[] = {&EpochMetrics::train_loss,    &EpochMetrics::train_accuracy,
                                              &EpochMetrics::test_loss,     &EpochMetrics::test_accuracy,
                                              &EpochMetrics::learning_rate, &EpochMetrics::seconds};

// Takes the text up to the next comma from the front of `line`, as a number.
template <class T>
bool take(std::string_view& line, T& value) {
  const size_t end = std::min(line.find(','), line.size());
  const char* stop = line.data() + end;
  const auto [at, error] = std::from_chars(line.data(), stop, value);
  line.remove_prefix(std::min(end + 1, line.size()));
  return error == std::errc() && at == stop;
}

bool parse(std::string_view line, EpochMetrics& row) {
  bool good = take(line, row.epoch);
  for (const auto column : kColumns) good = take(line, row.*column) && good;
  return good && line.empty();
}

}  // namespace

void MetricsCsv::resume(int last) {
  rows_.clear();
  if (!std::filesystem::exists(path_)) return;
  const std::vector<uint8_t> bytes = io::read_file(path_);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    EpochMetrics row;
    const bool good = number == 1 ? line == kNames : parse(line, row);
    ARGAND_CHECK(IoError, good, "'", path_, "', line ", number, ": expected ",
                 number == 1 ? "the names " : "numbers for ", kNames, ", got '", line, "'");
    if (number > 1 && row.epoch <= last) rows_.push_back(row);
  }
}

void MetricsCsv::append(const EpochMetrics& row) {
  rows_.push_back(row);
  write();
}

void MetricsCsv::write() const {
  std::string text = str(kNames, "\n");
  for (const EpochMetrics& row : rows_) {
    text += str(row.epoch);
    for (const auto column : kColumns) text += str(",", row.*column);
    text += '\n';
  }
  io::write_file(path_, text);
}

}  // namespace argand::cli
