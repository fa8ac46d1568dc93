#include "argand/io/safetensors_header.h"

#include <cctype>
#include <optional>
#include <set>

#include "argand/io/utf8.h"

namespace argand::io {
namespace {

// The memory cost of a tensor and of a text, from the entry of the header to the handle in the dict: an upper bound of
// what memory_limit_test.cpp measures.
constexpr size_t kTensorBytes = 1600, kMetadataBytes = 320;

class Parser {
 public:
  Parser(std::string_view text, size_t max_bytes) : text_(text), left_(max_bytes), limit_(max_bytes) {}

  TensorHeader header() {
    TensorHeader out;
    expect('{');
    if (!accept('}')) {
      do {
        const size_t at = at_;
        const std::string name = string();
        require(names_.insert(name).second, at, "a name that was there before: '", name, "'");
        expect(':');
        if (name == "__metadata__")
          metadata(out);
        else
          tensor(name, out);
      } while (accept(','));
      expect('}');
    }
    space();
    require(at_ == text_.size(), at_, "text after the end of the object");
    return out;
  }

  OrderedDict<std::string, std::string> shard_index() {
    OrderedDict<std::string, std::string> out;
    bool found = false;
    expect('{');
    do {
      const size_t at = at_;
      const std::string field = string();
      require(names_.insert(field).second, at, "a field that was there before: '", field, "'");
      expect(':');
      if (field == "weight_map") {
        found = true;
        texts(out, "tensor");
        continue;
      }
      require(field == "metadata", at, "an unknown field '", field, "'");
      expect('{');
      if (accept('}')) continue;
      do {
        string();
        expect(':');
        plain();
      } while (accept(','));
      expect('}');
    } while (accept(','));
    expect('}');
    space();
    require(found && at_ == text_.size(), at_, found ? "text after the end of the object" : "there is no weight_map");
    for (const auto& item : out) {
      const std::string& file = item.value();
      require(!file.empty() && file[0] != '.' && file.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos,
              0, "expected the plain name of a file beside the index, got '", file, "' for tensor '", item.key(), "'");
    }
    return out;
  }

 private:
  template <class... Parts>
  void require(bool condition, size_t at, const Parts&... parts) const {
    ARGAND_CHECK(ValueError, condition, "header byte ", at, ": ", parts...);
  }
  void charge(size_t bytes) {
    require(bytes <= left_, at_, "what the header names takes more than ", limit_, " bytes");
    left_ -= bytes;
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(char c) {
    space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    const bool found = accept(c);
    require(found, at_, "expected '", c, "'");
  }

  uint32_t hex4() {
    require(text_.size() - at_ >= 4, at_, "a \\u that is cut off");
    uint32_t v = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      require(digit >= 0, at_ - 1, "expected a hexadecimal digit");
      v = v * 16 + static_cast<uint32_t>(digit);
    }
    return v;
  }
  void escape(std::string& out) {
    require(at_ < text_.size(), at_, "a text that does not end");
    const char c = text_[at_++];
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    if (const size_t i = from.find(c); i != std::string_view::npos) {
      out += to[i];
      return;
    }
    require(c == 'u', at_ - 1, "an unknown escape");
    uint32_t v = hex4();
    if (v >= 0xD800 && v < 0xDC00) {
      require(text_.substr(at_, 2) == "\\u", at_, "half of a surrogate pair");
      at_ += 2;
      const uint32_t low = hex4();
      require(low >= 0xDC00 && low < 0xE000, at_, "half of a surrogate pair");
      v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
    } else {
      require(v < 0xD800 || v > 0xDFFF, at_, "half of a surrogate pair");
    }
    append_utf8(out, v);
  }
  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      require(at_ < text_.size(), at_, "a text that does not end");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        ++at_;
        escape(out);
        continue;
      }
      require(static_cast<unsigned char>(c) >= 0x20, at_, "a control character in a text");
      const size_t n = utf8_length(text_.substr(at_));
      require(n > 0, at_, "bytes that are not UTF-8");
      out += text_.substr(at_, n);
      at_ += n;
    }
    ++at_;
    require(out.size() <= 65536, at_, "a text longer than 64 KiB");
    return out;
  }
  int64_t integer() {
    space();
    const size_t first = at_;
    int64_t v = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      const bool overflow =
          __builtin_mul_overflow(v, int64_t{10}, &v) || __builtin_add_overflow(v, int64_t{text_[at_] - '0'}, &v);
      require(!overflow, first, "a number beyond 64 bits");
      ++at_;
    }
    require(at_ > first && (at_ == first + 1 || text_[first] != '0'), first, "expected a non-negative integer");
    return v;
  }
  std::vector<int64_t> integers() {
    std::vector<int64_t> out;
    expect('[');
    if (accept(']')) return out;
    do {
      out.push_back(integer());
      require(out.size() <= kMaxDims, at_, "more than ", kMaxDims, " numbers");
    } while (accept(','));
    expect(']');
    return out;
  }

  void metadata(TensorHeader& out) { texts(out.metadata, "metadata key"); }
  void texts(OrderedDict<std::string, std::string>& out, const char* what) {
    expect('{');
    if (accept('}')) return;
    do {
      const size_t at = at_;
      const std::string key = string();
      require(!out.contains(key), at, "a ", what, " that was there before: '", key, "'");
      expect(':');
      const std::string value = string();
      charge(kMetadataBytes + 3 * key.size() + value.size());
      out.insert(key, value);
    } while (accept(','));
    expect('}');
  }
  // A text, number or word whose value is not needed.
  void plain() {
    space();
    if (at_ < text_.size() && text_[at_] == '"') {
      string();
      return;
    }
    const size_t first = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.' ||
                                  text_[at_] == '-' || text_[at_] == '+'))
      ++at_;
    require(at_ > first, first, "expected a text or a number");
  }

  void tensor(const std::string& name, TensorHeader& out) {
    require(out.tensors.size() < kMaxTensors, at_, "more than ", kMaxTensors, " tensors");
    charge(kTensorBytes + 6 * name.size());
    std::optional<std::string> dtype;
    std::optional<std::vector<int64_t>> shape, offsets;
    expect('{');
    const size_t first = at_;
    do {
      const size_t at = at_;
      const std::string field = string();
      expect(':');
      if (field == "dtype" && !dtype)
        dtype = string();
      else if (field == "shape" && !shape)
        shape = integers();
      else if (field == "data_offsets" && !offsets)
        offsets = integers();
      else
        require(false, at, "an unknown or repeated field '", field, "' of tensor '", name, "'");
    } while (accept(','));
    expect('}');
    require(dtype && shape && offsets, first, "tensor '", name, "' lacks dtype, shape or data_offsets");
    require(offsets->size() == 2 && (*offsets)[0] <= (*offsets)[1], first, "data_offsets of tensor '", name,
            "' are not [begin, end]");
    out.tensors.push_back({name, *dtype, *shape, (*offsets)[0], (*offsets)[1]});
  }

  std::string_view text_;
  size_t at_ = 0, left_, limit_;
  std::set<std::string> names_;  // a hash table could be attacked with collisions
};

void append_quoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += "\\u00", out += kHex[c >> 4], out += kHex[c & 15];
    else
      out += c;
  }
  out += '"';
}

}  // namespace

TensorHeader parse_tensor_header(std::string_view json, size_t max_bytes) {
  ARGAND_CHECK(ValueError, !json.empty() && json[0] == '{', "header byte 0: expected '{'");
  return Parser(json, max_bytes).header();
}

OrderedDict<std::string, std::string> parse_shard_index(std::string_view json, size_t max_bytes) {
  return Parser(json, max_bytes).shard_index();
}

std::string write_tensor_header(const TensorHeader& header) {
  std::string out = "{";
  const auto separate = [&] {
    if (out.size() > 1) out += ',';
  };
  if (!header.metadata.is_empty()) {
    out += "\"__metadata__\":{";
    bool first = true;
    for (const auto& item : header.metadata) {
      if (!first) out += ',';
      first = false;
      append_quoted(out, item.key());
      out += ':';
      append_quoted(out, item.value());
    }
    out += '}';
  }
  for (const TensorEntry& t : header.tensors) {
    separate();
    append_quoted(out, t.name);
    out += str(":{\"dtype\":\"", t.dtype, "\",\"shape\":[");
    for (size_t i = 0; i < t.shape.size(); ++i) out += str(i ? "," : "", t.shape[i]);
    out += str("],\"data_offsets\":[", t.begin, ",", t.end, "]}");
  }
  out += '}';
  out.append((8 - out.size() % 8) % 8, ' ');  // the elements start aligned
  return out;
}

}  // namespace argand::io
