// CUDA does not survive fork(): the child cannot use the parent's objects, and calls hang or fail at random.
#pragma once

namespace argand::cuda {

// From now on children made by fork() are recognised.
void watch_forks();
bool in_forked_child();
// DeviceError in such a child.
void refuse_in_forked_child();

}  // namespace argand::cuda
