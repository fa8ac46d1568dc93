// Note [Bytes that go], for code that has run a kernel or a copy.
#pragma once
#include "argand/core/tensor.h"
#include "argand/core/watched_bytes.h"

namespace argand::exec {

// Marks `out` as lost: some bytes that were read or written were not valid.  The call that found this throws, so a
// result that the caller never receives needs no mark, but has one all the same.
void lose_written(const Tensor& out, const std::exception_ptr& why);

// Checks after work whose operands `each(visit)` visits and which wrote `outs`.
template <class Each, class Outs>
void check_bytes_read(const Each& each, const Outs& outs) {
  if (!any_watched()) [[likely]]
    return;
  try {
    each([](const Tensor& t) {
      if (t.defined()) check_watched(*t.storage());
    });
  } catch (...) {
    for (const Tensor& out : outs) lose_written(out, std::current_exception());
    throw;
  }
}

}  // namespace argand::exec
