// The process goes on when a file is cut while it is mapped.  Note [Bytes that go]
#pragma once

namespace argand {

// Installs a handler of SIGBUS, once.  In a range of core/watched_bytes.h it puts pages of zeros from the page that is
// missing to the end of the range, marks the range as torn, says so on stderr and lets the instruction go on.  Anything
// else goes to whoever handled the signal before.  A handler that is installed later comes first: it should call this
// one for what it does not know.
void survive_bus_errors();

}  // namespace argand
