// What a block of recurrence_whole_step has: for the kernel and for who launches it.
#pragma once

namespace argand {

inline constexpr int kStepWarps = 16, kStepRows = 32;
inline constexpr int kStepPitch = 8;  // floats after a row of sums in shared memory: rows on other banks

constexpr int units_of_step(int gates) { return gates == 1 ? 32 : 8; }
constexpr int tiles_of_step(int gates) { return gates * units_of_step(gates) / 8; }  // of eight columns
constexpr int bytes_of_step(int gates) {
  return kStepWarps * kStepRows * (8 * tiles_of_step(gates) + kStepPitch) * int(sizeof(float));
}

}  // namespace argand
