#include <new>

#include "argand/base/linalg_error.h"
#include "argand/c/handles.h"

struct argand_error {
  argand_error_kind kind;
  std::string message;
};

namespace argand::c {
namespace {

struct Kind {
  argand_error_kind kind;
  const char* name;
  bool (*is)(const Error&);  // null: no class of Argand's has this kind
};
template <class E>
bool is(const Error& e) {
  return dynamic_cast<const E*>(&e) != nullptr;
}
constexpr Kind kKinds[] = {
    {ARGAND_ERROR_OTHER, "Error", nullptr},
    {ARGAND_ERROR_SHAPE, "ShapeError", is<ShapeError>},
    {ARGAND_ERROR_DTYPE, "DtypeError", is<DtypeError>},
    {ARGAND_ERROR_DEVICE, "DeviceError", is<DeviceError>},
    {ARGAND_ERROR_INDEX, "IndexError", is<IndexError>},
    {ARGAND_ERROR_VALUE, "ValueError", is<ValueError>},
    {ARGAND_ERROR_GRAD, "GradError", is<GradError>},
    {ARGAND_ERROR_OUT_OF_MEMORY, "OutOfMemoryError", is<OutOfMemoryError>},
    {ARGAND_ERROR_IO, "IoError", is<IoError>},
    {ARGAND_ERROR_DISTRIBUTED, "DistributedError", is<DistributedError>},
    {ARGAND_ERROR_LINALG, "LinAlgError", is<LinAlgError>},
    {ARGAND_ERROR_NOT_IMPLEMENTED, "NotImplementedError", is<NotImplementedError>},
    {ARGAND_ERROR_INTERNAL, "InternalError", is<InternalError>},
};

argand_error_kind kind_of(const Error& e) {
  for (const Kind& k : kKinds)
    if (k.is && k.is(e)) return k.kind;
  return ARGAND_ERROR_OTHER;
}

// There is always memory for this one.
argand_error& no_memory() {
  static auto& error = *new argand_error{ARGAND_ERROR_OUT_OF_MEMORY, "the host has no memory left"};
  return error;
}
[[maybe_unused]] const argand_error& made_at_start = no_memory();

argand_error* new_error(argand_error_kind kind, const char* message) noexcept {
  try {
    return new argand_error{kind, message};
  } catch (const std::bad_alloc&) {
    return &no_memory();
  }
}

}  // namespace

argand_error* error_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return new_error(kind_of(e), e.what());
  } catch (const std::bad_alloc&) {
    return &no_memory();
  } catch (const std::exception& e) {
    return new_error(ARGAND_ERROR_OTHER, e.what());
  } catch (...) {
    return new_error(ARGAND_ERROR_OTHER, "an exception of an unknown type");
  }
}

}  // namespace argand::c

using namespace argand::c;

argand_error_kind argand_error_get_kind(const argand_error* error) { return error ? error->kind : 0; }

const char* argand_error_kind_name(argand_error_kind kind) {
  for (const Kind& k : kKinds)
    if (k.kind == kind) return k.name;
  return "";
}

const char* argand_error_get_message(const argand_error* error) { return error ? error->message.c_str() : ""; }

void argand_error_free(argand_error* error) {
  if (error != &no_memory()) delete error;
}

argand_error* argand_error_new(argand_error_kind kind, const char* message) {
  return new_error(kind, message ? message : "");
}
