#include "argand/io/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "argand/exec/invoke.h"
#include "argand/io/utf8.h"
#include "argand/ops/functions.h"

namespace argand::io {

namespace {
constexpr size_t kPiece = size_t{1} << 16;
constexpr int kEnd = -1;
}  // namespace

std::string read_text(const ByteSource& file, int64_t max_bytes) {
  const std::string& path = file.path();
  if (file.size() > max_bytes)
    throw FileError(str("'", path, "' is too large: expected at most ", max_bytes, " bytes, got ", file.size()), path,
                    0);
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t n = utf8_length(rest);
    if (n == 0) throw FileError(str("'", path, "': byte ", text.size() - rest.size(), " is not UTF-8"), path, 0);
    rest.remove_prefix(n);
  }
  return text;
}

CsvReader::CsvReader(const ByteSource& source, CsvOptions options) : source_(source), options_(options) {
  ARGAND_CHECK(ValueError, options.delimiter != '"' && options.delimiter != '\n' && options.delimiter != '\r',
               "CsvReader: a delimiter that ends rows or fields");
  char mark[3] = {};
  if (source.size() >= 3) source.read(0, mark, 3);
  if (std::string_view(mark, 3) == "\xEF\xBB\xBF") read_ = 3;  // a byte order mark, as some programs write
  if (!options.header) return;
  std::vector<std::string> names;
  if (!next(names)) fail("expected the names of the columns");
  for (size_t i = 0; i < names.size(); ++i) {
    column_ = static_cast<int64_t>(i) + 1;
    line_ = row_line_;
    if (std::find(names_.begin(), names_.end(), names[i]) != names_.end())
      fail(str("two columns named '", names[i], "'"));
    names_.push_back(names[i]);
  }
  line_ = row_line_ + 1;
}

void CsvReader::fail(const std::string& what) const { throw CsvError(source_.path(), line_, column_, what); }

int CsvReader::peek() {
  if (at_ == buffer_.size()) {
    buffer_.resize(static_cast<size_t>(std::min<int64_t>(kPiece, source_.size() - read_)));
    source_.read(read_, buffer_.data(), buffer_.size());
    read_ += static_cast<int64_t>(buffer_.size());
    at_ = 0;
  }
  return buffer_.empty() ? kEnd : static_cast<unsigned char>(buffer_[at_]);
}

int CsvReader::take() {
  const int c = peek();
  if (c != kEnd) ++at_;
  return c;
}

// Reads up to the terminator, which is not consumed.
void CsvReader::field(std::string& out) {
  const int64_t first = line_;
  const bool quoted = peek() == '"';
  if (quoted) take();
  for (;;) {
    const int c = peek();
    if (quoted) {
      if (c == kEnd) {
        line_ = first;
        fail("a quote that does not end");
      }
      take();
      if (c == '"') {
        if (peek() != '"') break;
        take();
      }
      if (c == '\n') ++line_;
    } else {
      if (c == kEnd || c == options_.delimiter || c == '\n' || c == '\r') break;
      if (c == '"') fail("a quote inside of a field that does not begin with one");
      take();
    }
    if (out.size() >= options_.field_bytes) fail(str("a field of more than ", options_.field_bytes, " bytes"));
    out += static_cast<char>(c);
  }
  const int c = peek();
  if (c != kEnd && c != options_.delimiter && c != '\n' && c != '\r') fail("text behind a quote that ended");
  if (!is_utf8(out)) fail("bytes that are not UTF-8");
}

bool CsvReader::next(std::vector<std::string>& row) {
  row.clear();
  column_ = 1;
  row_line_ = line_;
  if (peek() == kEnd) return false;
  for (;;) {
    column_ = static_cast<int64_t>(row.size()) + 1;
    if (row.size() >= options_.columns) fail(str("more than ", options_.columns, " fields"));
    if (columns_ > 0 && row.size() >= columns_) fail(str("expected ", columns_, " fields, got more"));
    field(row.emplace_back());
    if (peek() != options_.delimiter) break;
    take();
  }
  if (columns_ > 0 && row.size() < columns_) fail(str("expected ", columns_, " fields, got ", row.size()));
  columns_ = row.size();
  const int end = take();
  if (end == '\r' && take() != '\n') fail("a carriage return that no line feed follows");
  ++line_;
  return true;
}

Tensor read_csv(const std::string& path, ScalarType dtype, const std::vector<std::string>& columns,
                const CsvOptions& options) {
  ARGAND_CHECK(DtypeError, dtype == kFloat || dtype == kDouble, "read_csv: expected float32 or float64, got ", dtype);
  const InputFile file(path);
  std::vector<size_t> chosen;
  Tensor out;
  // Reads the file twice, so that memory is allocated once, for the rows that exist.
  for (const bool fills : {false, true}) {
    CsvReader reader(file, options);
    std::vector<std::string> row;
    int64_t count = 0;
    if (!fills)
      for (const std::string& name : columns) {
        const auto it = std::find(reader.names().begin(), reader.names().end(), name);
        ARGAND_CHECK(ValueError, it != reader.names().end(), "read_csv: '", path, "' has no column '", name, "'");
        chosen.push_back(static_cast<size_t>(it - reader.names().begin()));
      }
    while (reader.next(row)) {
      if (count++ == 0 && chosen.empty())
        for (size_t i = 0; i < row.size(); ++i) chosen.push_back(i);
      for (size_t i = 0; i < chosen.size() && fills; ++i) {
        const std::string& text = row[chosen[i]];
        const size_t start = !text.empty() && text[0] == '+' && text.size() > 1 && text[1] != '-' ? 1 : 0;
        double value = 0;
        const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
        if (error == std::errc::result_out_of_range)
          throw CsvError(path, reader.line(), static_cast<int64_t>(chosen[i]) + 1, "a number beyond float64");
        if (error != std::errc() || end != text.data() + text.size())
          throw CsvError(path, reader.line(), static_cast<int64_t>(chosen[i]) + 1,
                         str("expected a number, got '", text.substr(0, 40), "'"));
        const auto at = static_cast<size_t>(count - 1) * chosen.size() + i;
        if (dtype == kFloat)
          raw<float>(out)[at] = static_cast<float>(value);
        else
          raw<double>(out)[at] = value;
      }
    }
    if (fills) break;
    if (chosen.empty()) chosen.resize(reader.names().size());
    out = exec::new_tensor({{count, static_cast<int64_t>(chosen.size())}, dtype}, kCPU);
  }
  return out;
}

}  // namespace argand::io
