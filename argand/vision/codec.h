// The decoders behind decode_image, one per format.  They are inside: a format is chosen by image.cpp.
#pragma once
#include "argand/vision/image.h"

namespace argand::vision::detail {

struct Source {
  ArrayRef<uint8_t> bytes;
  const std::string& name;
  const DecodeLimits& limits;
};

// Throws unless the size is within the limits and `max_pixels_per_byte` times the bytes of the source suffice for it.
void check_size(const Source& source, const char* format, int64_t width, int64_t height, int64_t max_pixels_per_byte);

// Throws unless so many bytes that are no pixels are within the limit.
void check_ancillary(const Source& source, const char* format, int64_t bytes);

// Makes room for `needed` bytes of pixels, of `all` there will be: memory follows the rows that the data really give,
// so an image that is refused costs no more than a few times what was decoded of it.
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
