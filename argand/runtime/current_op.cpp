#include "argand/runtime/current_op.h"

namespace argand {
namespace {
thread_local const char* in_flight = "";
}

const char* current_op() { return in_flight; }
CurrentOp::CurrentOp(const char* name) : before_(in_flight) { in_flight = name; }
CurrentOp::~CurrentOp() { in_flight = before_; }

}  // namespace argand
