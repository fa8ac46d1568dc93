// The process goes on if a file is truncated while it is mapped.  Note [Bytes that go]
#pragma once

namespace argand {

// Installs a handler of SIGBUS, once.  In a range of core/watched_bytes.h it puts pages of zeros from the page that is
// missing to the end of the range, marks the range as torn, says so on stderr and lets the instruction go on.  Other
// signals go to the previous handler.  A handler that is installed later comes first: it should call this one for
// signals that it does not handle.
void survive_bus_errors();

}  // namespace argand
