// How add_at.cuh divides its work: one definition for both compilers.
#pragma once

namespace argand {

inline constexpr int kPlaceBits = 9;
inline constexpr unsigned kPlaces = 1u << kPlaceBits;  // neighbouring positions that make a range
inline constexpr unsigned kTileElements = 8192;        // that a block adds up
inline constexpr int kAddThreads = 512, kCutThreads = 1024;

}  // namespace argand
