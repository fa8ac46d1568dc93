// A pass over nodes of several GPUs: each GPU has an engine thread, which keeps it busy while the others' threads issue
// their own work; nodes of the CPU run in the calling thread.
#pragma once
#include "argand/autograd/pass.h"

namespace argand::autograd {

// The results are bit-identical to running the nodes one by one in the order of the pass.  An error of a node is thrown
// here, when no thread works on the pass any more.
void run_on_device_threads(Pass& pass, Grads& captured);

}  // namespace argand::autograd
