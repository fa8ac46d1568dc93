// The list of all CPU generators, so that fork() leaves none of them locked in the child.
#pragma once

namespace argand {

class CpuGeneratorImpl;

// Called by its constructor and destructor.  Thread safe.
void add_live_generator(CpuGeneratorImpl& generator);
void remove_live_generator(CpuGeneratorImpl& generator) noexcept;

}  // namespace argand
