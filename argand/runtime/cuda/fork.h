// CUDA does not survive fork(): what the parent made is of no use to the child, and calls hang or fail at random.
#pragma once

namespace argand::cuda {

// From here on a child made by fork() knows what it is.
void watch_forks();
bool in_forked_child();
// DeviceError in such a child.
void refuse_in_forked_child();

}  // namespace argand::cuda
