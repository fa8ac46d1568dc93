// The decoders behind decode_image, one per format.  They are internal; image.cpp chooses the format.
#pragma once
#include "argand/vision/image.h"

namespace argand::vision::detail {

struct Source {
  ArrayRef<uint8_t> bytes;
  const std::string& name;
  const DecodeLimits& limits;
};

// Throws if the size exceeds the limits, or if `max_pixels_per_byte` times the bytes of the source is too few for it.
void check_size(const Source& source, const char* format, int64_t width, int64_t height, int64_t max_pixels_per_byte);

// Throws if this many bytes that are not pixels exceed the limit.
void check_ancillary(const Source& source, const char* format, int64_t bytes);

// Makes room for `needed` of `all` bytes of pixels: memory grows with the rows that were decoded, so a refused image
// costs no more than a few times the size of its decoded part.
void grow(std::vector<uint8_t>& pixels, size_t needed, size_t all);

Image decode_png(const Source& source);
Image decode_jpeg(const Source& source);

// Note [setjmp in C++]
// libpng and libjpeg report errors by longjmp, which runs no destructors.  So the code that calls them is cut into
// steps: plain functions that get all they work on in one struct and own nothing themselves.  `guarded` sets the jump,
// runs a step and returns false if the library jumped; the struct, whose destructor frees the library's state, lives
// outside.  A step may throw (only C++ frames lie between it and guarded's caller); a callback, which C code calls, may
// not.
template <class State>
using Step = void (*)(State&);

}  // namespace argand::vision::detail
