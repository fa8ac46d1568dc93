// The types of TorchScript, as far as values need them: an empty list has the kind of its annotation, values from
// outside are checked against the signature, attributes of a file get the kinds that their class declares.
#pragma once
#include <string>
#include <vector>

#include "argand/autograd/ivalue.h"
#include "argand/jit/source.h"
#include "argand/jit/syntax.h"

namespace argand::jit {

struct Type {
  enum class Kind : uint8_t {
    kAny,
    kNone,
    kTensor,
    kInt,
    kFloat,
    kComplex,
    kNumber,
    kBool,
    kStr,
    kDevice,
    kGenerator,
    kOptional,  // elements: one
    kUnion,
    kList,  // one
    kDict,  // key and value
    kTuple,
    kClass  // name
  };
  Kind kind = Kind::kAny;
  std::string name;
  std::vector<Type> elements;

  std::string str() const;  // "List[Optional[Tensor]]"
};

// SyntaxError for what is no type.  A Future is its value, as fork() runs at once.
Type type_of(const Expression& annotation, const Source& source);

// Whether it is a value of the type, elements of containers included.  An empty list is of any list type.
bool is_of_type(const IValue& value, const Type& type);

// The value with the kind that the type asks for: an int where it says float, a list of anything whose elements are all
// ints where it says List[int] (as a new list), a text where it says Device.  False if it is of no such type.
bool conform(IValue& value, const Type& type);

// An empty list for elements of this type.
IValue empty_list(const Type& element);

// Containers nested deeper than this are refused where all of a value is visited; ValueError.
void check_depth(const IValue& value, size_t max = 100);

}  // namespace argand::jit
