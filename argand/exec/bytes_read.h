// Note [Bytes that go], for whoever has run a kernel or a copy.
#pragma once
#include "argand/core/tensor.h"
#include "argand/core/watched_bytes.h"

namespace argand::exec {

// Some bytes that were read or written are not what they should be: what was written from them is lost.  The call that
// met it throws; a result that nobody gets to see needs no mark, and has one all the same.
void lose_written(const Tensor& out, const std::exception_ptr& why);

// After the work, whose operands `each(visit)` names; `outs` were written.
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
