#include "argand/exec/bytes_read.h"

namespace argand::exec {

// Bytes that went are an error of their own at every look, and what is not there yet was not written.
void lose_written(const Tensor& out, const std::exception_ptr& why) {
  if (out.defined() && out.storage()->allocated()) out.storage()->lose(why);
}

}  // namespace argand::exec
