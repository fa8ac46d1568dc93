// The sizes of a block of recurrence_whole_step and its gradient, for the kernels and the host.
#pragma once

namespace argand {

inline constexpr int kStepWarps = 16, kStepRows = 32;
// The gradient's product has as many terms as gates and few columns: tiles that are as high as wide read the least.
inline constexpr int kGradientRows = 16, kGradientUnits = 16;

constexpr int units_of_step(int gates) { return gates == 1 ? 32 : 8; }
constexpr int tiles_of_step(int gates) { return gates * units_of_step(gates) / 8; }  // of eight columns
// The pitch of rows of sums in shared memory, in floats: the next row is on other banks.
constexpr int pitch_of_step(int tiles) { return 8 * tiles + 8; }
constexpr int bytes_of_step(int rows, int tiles) {
  return kStepWarps * rows * pitch_of_step(tiles) * int(sizeof(float));
}

}  // namespace argand
