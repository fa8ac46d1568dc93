// Whether products and convolutions of float32 on a GPU may round their operands to TF32 (10 bits of mantissa), which
// its tensor cores multiply some eight times faster.  As in PyTorch, convolutions may at first and products may not.
// The settings are those of torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 and
// torch.set_float32_matmul_precision.
#pragma once
#include <string>
#include <string_view>

namespace argand {

// One setting for the whole process; an op reads it when it is called.  Recurrent layers follow the setting for
// products.
bool allow_tf32_matmul();
void set_allow_tf32_matmul(bool on);
bool allow_tf32_cudnn();
void set_allow_tf32_cudnn(bool on);

// All at once.  "exact": no TF32; "default": in convolutions, as at first; "fast": in products, too.  ValueError for
// anything else.
void set_float32_precision(std::string_view precision);
// One of these, or "other" if only products may use TF32.
std::string get_float32_precision();

// "highest": float32; "high" and "medium": TF32.  ValueError for anything else.
void set_float32_matmul_precision(std::string_view precision);
std::string get_float32_matmul_precision();  // what was set; "high" after allow_tf32

}  // namespace argand
