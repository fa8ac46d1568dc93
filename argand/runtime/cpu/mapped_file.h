// Files as memory: storages of the CPU over a mapped file, which may be larger than the machine's memory.
//
// If a file becomes shorter while it is mapped, or cannot be read, every later access and the op that met the gap throw
// IoError; the process goes on (Note [Bytes that go]).  The file may be removed after it is mapped.
#pragma once
#include <string>

#include "argand/core/storage.h"

namespace argand {

// `nbytes` bytes, at least one, of a regular file, from byte `first` on.  Takes ownership of the descriptor, which must
// be readable, and writable if shared: then writes go to the file, which is extended if needed; otherwise they go to
// memory only.  IoError names the file, by `path`, and what was expected.  Thread-safe.
StoragePtr map_file(int descriptor, const std::string& path, size_t nbytes, bool shared, size_t first = 0);

// The path of the file whose beginning the storage is, and to which writes go; empty for any other storage.
std::string path_of_mapped(const StorageImpl& storage);

}  // namespace argand
