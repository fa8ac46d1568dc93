// Memory of devices that work on a tape may not treat as its own: what others have the address of, and what work that
// was never issued would have touched.  Which addresses work has is found among the bytes of its arguments: every 8 of
// them that could be an address are taken for one.  All functions are thread-safe.
#pragma once
#include <cstddef>
#include <exception>

namespace argand::cuda {

// ---- addresses that have left the library

void expose_memory(const void* data, size_t nbytes);
void unexpose_memory(const void* data, size_t nbytes);  // as it was exposed
// Whether any of these words is an address in such memory; next to nothing where there is none.
bool touches_exposed_memory(const char* words, size_t nbytes);

// ---- Note [Lost writes]

// Work with these arguments was never issued: a look at memory that one of them is an address of throws `why`.
void lose_memory(const char* words, size_t nbytes, const std::exception_ptr& why);
// The memory is given back, and what comes next there has nothing to do with it.
void forget_lost_memory(const void* data, size_t nbytes) noexcept;

}  // namespace argand::cuda
