// Files as memory: storages of the CPU over a mapped file, which may be larger than the machine's memory.
//
// A file that becomes shorter while it is mapped, or cannot be read, is an IoError at every look that follows and at
// the end of the op that met it; the process goes on (Note [Bytes that go]).  Its name is not needed: it may be
// removed.
#pragma once
#include <string>

#include "argand/core/storage.h"

namespace argand {

// The first `nbytes` bytes, at least one, of a regular file.  Takes the descriptor, which may be read, and written if
// shared: then what is written goes to the file, which is made longer if need be; else it goes to memory alone. IoError
// names the file, by `path`, and what was expected.  Thread-safe.
StoragePtr map_file(int descriptor, const std::string& path, size_t nbytes, bool shared);

// The path of the file that writes to the storage go to; empty for any other storage.
std::string path_of_mapped(const StorageImpl& storage);

}  // namespace argand
