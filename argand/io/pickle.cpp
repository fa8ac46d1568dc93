#include "argand/io/pickle.h"

#include <bit>
#include <limits>
#include <unordered_map>

#include "argand/io/decimal.h"
#include "argand/io/format_error.h"
#include "argand/io/utf8.h"

namespace argand::io {

namespace {

using Kind = Value::Kind;

// The memory cost of a value, including the search for cycles: measured and rounded up.
constexpr size_t kItemBytes = 2 * sizeof(Value), kObjectBytes = 272, kTextBytes = 160;
constexpr size_t kMaxNameBytes = 65536;

class Machine {
 public:
  Machine(std::string_view bytes, PickleNames& names, const PickleOrigin& origin, const PickleLimits& limits)
      : bytes_(bytes), names_(names), origin_(origin), limits_(limits), left_(limits.tree_bytes) {}
  // Containers that contain each other would never be freed.
  ~Machine() {
    if (!done_)
      for (Value& v : containers_) v.clear();
  }

  Value run(size_t* used) {
    try {
      while (step()) {
      }
      if (!used) need(at_ == bytes_.size(), "bytes follow the end of the pickle");
      need(stack_.size() == 1 && marks_.empty(), "expected one value at the end, got ", stack_.size());
      check_nesting(stack_[0], limits_.nesting);
    } catch (const ValueError& e) {
      throw FormatError(origin_.path, origin_.record, origin_.offset + static_cast<int64_t>(opcode_at_), e.msg());
    }
    if (used) *used = at_;
    done_ = true;
    return stack_[0];
  }

 private:
  template <class... Parts>
  static void need(bool condition, const Parts&... parts) {
    ARGAND_CHECK(ValueError, condition, parts...);
  }
  void charge(size_t bytes) {
    need(bytes <= left_, "its values take more than ", limits_.tree_bytes, " bytes");
    left_ -= bytes;
  }

  // ---- bytes

  std::string_view take(size_t count) {
    need(count <= bytes_.size() - at_, "expected ", count, " bytes, got ", bytes_.size() - at_);
    const std::string_view out = bytes_.substr(at_, count);
    at_ += count;
    return out;
  }
  uint64_t number(size_t count) {  // least significant byte first
    uint64_t out = 0;
    const std::string_view text = take(count);
    for (size_t i = 0; i < count; ++i) out |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
    return out;
  }
  std::string line() {
    const size_t end = bytes_.substr(at_, kMaxNameBytes).find('\n');
    need(end != std::string_view::npos, "a name that does not end");
    const std::string out(take(end));
    ++at_;
    need(is_utf8(out), "a name that is not UTF-8");
    return out;
  }

  // ---- the stack

  void push(Value v) {
    need(stack_.size() < limits_.stack, "more than ", limits_.stack, " values wait on the stack");
    stack_.push_back(std::move(v));
  }
  void push_container(Value v) {
    charge(kObjectBytes + sizeof(Value) * 2);
    containers_.push_back(v);
    push(std::move(v));
  }
  size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }
  Value pop() {
    need(stack_.size() > bottom(), "stack underflow");
    Value out = std::move(stack_.back());
    stack_.pop_back();
    return out;
  }
  Value& top() {
    need(stack_.size() > bottom(), "stack underflow");
    return stack_.back();
  }
  std::vector<Value> pop_to_mark() {
    need(!marks_.empty(), "stack underflow: there is no mark");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Value> out(std::make_move_iterator(first), std::make_move_iterator(stack_.end()));
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return out;
  }

  // ---- opcodes

  void text(size_t count, bool bytes) {
    need(count <= limits_.text_bytes, "a text of ", count, " bytes");
    const std::string_view content = take(count);
    charge(kTextBytes + count);
    // Strings of Python 2 are bytes that usually are text.
    const bool good = is_utf8(content);
    need(good || bytes, "a text that is not UTF-8");
    push(Value::with_text(good ? Kind::kString : Kind::kBytes, std::string(content)));
  }
  void tuple(size_t count) {
    std::vector<Value> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push_tuple(std::move(items));
  }
  void push_tuple(std::vector<Value> items) {
    charge(kObjectBytes + items.size() * kItemBytes);
    push(Value::tuple(std::move(items)));
  }
  void append(std::vector<Value> items) {
    Value& list = top();
    need(list.kind() == Kind::kList, "elements are appended to a ", Value::kind_name(list.kind()));
    charge(items.size() * kItemBytes);
    for (Value& item : items) list.push_back(std::move(item));
  }
  void set_items(std::vector<Value> items) {
    Value& dict = top();
    need(dict.is_dict() && dict.kind() != Kind::kObject, "a key is set in a ", Value::kind_name(dict.kind()));
    need(items.size() % 2 == 0, "a key without a value");
    charge(items.size() * (kItemBytes + 16));
    for (size_t i = 0; i < items.size(); i += 2) {
      // Each use of a key costs time proportional to the length of its text.
      if (items[i].kind() == Kind::kString || items[i].kind() == Kind::kBytes) charge(items[i].text().size() / 16);
      dict.set(items[i], std::move(items[i + 1]));
    }
  }
  void memoize(uint64_t index) {
    need(index < limits_.memo && index <= opcodes_, "memo entry ", index, " comes too early, or is one too many");
    if (index >= memo_.size()) {
      charge((index + 1 - memo_.size()) * kItemBytes);
      memo_.resize(index + 1);
      known_.resize(index + 1, false);
    }
    memo_[index] = top();
    known_[index] = true;
  }
  void recall(uint64_t index) {
    need(index < memo_.size() && known_[index], "memo entry ", index, " was never set");
    push(memo_[index]);
  }
  void call(bool create) {
    const Value arguments = pop(), callee = pop();
    need(callee.kind() == Kind::kGlobal, "a ", Value::kind_name(callee.kind()), " is called");
    need(arguments.kind() == Kind::kTuple, "arguments that are a ", Value::kind_name(arguments.kind()));
    // The call of a name may copy its arguments.
    charge(kObjectBytes * 2 + (arguments.size() == 1 ? arguments[0].size() * 3 * kItemBytes : 0));
    if (arguments.size() > 0 && arguments[0].kind() == Kind::kString) charge(arguments[0].text().size());
    if (arguments.size() > 0 && arguments[0].kind() == Kind::kBytes) charge(arguments[0].text().size());
    if (!create) charge(names_.cost(callee, arguments));
    Value made = create ? names_.create(callee, arguments) : names_.call(callee, arguments);
    if (made.is_dict() || made.kind() == Kind::kSet) containers_.push_back(made);
    push(std::move(made));
  }

  bool step() {
    opcode_at_ = at_;
    need(++opcodes_ <= limits_.opcodes, "more than ", limits_.opcodes, " opcodes");
    const char op = take(1)[0];
    switch (op) {
      case '\x80': {
        const uint64_t protocol = number(1);
        need(protocol == 2 && at_ == 2, "pickle protocol ", protocol, "; expected 2, at the start");
        break;
      }
      case '.':
        return false;
      case '(':
        need(marks_.size() < 4 * limits_.nesting, "more than ", 4 * limits_.nesting, " marks");
        marks_.push_back(stack_.size());
        break;
      case 'N':
        push(Value());
        break;
      case '\x88':
        push(true);
        break;
      case '\x89':
        push(false);
        break;
      case 'K':
        push(static_cast<int64_t>(number(1)));
        break;
      case 'M':
        push(static_cast<int64_t>(number(2)));
        break;
      case 'J':
        push(static_cast<int64_t>(static_cast<int32_t>(number(4))));
        break;
      case '\x8a': {
        const std::string_view digits = take(number(1));
        // A number beyond 64 bits is kept as digits, which are computed in quadratic time.
        if (digits.size() > 8) charge(kTextBytes + 3 * digits.size() + digits.size() * digits.size() / 8);
        push(integer_of_bytes(digits));
        break;
      }
      case 'G': {  // most significant byte first
        uint64_t bits = 0;
        for (const char c : take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
        push(std::bit_cast<double>(bits));
        break;
      }
      case 'X':
        text(number(4), false);
        break;
      case 'T':
        text(number(4), true);
        break;
      case 'U':
        text(number(1), true);
        break;
      case ']':
        push_container(Value::list());
        break;
      case '}':
        push_container(Value::dict());
        break;
      case ')':
        push_tuple({});
        break;
      case '\x85':
        tuple(1);
        break;
      case '\x86':
        tuple(2);
        break;
      case '\x87':
        tuple(3);
        break;
      case 't':
        push_tuple(pop_to_mark());
        break;
      case 'a': {
        Value item = pop();
        append({std::move(item)});
        break;
      }
      case 'e':
        append(pop_to_mark());
        break;
      case 's': {
        Value value = pop(), key = pop();
        set_items({std::move(key), std::move(value)});
        break;
      }
      case 'u':
        set_items(pop_to_mark());
        break;
      case 'q':
        memoize(number(1));
        break;
      case 'r':
        memoize(number(4));
        break;
      case 'h':
        recall(number(1));
        break;
      case 'j':
        recall(number(4));
        break;
      case 'c': {
        const std::string module = line(), name = line();
        charge(kTextBytes + module.size() + name.size());
        push(names_.global(module, name));
        break;
      }
      case 'R':
        call(false);
        break;
      case '\x81':
        call(true);
        break;
      case 'b': {
        const Value state = pop();
        charge(state.size() * (kItemBytes + 16));
        names_.set_state(top(), state);
        break;
      }
      case 'Q':
        push(names_.persistent(pop()));
        break;
      default: {
        static constexpr char kHex[] = "0123456789abcdef";
        const auto code = static_cast<uint8_t>(op);
        need(false, "opcode 0x", kHex[code >> 4], kHex[code & 15], " is not in the subset that is read");
      }
    }
    return true;
  }

  const std::string_view bytes_;
  PickleNames& names_;
  const PickleOrigin& origin_;
  const PickleLimits& limits_;
  size_t left_, at_ = 0, opcode_at_ = 0, opcodes_ = 0;
  std::vector<Value> stack_, memo_, containers_;
  std::vector<bool> known_;
  std::vector<size_t> marks_;
  bool done_ = false;
};

}  // namespace

Value read_pickle(std::string_view bytes, PickleNames& names, const PickleOrigin& origin, const PickleLimits& limits,
                  size_t* used) {
  return Machine(bytes, names, origin, limits).run(used);
}

}  // namespace argand::io
