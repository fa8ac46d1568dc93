// Events in the middle of delayed work.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::exec {

// Records the event together with the next work of the stream, so that the device does not wait for the host between
// them.  The stream is the calling thread's current one of its device.  Counts as a launch.
using LateRecord = void (*)(EventHandle event, const StreamRef& stream);
void register_late_record(LateRecord record);  // by the backend for GPUs

}  // namespace argand::exec
