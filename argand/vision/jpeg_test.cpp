#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
// jpeglib.h wants FILE and size_t declared before it.
#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "argand/vision/image.h"

namespace argand::vision {
namespace {

using Bytes = std::vector<uint8_t>;

struct Options {
  J_COLOR_SPACE colours = JCS_RGB;
  int quality = 95;
  bool progressive = false;
  bool arithmetic = false;
  bool full_chroma = true;
  unsigned restart = 0;
  std::vector<jpeg_scan_info> scans = {};
};

Bytes encode(int width, int height, const Bytes& pixels, const Options& options = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &buffer, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = options.colours == JCS_GRAYSCALE ? 1 : options.colours == JCS_CMYK ? 4 : 3;
  jpeg.in_color_space = options.colours;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  if (options.full_chroma) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  if (options.progressive) jpeg_simple_progression(&jpeg);
  jpeg.arith_code = options.arithmetic;
  jpeg.restart_interval = options.restart;
  if (!options.scans.empty()) {
    jpeg.scan_info = options.scans.data();
    jpeg.num_scans = static_cast<int>(options.scans.size());
  }
  jpeg_start_compress(&jpeg, TRUE);
  const size_t row = size_t(width) * size_t(jpeg.input_components);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* line = const_cast<JSAMPROW>(pixels.data()) + jpeg.next_scanline * row;
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  Bytes out(buffer, buffer + size);
  std::free(buffer);
  jpeg_destroy_compress(&jpeg);
  return out;
}

Image decode(const Bytes& bytes, const DecodeLimits& limits = {}) { return decode_image(bytes, "a.jpg", limits); }

std::string error(const Bytes& bytes, const DecodeLimits& limits = {}) {
  try {
    decode(bytes, limits);
  } catch (const IoError& e) {
    EXPECT_NE(e.msg().find("'a.jpg'"), std::string::npos) << e.msg();
    return e.msg();
  }
  return "";
}

// Smooth, so that little is lost in coding.
Bytes smooth(int width, int height, int channels) {
  Bytes pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        pixels.push_back(static_cast<uint8_t>(127.5 + 100 * std::sin(0.1 * x + c) * std::cos(0.08 * y - c)));
  return pixels;
}

void expect_near(const Bytes& got, const Bytes& expected, int tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  int worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
  EXPECT_LE(worst, tolerance);
}

// The start of the segment with this marker (its ff byte).
size_t find_marker(const Bytes& bytes, uint8_t marker) {
  for (size_t i = 0; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xff && bytes[i + 1] == marker) return i;
  ADD_FAILURE() << "no marker";
  return 0;
}
constexpr uint8_t kSof0 = 0xc0, kDht = 0xc4, kSos = 0xda, kDqt = 0xdb;

TEST(Jpeg, GrayAndColour) {
  for (const bool progressive : {false, true}) {
    const Bytes rgb = smooth(37, 21, 3), gray = smooth(37, 21, 1);
    const Image colour = decode(encode(37, 21, rgb, {.quality = 100, .progressive = progressive}));
    EXPECT_EQ(colour.width, 37);
    EXPECT_EQ(colour.height, 21);
    EXPECT_EQ(colour.channels, 3);
    expect_near(colour.pixels, rgb, 4);
    const Image one =
        decode(encode(37, 21, gray, {.colours = JCS_GRAYSCALE, .quality = 100, .progressive = progressive}));
    EXPECT_EQ(one.channels, 1);
    expect_near(one.pixels, gray, 3);
  }
}

TEST(Jpeg, SubsampledChroma) {
  expect_near(decode(encode(64, 48, smooth(64, 48, 3), {.full_chroma = false})).pixels, smooth(64, 48, 3), 20);
}

TEST(Jpeg, Cmyk) {
  // As Adobe writes it, 255 is no ink: a colour is the product of its ink and black.
  Bytes cmyk, rgb;
  for (int i = 0; i < 16 * 16; ++i) {
    for (const int v : {200, 100, 255, 128}) cmyk.push_back(static_cast<uint8_t>(v));
    for (const int v : {200 * 128 / 255, 100 * 128 / 255, 128}) rgb.push_back(static_cast<uint8_t>(v));
  }
  Bytes file = encode(16, 16, cmyk, {.colours = JCS_CMYK, .quality = 100});
  expect_near(decode(file).pixels, rgb, 2);
}

TEST(Jpeg, CutAtEveryByte) {
  for (const bool progressive : {false, true}) {
    const Bytes whole = encode(24, 16, smooth(24, 16, 3), {.progressive = progressive});
    for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error({whole.begin(), whole.begin() + n}), "") << n;
  }
}

TEST(Jpeg, EveryFlippedBitEndsWell) {
  const Bytes whole = encode(16, 8, smooth(16, 8, 3));
  int refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes bad = whole;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ (1 << bit % 8));
    try {
      const Image image = decode(bad);
      EXPECT_EQ(image.pixels.size(), size_t(image.width) * size_t(image.height) * size_t(image.channels));
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);  // JPEG has no checksums; damage to its structure is what can be seen
}

TEST(Jpeg, TooLargeIsKnownFromTheHeader) {
  Bytes bad = encode(16, 8, smooth(16, 8, 3));
  const size_t sof = find_marker(bad, kSof0);
  for (size_t i = 5; i < 9; ++i) bad[sof + i] = 0xff;
  EXPECT_NE(error(bad), "");
  bad[sof + 5] = bad[sof + 7] = 0xf0;
  EXPECT_EQ(error(bad),
            "JPEG image 'a.jpg' is too large: expected sides of at most 16384 and 268435456 pixels, got 61695x61695");
  bad[sof + 5] = bad[sof + 7] = 0x40;
  bad[sof + 6] = bad[sof + 8] = 0;
  EXPECT_EQ(error(bad), str("damaged JPEG image 'a.jpg': ", bad.size(), " bytes cannot hold 16384x16384 pixels"));
}

TEST(Jpeg, DamagedHeaders) {
  const Bytes good = encode(16, 8, smooth(16, 8, 3));
  const size_t sof = find_marker(good, kSof0), dht = find_marker(good, kDht), dqt = find_marker(good, kDqt),
               sos = find_marker(good, kSos);
  const auto with = [&](size_t at, int value) {
    Bytes bad = good;
    bad[at] = static_cast<uint8_t>(value);
    return error(bad);
  };
  ASSERT_EQ(error(good), "");
  EXPECT_NE(with(sof + 4, 12), "") << "precision";
  EXPECT_NE(with(sof + 4, 16), "") << "precision";
  EXPECT_NE(with(sof + 9, 0), "") << "no components";
  EXPECT_NE(with(sof + 9, 5), "") << "5 components";
  for (const int factors : {0x00, 0x01, 0x10, 0x51, 0x15, 0xff}) EXPECT_NE(with(sof + 11, factors), "") << factors;
  EXPECT_NE(with(sof + 12, 4), "") << "quantisation table 4";
  EXPECT_NE(with(dqt + 4, 4), "") << "quantisation table 4 defined";
  EXPECT_NE(with(dht + 5, 255), "") << "255 codes of one bit";
  EXPECT_NE(with(dht + 4, 5), "") << "Huffman table 5";
  EXPECT_NE(with(sos + 6, 0x33), "") << "scan uses a missing table";
  EXPECT_NE(with(dht + 3, 0), "") << "segment length 0";
  EXPECT_NE(with(dqt + 3, 1), "") << "segment length 1";
  Bytes twice(good.begin(), good.begin() + sos);
  twice.insert(twice.end(), good.begin() + sof, good.end());
  EXPECT_NE(error(twice), "") << "two frames";
}

TEST(Jpeg, EachComponentHasAScan) {
  std::vector<jpeg_scan_info> scans;
  for (int c = 0; c < 3; ++c) scans.push_back({1, {c, 0, 0, 0}, 0, 63, 0, 0});
  const Bytes rgb = smooth(20, 12, 3), whole = encode(20, 12, rgb, {.quality = 100, .scans = scans});
  expect_near(decode(whole).pixels, rgb, 4);
  Bytes cut = whole;
  const uint8_t kScan[] = {0xff, kSos};
  const auto last = std::find_end(cut.begin(), cut.end(), kScan, kScan + 2);
  ASSERT_NE(last, cut.end());
  cut.erase(last, cut.end() - 2);  // what is left is the end of the image
  EXPECT_NE(error(cut).find("no scan of one of its 3 components"), std::string::npos) << error(cut);
}

TEST(Jpeg, ArithmeticCodingIsRefused) {
  const std::string message = error(encode(16, 8, smooth(16, 8, 3), {.arithmetic = true}));
  EXPECT_EQ(message, "JPEG image 'a.jpg': arithmetic coding is not supported");
}

TEST(Jpeg, EndlessScansAreRefused) {
  // One scan for the means and one for all the rest, at full precision: the second may come again and again.
  const Bytes good = encode(16, 16, smooth(16, 16, 1),
                            {.colours = JCS_GRAYSCALE, .scans = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}}});
  size_t last = 0;
  for (size_t i = 0; i + 1 < good.size(); ++i)
    if (good[i] == 0xff && good[i + 1] == kSos) last = i;
  const auto repeated = [&](int times) {
    Bytes file(good.begin(), good.end() - 2);
    for (int i = 0; i < times; ++i) file.insert(file.end(), good.begin() + last, good.end() - 2);
    file.insert(file.end(), good.end() - 2, good.end());
    return file;
  };
  EXPECT_EQ(decode(repeated(50)).pixels, decode(good).pixels);
  EXPECT_NE(error(repeated(200)).find("more than 100 scans"), std::string::npos);
}

TEST(Jpeg, ExifIsSkipped) {
  const Bytes good = encode(16, 8, smooth(16, 8, 3));
  // An IFD whose link leads to itself, and an orientation out of range.
  const Bytes exif = {0xff, 0xe1, 0,    34,   'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                      0,    1,    0x01, 0x12, 0,   3,   0,   0,   0, 1, 0,   9,   0, 0,  0, 0, 0, 8};
  Bytes tagged(good.begin(), good.begin() + 2);
  tagged.insert(tagged.end(), exif.begin(), exif.end());
  tagged.insert(tagged.end(), good.begin() + 2, good.end());
  EXPECT_EQ(decode(tagged).pixels, decode(good).pixels);
}

TEST(Jpeg, AncillaryDataAreLimited) {
  Bytes file = encode(16, 8, smooth(16, 8, 3));
  const Bytes comment = {0xff, 0xfe, 0, 6, 'a', 'b', 'c', 'd'};
  const auto before = error(file, {.max_ancillary_bytes = 20});
  EXPECT_EQ(before, "") << "the segment of JFIF";
  for (int i = 0; i < 5; ++i) file.insert(file.begin() + 2, comment.begin(), comment.end());
  EXPECT_NE(error(file, {.max_ancillary_bytes = 20}).find("too much beside its pixels"), std::string::npos);
  EXPECT_EQ(error(file), "");
}

TEST(Jpeg, RestartMarkers) {
  const Bytes good = encode(32, 8, smooth(32, 8, 1), {.colours = JCS_GRAYSCALE, .restart = 1});
  ASSERT_EQ(error(good), "");
  const size_t first = find_marker(good, 0xd0);
  Bytes bad = good;
  bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(first), bad.begin() + static_cast<std::ptrdiff_t>(first) + 2);
  EXPECT_NE(error(bad), "") << "missing";
  bad = good;
  bad[first + 1] = 0xd3;
  EXPECT_NE(error(bad), "") << "out of order";
}

TEST(Jpeg, RandomDamageEndsWell) {
  std::mt19937 random(1);
  for (const bool progressive : {false, true}) {
    const Bytes good = encode(32, 24, smooth(32, 24, 3), {.progressive = progressive});
    for (int i = 0; i < 1000; ++i) {
      Bytes bad = good;
      for (int k = 0; k < 4; ++k) bad[random() % bad.size()] = static_cast<uint8_t>(random());
      error(bad);
    }
  }
}

}  // namespace
}  // namespace argand::vision
