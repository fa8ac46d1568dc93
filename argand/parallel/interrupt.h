// Ends a wait when the user interrupts the process, such as by Ctrl-C in Python.
#pragma once
#include <chrono>

namespace argand::parallel {

// Waits call check_interrupt() after each wake-up, and at least this often.
inline constexpr std::chrono::milliseconds kInterruptInterval{100};

// `check` throws an error to end a wait of the calling thread.  Null: waits are not interrupted.
using InterruptCheck = void (*)();
void set_interrupt_check(InterruptCheck check) noexcept;
void check_interrupt();

}  // namespace argand::parallel
