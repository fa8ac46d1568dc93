// Operators by name.
#include <atomic>
#include <memory>
#include <new>

#include "argand/c/value.h"
#include "argand/ops/boxed.h"

using namespace argand;
using namespace argand::c;

namespace {

const boxed::Function& unwrap(const argand_function* function, const char* caller) {
  return reinterpret_cast<const boxed::Function&>(needed(function, caller, "function"));
}
const argand_function* wrap(const boxed::Function& function) {
  return reinterpret_cast<const argand_function*>(&function);
}

// "sum", "max.dim", "sum#2".
const boxed::Function& find(std::string_view full) {
  std::string_view rest = full;
  size_t wanted = 1;
  if (const size_t hash = rest.find('#'); hash != rest.npos) {
    const std::string_view digits = rest.substr(hash + 1);
    ARGAND_CHECK(ValueError, digits.size() == 1 && digits[0] >= '1' && digits[0] <= '9',
                 "argand_function_find: expected a digit from 1 behind '#', got '", full, "'");
    wanted = static_cast<size_t>(digits[0] - '0');
    rest = rest.substr(0, hash);
  }
  const size_t dot = rest.find('.');
  const std::string_view name = rest.substr(0, dot);
  const std::string_view overload = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  for (const boxed::Function& f : boxed::find(name))
    if (f.overload == overload && --wanted == 0) return f;
  ARGAND_CHECK(ValueError, !boxed::find(name).empty(), "there is no operator '", name, "'");
  ARGAND_THROW(ValueError, "the operator '", name, "' has no overload '", full, "'");
}

// Arguments of a call, made where they are read.
class Arguments {
 public:
  explicit Arguments(size_t capacity) {
    if (capacity > kFew) beyond_ = std::make_unique<Room[]>(capacity);
  }
  ~Arguments() {
    while (size_ > 0) data()[--size_].~ArgumentValue();
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void add(const argand_value& v, const char* function) {
    new (data() + size_) ArgumentValue(to_argument(v, function));
    ++size_;
  }
  void fill(size_t n) {
    while (size_ < n) new (data() + size_++) ArgumentValue();
  }
  std::span<ArgumentValue> all() { return {data(), size_}; }

 private:
  static constexpr size_t kFew = 8;
  struct alignas(ArgumentValue) Room {
    unsigned char bytes[sizeof(ArgumentValue)];
  };
  ArgumentValue* data() { return reinterpret_cast<ArgumentValue*>(beyond_ ? beyond_.get() : few_); }

  Room few_[kFew];
  std::unique_ptr<Room[]> beyond_;
  size_t size_ = 0;
};

void call(const boxed::Function& f, const argand_value* arguments, size_t num_arguments, argand_value* results,
          size_t capacity, size_t* count, const char* caller) {
  ARGAND_CHECK(ValueError, num_arguments <= f.parameters.size(), f.name, ": expected at most ", f.parameters.size(),
               " arguments, got ", num_arguments);
  needed(results, capacity, caller, "results");  // before anything runs
  // Errors of a value name the operator.  Its name is a literal of the table, so it ends with a zero.
  Arguments values(f.parameters.size());
  for (const argand_value& v : needed(arguments, num_arguments, f.name.data(), "arguments"))
    values.add(v, f.name.data());
  values.fill(f.parameters.size());
  std::vector<ArgumentValue> made;
  f.call_taking(values.all(), made);
  write_results(made, results, capacity, count, caller);
}

}  // namespace

argand_error* argand_call(const char* name, const argand_value* arguments, size_t num_arguments,
                          const argand_named_value* named, size_t num_named, argand_value* results, size_t capacity,
                          size_t* count) {
  return guarded([&] {
    const char* const caller = "argand_call";
    needed(name, caller, "name");
    needed(results, capacity, caller, "results");
    const std::vector<ArgumentValue> positional = to_arguments(arguments, num_arguments, caller, "arguments");
    std::vector<boxed::Named> by_name;
    for (const argand_named_value& n : needed(named, num_named, caller, "named"))
      by_name.emplace_back(&needed(n.name, caller, "the name of an argument"), to_argument(n.value, caller));
    write_results(boxed::call(name, positional, by_name), results, capacity, count, caller);
  });
}

argand_error* argand_function_find(const char* name, const argand_function** function) {
  return guarded([&] {
    needed(function, "argand_function_find", "function") = wrap(find(&needed(name, "argand_function_find", "name")));
  });
}

size_t argand_function_count(void) { return boxed::functions().size(); }

argand_error* argand_function_at(size_t index, const argand_function** function) {
  return guarded([&] {
    const size_t count = boxed::functions().size();
    ARGAND_CHECK(IndexError, index < count, "argand_function_at: there are ", count, " functions, got index ", index);
    needed(function, "argand_function_at", "function") = wrap(boxed::functions()[index]);
  });
}

argand_error* argand_function_signature(const argand_function* function, char** signature) {
  return guarded([&] {
    const boxed::Function& f = unwrap(function, "argand_function_signature");
    give_text(signature, "argand_function_signature", f.signature());
  });
}

argand_error* argand_function_sizes(const argand_function* function, size_t* parameters, size_t* results) {
  return guarded([&] {
    const boxed::Function& f = unwrap(function, "argand_function_sizes");
    if (parameters) *parameters = f.parameters.size();
    if (results) *results = f.results.size();
  });
}

argand_error* argand_function_call(const argand_function* function, const argand_value* arguments, size_t num_arguments,
                                   argand_value* results, size_t capacity, size_t* count) {
  return guarded([&] {
    const char* const caller = "argand_function_call";
    call(unwrap(function, caller), arguments, num_arguments, results, capacity, count, caller);
  });
}

argand_error* argand_function_call_cached(const argand_function** cache, const char* name,
                                          const argand_value* arguments, size_t num_arguments, argand_value* results,
                                          size_t capacity) {
  return guarded([&] {
    const char* const caller = "argand_function_call_cached";
    // Threads that come at the same time find the same function.
    const std::atomic_ref<const argand_function*> cached(needed(cache, caller, "cache"));
    const argand_function* function = cached.load(std::memory_order_relaxed);
    if (!function) {
      function = wrap(find(&needed(name, caller, "name")));
      cached.store(function, std::memory_order_relaxed);
    }
    call(unwrap(function, caller), arguments, num_arguments, results, capacity, nullptr, caller);
  });
}
