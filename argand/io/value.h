// A tree of data: what a checkpoint holds.  Handles to shared values: copying one copies no elements, and an object
// that is reached twice is one object.
//
//   Value state = load("model.pt");
//   for (size_t i = 0; i < state.size(); ++i) std::cout << state.key(i).text() << state.value(i).tensor().sizes();
//
// Thread safety: as a shared_ptr.  A tree of any depth is freed without recursion; one that holds itself never is.
#pragma once
#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::io {

class Value {
 public:
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kBigInt,  // text(): the decimal digits of an integer beyond 64 bits
    kDouble,
    kComplex,
    kString,  // UTF-8
    kBytes,
    kByteArray,
    kList,
    kTuple,
    kSize,  // torch.Size: a tuple of integers
    kSlice,
    kRange,
    kNumpyDtype,  // NumPy's dtypes, arrays and numbers have the elements that io/numpy_names.h says
    kNdarray,
    kNumpyScalar,
    kSet,
    kFrozenSet,
    kDict,
    kOrderedDict,
    kCounter,
    kDefaultDict,  // text(): the builtin type its missing values are of, "int"
    kObject,       // an object of TorchScript as named data; text(): its class
    kDtype,
    kDevice,
    kLayout,
    kTensor,
    kParameter,
    kStorage,  // the bytes behind tensors, as a tensor of one dimension
    kGlobal,   // only while a pickle is read and written: text() is the name of a type or function
  };

  Value() = default;
  Value(bool v) : kind_(Kind::kBool), number_{.i = v} {}
  Value(int64_t v) : kind_(Kind::kInt), number_{.i = v} {}
  template <class I, std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int> = 0>
  Value(I v) : Value(static_cast<int64_t>(v)) {}
  Value(double v) : kind_(Kind::kDouble), number_{.d = v} {}
  Value(std::complex<double> v);
  Value(std::string text);
  Value(const char* text) : Value(std::string(text)) {}
  Value(ScalarType v) : kind_(Kind::kDtype), number_{.i = static_cast<int64_t>(v)} {}
  Value(const Device& v);
  Value(Tensor v);
  // A value of a kind that has a text, and one of a kind that has elements (empty if none are given).
  static Value with_text(Kind kind, std::string text);
  static Value with_items(Kind kind, std::vector<Value> items = {});
  static Value list(std::vector<Value> items = {}) { return with_items(Kind::kList, std::move(items)); }
  static Value tuple(std::vector<Value> items = {}) { return with_items(Kind::kTuple, std::move(items)); }
  static Value dict() { return with_items(Kind::kDict); }
  static Value parameter(Tensor v);
  static Value storage(Tensor elements);

  Kind kind() const { return kind_; }
  static const char* kind_name(Kind kind);  // "dict"
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_int() const { return kind_ == Kind::kInt; }
  bool is_tensor() const { return kind_ == Kind::kTensor || kind_ == Kind::kParameter; }
  bool is_dict() const { return kind_ >= Kind::kDict && kind_ <= Kind::kObject; }         // has keys and values
  bool is_sequence() const { return kind_ >= Kind::kList && kind_ <= Kind::kFrozenSet; }  // has elements

  // ValueError if it is of another kind.
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  std::complex<double> to_complex() const;
  ScalarType dtype() const;
  Device device() const;
  const Tensor& tensor() const;  // for a tensor, a parameter or a storage
  const std::string& text() const;

  // How many elements or keys there are: 0 for other kinds.
  size_t size() const;
  const Value& operator[](size_t i) const;              // element i of a sequence
  const Value& operator[](std::string_view key) const;  // the value of a key; ValueError if there is none
  const Value& key(size_t i) const;                     // in the order of insertion
  const Value& value(size_t i) const;
  // Keys are equal as in Python: 1, 1.0 and true are equal, and so are tuples of equal elements.  ValueError for a
  // value that cannot be a key: mutable ones, and tuples of more than 256 parts.
  const Value* find(const Value& key) const;  // null if there is none
  void set(const Value& key, Value value);
  void assign(std::vector<Value> items);  // other elements, of NumPy's kinds
  void push_back(Value element);          // to a list, set or frozenset; sets ignore duplicates
  // Named data besides the elements: the `_metadata` of a state dict, attributes of a tensor.  None, or a dict.
  const Value& attributes() const;
  void set_attributes(Value dict);

  // The identity of an object; null for numbers and similar values, which have none.
  const void* identity() const { return node_.get(); }
  void clear();  // removes elements and attributes of a list, dict, set or object

 private:
  struct Node;
  Node& node(bool condition, const char* expected) const;

  Kind kind_ = Kind::kNone;
  union {
    int64_t i = 0;
    double d;
  } number_;
  intrusive_ptr<RefCounted> node_;
};

// ValueError for a tree deeper than `max`, or one that holds itself.
void check_nesting(const Value& root, size_t max);

}  // namespace argand::io
