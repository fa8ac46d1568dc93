// Images in memory: PNG and JPEG in and out of bytes, and the few operations that feed a network.  Thread-safe; nothing
// here touches a file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "argand/base/array_ref.h"
#include "argand/base/error.h"

namespace argand::vision {

// height x width x channels bytes, row-major, channels interleaved: 1 = gray, 3 = red, green, blue.
struct Image {
  int width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;

  Image() = default;
  Image(int width, int height, int channels);  // black; throws ValueError for impossible sizes
  uint8_t* at(int x, int y) { return pixels.data() + offset(x, y); }
  const uint8_t* at(int x, int y) const { return pixels.data() + offset(x, y); }

 private:
  size_t offset(int x, int y) const { return (size_t(y) * size_t(width) + size_t(x)) * size_t(channels); }
};

// The limits for untrusted images.  Before pixels are allocated, their number is also compared with the available
// bytes: no encoding packs more than some 4000 pixels into a byte.
struct DecodeLimits {
  int max_side = 16384;
  int64_t max_pixels = int64_t{1} << 28;
  int64_t max_ancillary_bytes = int64_t{64} << 20;  // for text, profiles and all other data except pixels, in total
};

// Decodes a PNG or a JPEG, chosen by the first bytes; `name` is for errors.  Gray stays gray, all else becomes RGB.  16
// bits are rounded to 8, transparency is blended over white; animation, colour profiles, gamma and EXIF rotation are
// ignored.  Throws IoError naming the image for an unknown format, beyond the limits, and for any damage (wrong
// checksum, missing end, cut data); there is never a partial image.
Image decode_image(ArrayRef<uint8_t> bytes, const std::string& name, const DecodeLimits& limits = {});

std::vector<uint8_t> encode_png(const Image& image);

// Bilinear, with pixel centres at +0.5.  When shrinking, the filter widens with the scale, so that every source pixel
// counts.  Rows are scaled first and rounded, then columns, as Pillow's BILINEAR does.
Image resize(const Image& image, int width, int height);

Image to_gray(const Image& image);  // luma of ITU-R BT.601, rounded
Image to_rgb(const Image& image);   // gray in all three channels

}  // namespace argand::vision
