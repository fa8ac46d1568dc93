// Text files: UTF-8, strictly; and tables of comma-separated values (RFC 4180).  Files are untrusted.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "argand/core/tensor.h"
#include "argand/io/file.h"

namespace argand::io {

// The whole file.  FileError with the byte of the first thing that is not UTF-8.
std::string read_text(const ByteSource& file, int64_t max_bytes = kMaxWholeFile);
inline std::string read_text(const std::string& path, int64_t max_bytes = kMaxWholeFile) {
  return read_text(InputFile(path), max_bytes);
}

// An error with the line and the field, both counted from 1.
class CsvError : public FileError {
 public:
  CsvError(const std::string& path, int64_t line, int64_t column, const std::string& what)
      : FileError(str("'", path, "', line ", line, ", column ", column, ": ", what), path, 0),
        line_(line),
        column_(column) {}
  int64_t line() const noexcept { return line_; }
  int64_t column() const noexcept { return column_; }

 private:
  int64_t line_, column_;
};

struct CsvOptions {
  char delimiter = ',';
  bool header = true;  // the first row names the columns
  size_t field_bytes = size_t{1} << 20, columns = 65536;
};

// Reads row by row and keeps one row in memory.  Fields in quotes may hold delimiters, line breaks and doubled quotes;
// rows end with LF or CR LF and have as many fields as the first.
class CsvReader {
 public:
  explicit CsvReader(const ByteSource& source, CsvOptions options = {});
  const std::vector<std::string>& names() const { return names_; }
  // False at the end.
  bool next(std::vector<std::string>& row);
  // The line where the row that was read last begins.
  int64_t line() const { return row_line_; }

 private:
  int peek();
  int take();
  void field(std::string& out);
  [[noreturn]] void fail(const std::string& what) const;
  const ByteSource& source_;
  const CsvOptions options_;
  std::vector<std::string> names_;
  std::string buffer_;
  size_t at_ = 0;
  int64_t read_ = 0, line_ = 1, row_line_ = 1, column_ = 1;
  size_t columns_ = 0;  // 0: not known yet
};

// A table of numbers: [rows, columns] of `dtype`.  All columns, or those of these names.  CsvError for a field that is
// no number.
Tensor read_csv(const std::string& path, ScalarType dtype = kFloat, const std::vector<std::string>& columns = {},
                const CsvOptions& options = {});

}  // namespace argand::io
