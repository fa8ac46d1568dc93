// The generators of the CPU that there are, so that a process that is forked leaves none of them locked in the child.
#pragma once

namespace argand {

class CpuGeneratorImpl;

// Called by its constructor and destructor.  Thread safe.
void add_live_generator(CpuGeneratorImpl& generator);
void remove_live_generator(CpuGeneratorImpl& generator) noexcept;

}  // namespace argand
