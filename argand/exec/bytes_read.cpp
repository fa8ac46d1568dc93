#include "argand/exec/bytes_read.h"

namespace argand::exec {

// Watched bytes throw at every access anyway, and storages that are not allocated were not written.
void lose_written(const Tensor& out, const std::exception_ptr& why) {
  if (out.defined() && out.storage()->allocated()) out.storage()->lose(why);
}

}  // namespace argand::exec
