// TORCH_LIBRARY and its kin: ops of a program's own (argand/library/library.h).
#pragma once
#include "argand/library/library.h"
#include "argand/library/schema.h"
#include "c10/namespaces.h"

namespace torch::jit {
using argand::IValue;
using argand::Stack;
}  // namespace torch::jit
namespace c10::impl {
using GenericList = List<IValue>;
using GenericDict = Dict<IValue, IValue>;
// The same list or dict, seen with other element types.
template <class T>
List<T> toTypedList(const GenericList& list) {
  return IValue(list).to<List<T>>();
}
template <class T>
GenericList toList(const List<T>& list) {
  return IValue(list).toList();
}
template <class Key, class Mapped>
Dict<Key, Mapped> toTypedDict(const GenericDict& dict) {
  return Dict<Key, Mapped>(dict.elements());
}
template <class Key, class Mapped>
GenericDict toGenericDict(const Dict<Key, Mapped>& dict) {
  return GenericDict(dict.elements());
}
}  // namespace c10::impl

#define ARGAND_JOIN_(a, b) a##b
#define ARGAND_JOIN(a, b) ARGAND_JOIN_(a, b)
// `name`: the name of the block and of the object that runs it; unique per block.
#define ARGAND_LIBRARY_BLOCK(name, kind, ns, key, m)                                     \
  static void ARGAND_JOIN(name, _block)(::argand::Library&);                             \
  static const ::argand::detail::TorchLibraryInit ARGAND_JOIN(name, _init)(              \
      ::argand::Library::kind, &ARGAND_JOIN(name, _block), ns, key, __FILE__, __LINE__); \
  void ARGAND_JOIN(name, _block)(::argand::Library & m)

// One block per namespace defines its ops; a fragment defines more; an IMPL registers kernels for a key.
#define TORCH_LIBRARY(ns, m) ARGAND_LIBRARY_BLOCK(TORCH_LIBRARY_##ns, DEF, #ns, std::nullopt, m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) \
  ARGAND_LIBRARY_BLOCK(ARGAND_JOIN(TORCH_LIBRARY_FRAGMENT_##ns##_, __COUNTER__), FRAGMENT, #ns, std::nullopt, m)
#define TORCH_LIBRARY_IMPL(ns, k, m)                                                          \
  ARGAND_LIBRARY_BLOCK(ARGAND_JOIN(TORCH_LIBRARY_IMPL_##ns##_##k##_, __COUNTER__), IMPL, #ns, \
                       std::make_optional(::argand::DispatchKey::k), m)

#define MAKE_TORCH_LIBRARY(ns) ::argand::Library(::argand::Library::DEF, #ns, std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k) \
  ::argand::Library(::argand::Library::IMPL, #ns, std::make_optional(::argand::DispatchKey::k), __FILE__, __LINE__)

#define TORCH_FN(f) (&(f))
#define TORCH_FN_TYPE(f) std::remove_reference_t<decltype(TORCH_FN(f))>
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema
#define TORCH_SELECTIVE_CLASS(name) name
