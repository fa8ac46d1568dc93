// The decoders of images.  PNG has a whole second decoder beside it, on zlib alone; JPEG a reader of its structure,
// which knows what must be refused and the size of what is accepted.
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "argand/vision/image.h"
#include "tests/fuzz/fuzz.h"

namespace argand::fuzz {

namespace {

constexpr vision::DecodeLimits kLimits{.max_side = 512, .max_pixels = 1 << 14, .max_ancillary_bytes = 256};

struct Picture {
  size_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
};

uint8_t at(std::string_view s, size_t i) { return static_cast<uint8_t>(s[i]); }
uint32_t u32(std::string_view s, size_t i) {
  return uint32_t{at(s, i)} << 24 | uint32_t{at(s, i + 1)} << 16 | uint32_t{at(s, i + 2)} << 8 | at(s, i + 3);
}
uint32_t checksum(std::string_view s) {
  return static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size())));
}
std::string big(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16 & 0xFF), static_cast<char>(v >> 8 & 0xFF),
          static_cast<char>(v & 0xFF)};
}

// ---- PNG

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);

struct Png {
  uint32_t width = 0, height = 0;
  unsigned depth = 0, colour = 0;
  bool interlaced = false, has_palette = false, has_transparency = false;
  std::string palette, transparency, data;
  size_t samples() const { return colour == 2 ? 3 : colour == 4 ? 2 : colour == 6 ? 4 : 1; }
};

// The chunks: their order, lengths and checksums.
std::optional<Png> chunks_of(std::string_view s) {
  if (s.substr(0, 8) != kSignature) return std::nullopt;
  Png p;
  int64_t ancillary = 0;
  bool first = true, data_ended = false;
  for (size_t i = 8;;) {
    if (s.size() - i < 12) return std::nullopt;
    const size_t length = u32(s, i);
    if (length > 0x7FFFFFFF || length > s.size() - i - 12) return std::nullopt;
    const std::string_view type = s.substr(i + 4, 4), body = s.substr(i + 8, length);
    if (checksum(s.substr(i + 4, length + 4)) != u32(s, i + 8 + length)) return std::nullopt;
    for (const char c : type)
      if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return std::nullopt;
    if (first != (type == "IHDR")) return std::nullopt;
    if (type != "IDAT" && !p.data.empty()) data_ended = true;
    if (type == "IHDR") {
      if (length != 13) return std::nullopt;
      p.width = u32(body, 0), p.height = u32(body, 4), p.depth = at(body, 8), p.colour = at(body, 9);
      p.interlaced = body[12] == 1;
      const bool small = p.depth == 1 || p.depth == 2 || p.depth == 4, deep = p.depth == 16, byte = p.depth == 8;
      const bool good = p.colour == 0                                     ? small || byte || deep
                        : p.colour == 3                                   ? small || byte
                        : p.colour == 2 || p.colour == 4 || p.colour == 6 ? byte || deep
                                                                          : false;
      if (!good || body[10] != 0 || body[11] != 0 || at(body, 12) > 1) return std::nullopt;
      if (p.width == 0 || p.height == 0 || p.width > uint32_t(kLimits.max_side) ||
          p.height > uint32_t(kLimits.max_side) || int64_t{p.width} * p.height > kLimits.max_pixels)
        return std::nullopt;
    } else if (type == "PLTE") {
      if (p.has_palette || p.has_transparency || data_ended || p.colour == 0 || p.colour == 4 || length == 0 ||
          length % 3 != 0 || length > 768)
        return std::nullopt;
      p.has_palette = true;
      p.palette = body;
    } else if (type == "tRNS") {
      const size_t colours = std::min<size_t>(p.palette.size() / 3, size_t{1} << p.depth);
      const bool good = p.colour == 0   ? length == 2
                        : p.colour == 2 ? length == 6
                        : p.colour == 3 ? p.has_palette && length > 0 && length <= colours
                                        : false;
      if (p.has_transparency || data_ended || !good) return std::nullopt;
      p.has_transparency = true;
      p.transparency = body;
    } else if (type == "IDAT") {
      if (data_ended || (p.colour == 3 && !p.has_palette)) return std::nullopt;
      p.data += body;
    } else if (type == "IEND") {
      if (length != 0 || p.data.empty()) return std::nullopt;
      return p;
    } else {
      ancillary += static_cast<int64_t>(length);
      if (at(type, 0) < 'a' || ancillary > kLimits.max_ancillary_bytes) return std::nullopt;
    }
    first = false;
    i += 12 + length;
  }
}

// Exactly `size` bytes, or none.
std::optional<std::string> inflated(std::string_view data, size_t size) {
  std::string out(size + 1, '\0');
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) std::abort();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool good = ::inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0 && stream.total_out == size;
  ::inflateEnd(&stream);
  if (!good) return std::nullopt;
  out.resize(size);
  return out;
}

struct Pass {
  size_t x0, y0, dx, dy;
};
constexpr Pass kAdam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

std::optional<Picture> judge_png(std::string_view file) {
  const auto p = chunks_of(file);
  if (!p) return std::nullopt;
  const size_t bits = p->samples() * p->depth, unit = std::max<size_t>(1, bits / 8);
  std::vector<Pass> passes = {{0, 0, 1, 1}};
  if (p->interlaced) passes.assign(std::begin(kAdam7), std::end(kAdam7));
  const auto count = [](size_t size, size_t start, size_t step) {
    return size <= start ? 0 : (size - start - 1) / step + 1;
  };
  size_t bytes = 0;
  for (const Pass& pass : passes) {
    const size_t w = count(p->width, pass.x0, pass.dx), h = count(p->height, pass.y0, pass.dy);
    if (w > 0) bytes += h * (1 + (w * bits + 7) / 8);
  }
  const auto raw = inflated(p->data, bytes);
  if (!raw) return std::nullopt;

  std::vector<unsigned> values(size_t{p->width} * p->height * p->samples());  // as they are in the file
  size_t position = 0;
  for (const Pass& pass : passes) {
    const size_t w = count(p->width, pass.x0, pass.dx), h = count(p->height, pass.y0, pass.dy),
                 row = (w * bits + 7) / 8;
    if (w == 0) continue;
    std::vector<uint8_t> above(row), line(row);
    for (size_t y = 0; y < h; ++y, above = line) {
      const unsigned filter = at(*raw, position++);
      if (filter > 4) return std::nullopt;
      for (size_t i = 0; i < row; ++i) {
        const int a = i < unit ? 0 : line[i - unit], b = above[i], c = i < unit ? 0 : above[i - unit];
        const int pa = std::abs(b - c), pb = std::abs(a - c), pc = std::abs(a + b - 2 * c);
        const int paeth = pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
        const int guess[] = {0, a, b, (a + b) / 2, paeth};
        line[i] = static_cast<uint8_t>(at(*raw, position++) + guess[filter]);
      }
      for (size_t x = 0; x < w; ++x)
        for (size_t s = 0; s < p->samples(); ++s) {
          const size_t bit = x * bits + s * p->depth;
          unsigned v = line[bit / 8];
          if (p->depth == 16) v = v << 8 | line[bit / 8 + 1];
          if (p->depth < 8) v = v >> (8 - p->depth - bit % 8) & ((1U << p->depth) - 1);
          values[((pass.y0 + y * pass.dy) * p->width + pass.x0 + x * pass.dx) * p->samples() + s] = v;
        }
    }
  }

  const bool has_alpha = p->colour == 4 || p->colour == 6;
  const size_t colours = p->samples() - (has_alpha ? 1 : 0);
  const unsigned most = (1U << p->depth) - 1;
  const auto to_byte = [&](unsigned v) { return (v * 255 + most / 2) / most; };
  const auto blend = [](unsigned v, unsigned alpha) {  // over white, rounded
    return static_cast<uint8_t>((v * alpha + 255 * (255 - alpha) + 127) / 255);
  };
  Picture out{p->width, p->height, p->colour == 3 ? 3 : colours, {}};
  for (size_t i = 0; i < values.size(); i += p->samples()) {
    if (p->colour == 3) {
      const size_t index = values[i];
      if (index >= p->palette.size() / 3) return std::nullopt;
      const unsigned alpha = index < p->transparency.size() ? at(p->transparency, index) : 255;
      for (size_t c = 0; c < 3; ++c) out.pixels.push_back(blend(at(p->palette, 3 * index + c), alpha));
      continue;
    }
    unsigned alpha = has_alpha ? to_byte(values[i + colours]) : 255;
    if (p->has_transparency) {
      bool is_it = true;
      for (size_t c = 0; c < colours; ++c)
        is_it &= values[i + c] == ((unsigned{at(p->transparency, 2 * c)} << 8 | at(p->transparency, 2 * c + 1)) & most);
      if (is_it) alpha = 0;
    }
    for (size_t c = 0; c < colours; ++c) out.pixels.push_back(blend(to_byte(values[i + c]), alpha));
  }
  return out;
}

// With the lengths and checksums that the chunks need, and image data that are compressed here.
std::string repaired(std::string_view input, bool compress) {
  std::string out(input.substr(0, 8));
  for (size_t i = 8; i + 8 <= input.size();) {
    const size_t length = std::min<size_t>(u32(input, i), input.size() - i - 8);
    std::string body(input.substr(i + 8, length));
    const std::string_view type = input.substr(i + 4, 4);
    if (compress && type == "IDAT") {
      std::string packed(::compressBound(body.size()), '\0');
      uLongf size = packed.size();
      if (::compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(body.data()),
                      body.size(), 0) != Z_OK)
        std::abort();
      body = packed.substr(0, size);
    }
    const std::string whole = std::string(type) + body;
    out += big(static_cast<uint32_t>(body.size())) + whole + big(checksum(whole));
    i += 12 + length;
  }
  return out;
}

// ---- JPEG

// The size, where the structure up to the end is one that may be accepted.
std::optional<Picture> outline_of(std::string_view s) {
  if (s.substr(0, 2) != "\xff\xd8") return std::nullopt;
  Picture out;
  std::set<unsigned> components, scanned;
  int64_t ancillary = 0;
  for (size_t i = 2;;) {
    // What stands before a marker is passed over.
    while (i < s.size() && at(s, i) != 0xFF) ++i;
    while (i < s.size() && at(s, i) == 0xFF) ++i;
    if (i >= s.size()) return std::nullopt;
    const unsigned marker = at(s, i++);
    if (marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD7)) continue;
    if (marker == 0xD8) return std::nullopt;
    if (marker == 0xD9) break;
    if (s.size() - i < 2) return std::nullopt;
    size_t length = size_t{at(s, i)} << 8 | at(s, i + 1);
    // What is skipped may have no length.
    if (marker == 0xFE || marker >> 4 == 0xE || marker == 0xDC) length = std::max<size_t>(length, 2);
    if (length < 2 || length > s.size() - i) return std::nullopt;
    const std::string_view body = s.substr(i + 2, length - 2);
    i += length;
    if (marker == 0xFE || marker >> 4 == 0xE) ancillary += static_cast<int64_t>(length);
    if (ancillary > kLimits.max_ancillary_bytes) return std::nullopt;
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      if (marker > 0xC2 || out.width > 0 || !scanned.empty() || body.size() < 6 || body[0] != 8) return std::nullopt;
      out.height = size_t{at(body, 1)} << 8 | at(body, 2);
      out.width = size_t{at(body, 3)} << 8 | at(body, 4);
      const size_t count = at(body, 5);
      if ((count != 1 && count != 3 && count != 4) || body.size() != 6 + 3 * count) return std::nullopt;
      for (size_t c = 0; c < count; ++c) {
        components.insert(at(body, 6 + 3 * c));
        const unsigned factors = at(body, 7 + 3 * c);
        if (factors >> 4 < 1 || factors >> 4 > 4 || (factors & 15) < 1 || (factors & 15) > 4 || at(body, 8 + 3 * c) > 3)
          return std::nullopt;
      }
      out.channels = count == 1 ? 1 : 3;
      if (out.width == 0 || out.height == 0 || out.width > size_t(kLimits.max_side) ||
          out.height > size_t(kLimits.max_side) || int64_t(out.width * out.height) > kLimits.max_pixels)
        return std::nullopt;
    }
    if (marker == 0xDA) {
      if (out.width == 0 || body.empty() || at(body, 0) < 1 || at(body, 0) > 4 ||
          body.size() != 4 + 2 * size_t{at(body, 0)})
        return std::nullopt;
      for (size_t c = 0; c < at(body, 0); ++c) scanned.insert(at(body, 1 + 2 * c));
    }
  }
  // libjpeg finds the components of a scan by their names.
  if (scanned.empty() || !std::includes(scanned.begin(), scanned.end(), components.begin(), components.end()))
    return std::nullopt;
  return out;
}

void compare(const vision::Image& got, const Picture& expected) {
  if (size_t(got.width) != expected.width || size_t(got.height) != expected.height ||
      size_t(got.channels) != expected.channels)
    disagree("another size");
  if (got.pixels.size() != expected.width * expected.height * expected.channels) disagree("another number of pixels");
}

vision::Image decode(std::string_view file) {
  return vision::decode_image({reinterpret_cast<const uint8_t*>(file.data()), file.size()}, "input", kLimits);
}

}  // namespace

void png(uint8_t option, std::string_view input) {
  const std::string file = option % 2 == 0 ? std::string(input) : repaired(input, option % 4 == 1);
  if (file.compare(0, 8, kSignature) != 0) return;  // another format: the other target
  const auto expected = judge_png(file);
  vision::Image got;
  if (!both_accept<IoError>(expected.has_value(), [&] { got = decode(file); })) return;
  compare(got, *expected);
  if (got.pixels != expected->pixels) disagree("other pixels");
}

void jpeg(uint8_t, std::string_view input) {
  if (input.substr(0, 2) == kSignature.substr(0, 2)) return;
  const auto expected = outline_of(input);
  vision::Image got;
  try {
    got = decode(input);
  } catch (const IoError&) {
    return;  // only the decoder knows whether the coded data are whole
  }
  ++accepted;
  if (!expected) disagree("the decoder accepts what the structure forbids");
  compare(got, *expected);
}

}  // namespace argand::fuzz
