// Events in the midst of work that is held back.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::exec {

// Records the event on the stream, which is the calling thread's current one of its device, with the next work that it
// is given, so that the device does not wait for the host between them.  Counts as a launch.
using LateRecord = void (*)(EventHandle event, const StreamRef& stream);
void register_late_record(LateRecord record);  // by the backend for GPUs

}  // namespace argand::exec
