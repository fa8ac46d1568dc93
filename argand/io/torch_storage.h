// The elements of a storage in a file.
#pragma once
#include "argand/io/torch_file.h"
#include "argand/io/torch_names.h"
#include "argand/io/zip.h"

namespace argand::io {

// The device for the storage; ValueError for an invalid location.
Device place_of(const StorageRequest& request, const LoadOptions& options);

// `read(data, bytes)` fills the memory; `big`: its numbers have the most significant byte first.
using ReadStorage = std::function<void(void*, size_t)>;
Tensor read_storage(const StorageRequest& request, const Device& device, bool big, const ReadStorage& read);
// The same on the CPU, read at the first access to an element (Note [Late reading]).
Tensor late_storage(const StorageRequest& request, bool big, ReadStorage read);

// Adds the bytes of each tensor's storage as FOLDER/0, FOLDER/1, ...
void add_storages(ZipWriter& zip, const char* folder, const std::vector<Tensor>& tensors);

Value load_legacy(const ByteSource& source, const LoadOptions& options);
bool is_legacy(const ByteSource& source);

}  // namespace argand::io
