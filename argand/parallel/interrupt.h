// How a wait ends when the user of the process wants it to: Ctrl-C in Python.
#pragma once
#include <chrono>

namespace argand::parallel {

// Waits call check_interrupt() whenever they were woken, and at least this often.
inline constexpr std::chrono::milliseconds kInterruptInterval{100};

// `check` throws what ends a wait of the thread that calls it.  Null: nothing does.
using InterruptCheck = void (*)();
void set_interrupt_check(InterruptCheck check) noexcept;
void check_interrupt();

}  // namespace argand::parallel
