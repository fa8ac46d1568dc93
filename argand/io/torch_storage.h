// The elements of a storage in a file.
#pragma once
#include "argand/io/mapped_file.h"
#include "argand/io/torch_file.h"
#include "argand/io/torch_names.h"

namespace argand::io {

// Where the storage goes; ValueError for a location that is none.
Device place_of(const StorageRequest& request, const LoadOptions& options);

// `read(data, bytes)` fills the memory; `big`: its numbers have the most significant byte first.
Tensor read_storage(const StorageRequest& request, const Device& device, bool big,
                    const std::function<void(void*, size_t)>& read);
// Over the bytes of a file; null where they are not aligned, or have to be changed.
Tensor map_storage(const StorageRequest& request, const std::shared_ptr<MappedFile>& file, int64_t begin);

Value load_legacy(const ByteSource& source, const LoadOptions& options);
bool is_legacy(const ByteSource& source);

}  // namespace argand::io
