// Whether convolutions and attention on a GPU may use cuDNN; true at first.  Without it they run on the library's own
// kernels, which are slower and round differently.  As torch.backends.cudnn.enabled.
#pragma once

namespace argand {

// One setting for the whole process; an op reads it when it is called.
bool cudnn_enabled();
void set_cudnn_enabled(bool on);

}  // namespace argand
