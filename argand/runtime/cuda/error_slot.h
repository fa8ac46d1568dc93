// Where kernels report a user's errors: Note [Error slots].
#pragma once

namespace argand::cuda {

// Note [Error slots]
// A kernel that meets a bad index cannot throw, and must not trap: that would end the context.  It writes the error to
// a slot in host memory that the device can access, goes on with a valid index, and the next synchronisation throws.
// There is a slot for each stream; the first thread that claims it reports its error.
//   The layout is that of ErrorSlot in kernels/cuda/error_slot.cuh.
struct ErrorSlot {
  unsigned state;  // kFree, kClaimed, kFilled
  unsigned unused;
  const char* op;
  long long index, bound, dim;
  static constexpr unsigned kFree = 0, kClaimed = 1, kFilled = 2;
};

// The slot of the current stream of the current device, at an address that kernels of every device may use.
ErrorSlot* error_slot();

// Throws the first IndexError that a kernel of the device reported, and forgets all that were reported; called after
// waiting for the device.
void throw_if_reported(int device);

}  // namespace argand::cuda
