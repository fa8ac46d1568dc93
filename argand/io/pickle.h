// Pickles as data: the opcodes of protocol 2 that torch.save and TorchScript write, and no others.
//
// A pickle is a program for a stack machine with a memo.  In Python it may call any function; here names are data, and
// PickleNames defines the meaning of a few of them.  Nothing in the file is ever executed.
#pragma once
#include <string>
#include <string_view>

#include "argand/io/value.h"

namespace argand::io {

struct PickleLimits {
  size_t nesting = 128;            // depth of nested values
  size_t memo = size_t{1} << 20;   // entries
  size_t stack = size_t{1} << 19;  // values on the stack, such as the elements of the largest tuple
  size_t opcodes = size_t{1} << 25;
  size_t tree_bytes = size_t{48} << 20;  // memory for all values except the elements of tensors
  size_t text_bytes = size_t{1} << 30;   // size of one text
};

// The meaning of the names in a pickle.  All members throw ValueError for what they refuse.
class PickleNames {
 public:
  virtual ~PickleNames() = default;
  // `module.name`: a value (a dtype), or one of kind kGlobal for call() and create().
  virtual Value global(const std::string& module, const std::string& name) = 0;
  virtual Value call(const Value& global, const Value& arguments) = 0;
  // The bytes that a call would produce in addition to its arguments; they are charged before the call.
  virtual size_t cost(const Value& /*global*/, const Value& /*arguments*/) { return 0; }
  virtual Value create(const Value& global, const Value& arguments) = 0;
  virtual void set_state(Value& object, const Value& state) = 0;
  virtual Value persistent(const Value& id) = 0;
};

// The origin of the bytes, for messages.
struct PickleOrigin {
  std::string path, record;
  int64_t offset = 0;
};

// The value of the pickle at the start of `bytes`.  `used`: how many bytes it takes; null if it must take all.
// FormatError with the opcode's offset for any fault.
Value read_pickle(std::string_view bytes, PickleNames& names, const PickleOrigin& origin,
                  const PickleLimits& limits = {}, size_t* used = nullptr);

// How a value that is not plain data is written: `callee(arguments...)`, or as a persistent id.
class PickleForms {
 public:
  struct Form {
    std::string module, name;   // no name: `arguments` is a persistent id
    Value arguments;            // a tuple; none: the global itself
    bool items_follow = false;  // the elements of a dict are set in the result of the call
    Value state = {};           // the state that the result then gets; none: no state
    bool creates = false;       // an object of the class `name`, made without arguments; its state may be None
    bool once = false;          // whether it is remembered, though only the forms of other values reach it
  };
  virtual ~PickleForms() = default;
  // False if `value` is plain data.  ValueError if it cannot be written.
  virtual bool form_of(const Value& value, Form& form) = 0;
};

// Objects that occur twice are written once.  ValueError for values nested deeper than `nesting`, and for cycles.
std::string write_pickle(const Value& value, PickleForms& forms, size_t nesting = PickleLimits().nesting);

}  // namespace argand::io
