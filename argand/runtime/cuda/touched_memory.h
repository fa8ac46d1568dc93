// Two kinds of device memory that tapes must watch: memory whose address has left the library, and memory that lost
// work would have touched.  The addresses that work uses are found in the bytes of its arguments: every 8 bytes that
// could be an address count as one.  All functions are thread-safe.
#pragma once
#include <cstddef>
#include <exception>

namespace argand::cuda {

// ---- addresses that have left the library

void expose_memory(const void* data, size_t nbytes);
void unexpose_memory(const void* data, size_t nbytes);  // with the arguments of expose_memory()
// Whether any of these words is an address in such memory; very cheap if there is no such memory.
bool touches_exposed_memory(const char* words, size_t nbytes);

// ---- Note [Lost writes]

// Work with these arguments was never issued: an access to memory to which one of them points throws `why`.
void lose_memory(const char* words, size_t nbytes, const std::exception_ptr& why);
// The memory was freed; its next use has nothing to do with the lost work.
void forget_lost_memory(const void* data, size_t nbytes) noexcept;

}  // namespace argand::cuda
