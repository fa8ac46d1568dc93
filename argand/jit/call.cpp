#include "argand/jit/call.h"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <typeinfo>

#include "argand/jit/function.h"
#include "argand/jit/values.h"

namespace argand::jit {

namespace {

constexpr size_t kFewSlots = 16;
constexpr size_t kMaxCalls = 1000, kMaxStackBytes = size_t{1} << 20;

// Bounds the calls inside each other, by their number and by the stack that they take.
class Depth {
 public:
  Depth() {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (calls_ == 0) outermost_ = here;
    const uintptr_t used = outermost_ > here ? outermost_ - here : here - outermost_;
    ARGAND_CHECK(ValueError, calls_ < kMaxCalls && used < kMaxStackBytes,
                 "TorchScript: functions call each other too deeply: ", calls_, " calls");
    ++calls_;
  }
  ~Depth() { --calls_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  static thread_local size_t calls_;
  static thread_local uintptr_t outermost_;
};
thread_local size_t Depth::calls_ = 0;
thread_local uintptr_t Depth::outermost_ = 0;

// Throws it again with more text if it is exactly of this type: types below hold more than a text.
template <class E>
void throw_with(const Error& e, const std::string& place) {
  if (typeid(e) == typeid(E)) throw E(e.msg() + place);
}

[[noreturn]] void throw_at(const Error& e, const Function& f, uint32_t line) {
  const std::string place = str("\n  in ", f.source().name, ":", line, ", ", f.short_name());
  if (const auto* raised = dynamic_cast<const Exception*>(&e))
    throw Exception(raised->msg() + place, raised->class_name());
  throw_with<Error>(e, place);
  throw_with<ShapeError>(e, place);
  throw_with<DtypeError>(e, place);
  throw_with<DeviceError>(e, place);
  throw_with<IndexError>(e, place);
  throw_with<ValueError>(e, place);
  throw_with<GradError>(e, place);
  throw_with<OutOfMemoryError>(e, place);
  throw_with<IoError>(e, place);
  throw_with<NotImplementedError>(e, place);
  throw_with<InternalError>(e, place);
  throw;
}

}  // namespace

IValue run_code(const Code& code, std::span<IValue> arguments, uint32_t& line) {
  const Depth depth;
  Values<kFewSlots> slots(code.slots);
  for (IValue& v : arguments) slots.push(std::move(v));
  slots.fill(code.slots);
  Frame frame{slots.data()};
  struct Leave {  // also when an error passes
    uint32_t& line;
    const Frame& frame;
    ~Leave() { line = frame.line; }
  } leave{line, frame};
  run(code.steps, frame);
  return std::move(frame.result);
}

IValue call(const Function& function, std::span<IValue> arguments) {
  uint32_t line = function.tree().line;
  try {
    return run_code(function.code(), arguments, line);
  } catch (const Error& e) {
    throw_at(e, function, line);
  } catch (const std::bad_alloc&) {
    throw_at(OutOfMemoryError("TorchScript: there is no memory for a value of the program"), function, line);
  } catch (const std::length_error&) {
    throw_at(OutOfMemoryError("TorchScript: a list or text that is too long"), function, line);
  }
}

IValue call(const Function& function, std::vector<IValue> arguments,
            const std::unordered_map<std::string, IValue>& named) {
  const std::vector<Parameter>& parameters = function.parameters();
  const auto signature = [&] {
    std::string out = function.short_name() + "(";
    for (size_t i = 0; i < parameters.size(); ++i)
      out += (i > 0 ? ", " : "") +
             (parameters[i].name == "self" ? "self" : parameters[i].type.str() + " " + parameters[i].name);
    return out + ")";
  };
  ARGAND_CHECK(ValueError, arguments.size() <= parameters.size(), function.short_name(), "() expected at most ",
               parameters.size(), " arguments but received ", arguments.size(), ": ", signature());
  size_t used = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    const auto given = named.find(p.name);
    if (i < arguments.size()) {
      ARGAND_CHECK(ValueError, given == named.end(), function.short_name(), "() got the argument '", p.name,
                   "' twice: ", signature());
    } else if (given != named.end()) {
      arguments.push_back(given->second);
      ++used;
    } else {
      ARGAND_CHECK(ValueError, p.has_default, function.short_name(), "() is missing value for argument '", p.name,
                   "': ", signature());
      arguments.push_back(p.value);
    }
    if (i == 0 && p.name == "self") continue;
    const std::string kind = arguments[i].tagKind();
    ARGAND_CHECK(ValueError, conform(arguments[i], p.type), function.short_name(), "() expected a value of type ",
                 p.type.str(), " for argument '", p.name, "', got one of type ", kind, ": ", signature());
  }
  if (used != named.size())
    for (const auto& [name, value] : named) {
      bool known = false;
      for (const Parameter& p : parameters) known |= p.name == name;
      ARGAND_CHECK(ValueError, known, function.short_name(), "() has no parameter '", name, "': ", signature());
    }
  return call(function, std::span<IValue>(arguments));
}

}  // namespace argand::jit
