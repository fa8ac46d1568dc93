// Values as pickles of protocol 2.
#include <bit>
#include <unordered_map>

#include "argand/io/decimal.h"
#include "argand/io/pickle.h"

namespace argand::io {

namespace {

using Kind = Value::Kind;

class Writer {
 public:
  explicit Writer(PickleForms& forms) : forms_(forms) {}

  std::string run(const Value& value) {
    count(value);
    out_ = "\x80\x02";
    write(value);
    out_ += '.';
    return std::move(out_);
  }

 private:
  // How often each object is reached.
  void count(const Value& v) {
    if (!v.identity() || ++uses_[v.identity()] > 1) return;
    for (size_t i = 0; i < v.size(); ++i) {
      count(v.is_dict() ? v.key(i) : v[i]);
      if (v.is_dict()) count(v.value(i));
    }
    count(v.attributes());
  }

  void number(uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out_ += static_cast<char>(static_cast<uint8_t>(value >> (8 * i)));
  }
  void integer(int64_t v) {
    if (v >= 0 && v < 256) {
      out_ += 'K';
      number(static_cast<uint64_t>(v), 1);
    } else if (v >= 0 && v < 65536) {
      out_ += 'M';
      number(static_cast<uint64_t>(v), 2);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
      out_ += 'J';
      number(static_cast<uint64_t>(v), 4);
    } else {
      out_ += "\x8a\x08";
      number(static_cast<uint64_t>(v), 8);
    }
  }
  void text(const std::string& text) {
    ARGAND_CHECK(ValueError, text.size() <= UINT32_MAX, "save: a text of ", text.size(), " bytes");
    out_ += 'X';
    number(text.size(), 4);
    out_ += text;
  }
  void global(const std::string& module, const std::string& name) { out_ += "c" + module + "\n" + name + "\n"; }

  void tuple(const Value& v) {
    if (v.size() == 0) {
      out_ += ')';
      return;
    }
    if (v.size() > 3) out_ += '(';
    for (size_t i = 0; i < v.size(); ++i) write(v[i]);
    out_ += v.size() > 3 ? 't' : static_cast<char>('\x84' + static_cast<char>(v.size()));
  }
  void items(const Value& v) {
    if (v.size() == 0) return;
    out_ += '(';
    for (size_t i = 0; i < v.size(); ++i) {
      write(v.is_dict() ? v.key(i) : v[i]);
      if (v.is_dict()) write(v.value(i));
    }
    out_ += v.is_dict() ? 'u' : 'e';
  }

  // Recursion is as deep as the tree, whose depth was checked.
  void write(const Value& v) {
    const auto known = v.identity() ? memo_.find(v.identity()) : memo_.end();
    if (known != memo_.end()) {
      out_ += known->second < 256 ? 'h' : 'j';
      number(known->second, known->second < 256 ? 1 : 4);
      return;
    }
    PickleForms::Form form;
    const bool special = forms_.form_of(v, form);
    if (special && form.creates) return object(v, form);
    if (special) {
      if (!form.name.empty()) global(form.module, form.name);
      if (!form.arguments.is_none()) write(form.arguments);
      if (!form.arguments.is_none()) out_ += form.name.empty() ? 'Q' : 'R';
    } else {
      plain(v);
    }
    remember(v, special && form.once);
    if ((special && form.items_follow) || (!special && (v.kind() == Kind::kList || v.kind() == Kind::kDict))) items(v);
    const Value& state = v.is_dict() ? v.attributes() : form.state;
    if (!state.is_none()) {
      write(state);
      out_ += 'b';
    }
  }
  // It is remembered last: PyTorch's reader of TorchScript has an object only once its state is there.
  void object(const Value& v, const PickleForms::Form& form) {
    global(form.module, form.name);
    out_ += ")\x81";
    write(form.state);
    out_ += 'b';
    remember(v);
  }
  void plain(const Value& v) {
    switch (v.kind()) {
      case Kind::kNone:
        out_ += 'N';
        break;
      case Kind::kBool:
        out_ += v.to_bool() ? '\x88' : '\x89';
        break;
      case Kind::kInt:
        integer(v.to_int());
        break;
      case Kind::kBigInt: {
        const std::string bytes = bytes_of_decimal(v.text());
        ARGAND_CHECK(ValueError, bytes.size() < 256, "save: an integer of more than 255 bytes");
        out_ += '\x8a';
        number(bytes.size(), 1);
        out_ += bytes;
        break;
      }
      case Kind::kDouble: {
        const auto bits = std::bit_cast<uint64_t>(v.to_double());
        out_ += 'G';
        for (int i = 7; i >= 0; --i) out_ += static_cast<char>(static_cast<uint8_t>(bits >> (8 * i)));
        break;
      }
      case Kind::kString:
        text(v.text());
        break;
      case Kind::kTuple:
        tuple(v);
        break;
      case Kind::kList:
        out_ += ']';
        break;
      case Kind::kDict:
        out_ += '}';
        break;
      default:
        ARGAND_THROW(ValueError, "save: a ", Value::kind_name(v.kind()), " cannot be saved");
    }
  }
  void remember(const Value& v, bool always = false) {
    const auto used = v.identity() ? uses_.find(v.identity()) : uses_.end();
    if (!always && (used == uses_.end() || used->second < 2)) return;
    const auto index = static_cast<uint32_t>(memo_.size());
    memo_.emplace(v.identity(), index);
    out_ += index < 256 ? 'q' : 'r';
    number(index, index < 256 ? 1 : 4);
  }

  PickleForms& forms_;
  std::string out_;
  std::unordered_map<const void*, size_t> uses_;
  std::unordered_map<const void*, uint32_t> memo_;
};

}  // namespace

std::string write_pickle(const Value& value, PickleForms& forms, size_t nesting) {
  check_nesting(value, nesting);
  return Writer(forms).run(value);
}

}  // namespace argand::io
