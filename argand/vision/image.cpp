#include "argand/vision/image.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "argand/vision/codec.h"

namespace argand::vision {

namespace {

bool starts_with(ArrayRef<uint8_t> bytes, std::string_view magic, size_t offset = 0) {
  return bytes.size() >= offset + magic.size() && std::memcmp(bytes.data() + offset, magic.data(), magic.size()) == 0;
}

// The name of an unsupported format, for a better message.
const char* other_format(ArrayRef<uint8_t> bytes) {
  if (bytes.empty()) return "an empty file";
  if (starts_with(bytes, "GIF8")) return "a GIF";
  if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return "a WebP image";
  if (starts_with(bytes, "BM")) return "a BMP image";
  if (starts_with(bytes, {"II*\0", 4}) || starts_with(bytes, {"MM\0*", 4})) return "a TIFF image";
  if (starts_with(bytes, "ftypavif", 4)) return "an AVIF image";
  if (starts_with(bytes, "ftyphei", 4)) return "a HEIC image";
  if (starts_with(bytes, "<")) return "SVG or other XML";
  return "something else";
}

// For each output position along one axis: the first source position that counts, and the weights from there on.
struct Filter {
  struct Tap {
    int first;
    std::vector<float> weights;
  };
  std::vector<Tap> taps;

  Filter(int from, int to) {
    const double scale = double(from) / to;
    const double reach = std::max(scale, 1.0);  // half the width of the triangle
    for (int i = 0; i < to; ++i) {
      const double centre = (i + 0.5) * scale;
      const int first = std::max(0, static_cast<int>(std::floor(centre - reach + 0.5)));
      const int end = std::min(from, static_cast<int>(std::floor(centre + reach + 0.5)));
      std::vector<double> weights;
      double sum = 0;
      for (int x = first; x < end; ++x) {
        weights.push_back(std::max(0.0, 1 - std::abs(x + 0.5 - centre) / reach));
        sum += weights.back();
      }
      Tap tap{first, {}};
      for (const double w : weights) tap.weights.push_back(static_cast<float>(w / sum));
      taps.push_back(std::move(tap));
    }
  }
};

}  // namespace

Image::Image(int width_, int height_, int channels_) : width(width_), height(height_), channels(channels_) {
  ARGAND_CHECK(ValueError, width > 0 && height > 0, "Image: expected a size above 0, got ", width, "x", height);
  ARGAND_CHECK(ValueError, channels == 1 || channels == 3, "Image: expected 1 or 3 channels, got ", channels);
  pixels.resize(size_t(width) * size_t(height) * size_t(channels));
}

void detail::check_size(const Source& source, const char* format, int64_t width, int64_t height,
                        int64_t max_pixels_per_byte) {
  const DecodeLimits& limits = source.limits;
  ARGAND_CHECK(IoError, width <= limits.max_side && height <= limits.max_side && width * height <= limits.max_pixels,
               format, " image '", source.name, "' is too large: expected sides of at most ", limits.max_side, " and ",
               limits.max_pixels, " pixels, got ", width, "x", height);
  const auto size = static_cast<int64_t>(source.bytes.size());
  ARGAND_CHECK(IoError, width * height <= size * max_pixels_per_byte, "damaged ", format, " image '", source.name,
               "': ", size, " bytes cannot hold ", width, "x", height, " pixels");
}

void detail::grow(std::vector<uint8_t>& pixels, size_t needed, size_t all) {
  constexpr size_t kFirst = size_t{4} << 20;
  if (needed > pixels.size()) pixels.resize(std::min(all, std::max({needed, kFirst, 2 * pixels.size()})));
}

void detail::check_ancillary(const Source& source, const char* format, int64_t bytes) {
  ARGAND_CHECK(IoError, bytes <= source.limits.max_ancillary_bytes, format, " image '", source.name,
               "' has too much beside its pixels: expected at most ", source.limits.max_ancillary_bytes, " bytes, got ",
               bytes);
}

Image decode_image(ArrayRef<uint8_t> bytes, const std::string& name, const DecodeLimits& limits) {
  const detail::Source source{bytes, name, limits};
  if (starts_with(bytes, "\x89PNG\r\n\x1a\n")) return detail::decode_png(source);
  if (starts_with(bytes, "\xff\xd8\xff")) return detail::decode_jpeg(source);
  ARGAND_THROW(IoError, "cannot read the image '", name, "': expected a PNG or a JPEG, got ", other_format(bytes));
}

Image resize(const Image& image, int width, int height) {
  Image out(width, height, image.channels);
  const Filter across(image.width, width), down(image.height, height);
  const auto channels = static_cast<size_t>(image.channels);
  const size_t row = size_t(width) * channels;
  const auto rounded = [](float sum) { return static_cast<uint8_t>(std::clamp(sum + 0.5f, 0.0f, 255.0f)); };
  // Rows first: `narrow` holds all source rows at the new width, rounded as Pillow rounds them.
  std::vector<uint8_t> narrow(row * size_t(image.height));
  for (int y = 0; y < image.height; ++y)
    for (size_t x = 0; x < size_t(width); ++x)
      for (size_t c = 0; c < channels; ++c) {
        const Filter::Tap& tap = across.taps[x];
        const uint8_t* from = image.at(tap.first, y) + c;
        float sum = 0;
        for (size_t k = 0; k < tap.weights.size(); ++k) sum += tap.weights[k] * from[k * channels];
        narrow[size_t(y) * row + x * channels + c] = rounded(sum);
      }
  for (int y = 0; y < height; ++y) {
    const Filter::Tap& tap = down.taps[size_t(y)];
    for (size_t i = 0; i < row; ++i) {
      float sum = 0;
      for (size_t k = 0; k < tap.weights.size(); ++k) sum += tap.weights[k] * narrow[(size_t(tap.first) + k) * row + i];
      out.pixels[size_t(y) * row + i] = rounded(sum);
    }
  }
  return out;
}

Image to_gray(const Image& image) {
  if (image.channels == 1) return image;
  Image out(image.width, image.height, 1);
  for (size_t i = 0; i < out.pixels.size(); ++i) {
    const uint8_t* rgb = image.pixels.data() + 3 * i;
    out.pixels[i] = static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
  }
  return out;
}

Image to_rgb(const Image& image) {
  if (image.channels == 3) return image;
  Image out(image.width, image.height, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    for (size_t c = 0; c < 3; ++c) out.pixels[3 * i + c] = image.pixels[i];
  return out;
}

}  // namespace argand::vision
