// PNG files are put together here by hand (RFC 2083), so that the decoder meets more than what our encoder writes.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>

#include "argand/vision/image.h"

namespace argand::vision {
namespace {

using Bytes = std::vector<uint8_t>;

void put_u32(Bytes& out, size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

Bytes chunk(const std::string& type, const Bytes& data) {
  Bytes out;
  put_u32(out, data.size());
  out.insert(out.end(), type.begin(), type.end());
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, crc32(0, out.data() + 4, static_cast<uInt>(out.size() - 4)));
  return out;
}

Bytes zlib(const Bytes& data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  EXPECT_EQ(compress2(out.data(), &size, data.data(), data.size(), 9), Z_OK);
  out.resize(size);
  return out;
}

enum Colour { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

Bytes header(uint32_t width, uint32_t height, int depth, int colour, int interlace = 0) {
  Bytes out;
  put_u32(out, width);
  put_u32(out, height);
  for (const int v : {depth, colour, 0, 0, interlace}) out.push_back(static_cast<uint8_t>(v));
  return chunk("IHDR", out);
}

Bytes join(std::initializer_list<Bytes> parts) {
  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// `rows` are the scan lines with their filter bytes.
Bytes png(const Bytes& ihdr, const Bytes& rows, const Bytes& before_data = {}) {
  return join({ihdr, before_data, chunk("IDAT", zlib(rows)), chunk("IEND", {})});
}

Image decode(const Bytes& bytes, const DecodeLimits& limits = {}) { return decode_image(bytes, "a.png", limits); }

std::string error(const Bytes& bytes, const DecodeLimits& limits = {}) {
  try {
    decode(bytes, limits);
  } catch (const IoError& e) {
    EXPECT_NE(e.msg().find("'a.png'"), std::string::npos) << e.msg();
    return e.msg();
  }
  return "";
}

Image ramp(int width, int height, int channels) {
  Image image(width, height, channels);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 7 + i / 13);
  return image;
}

TEST(Png, RoundTrip) {
  for (const int channels : {1, 3}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {28, 28}, {3, 100}, {100, 3}}) {
      const Image image = ramp(width, height, channels);
      const Image back = decode(encode_png(image));
      EXPECT_EQ(back.width, width);
      EXPECT_EQ(back.height, height);
      EXPECT_EQ(back.channels, channels);
      EXPECT_EQ(back.pixels, image.pixels);
    }
  }
  Image wrong(2, 2, 1);
  wrong.pixels.pop_back();
  EXPECT_THROW(encode_png(wrong), ValueError);
  EXPECT_THROW(encode_png(Image()), ValueError);
}

TEST(Png, GrayOfEveryDepth) {
  EXPECT_EQ(decode(png(header(3, 1, 1, kGray), {0, 0b10100000})).pixels, (Bytes{255, 0, 255}));
  EXPECT_EQ(decode(png(header(4, 1, 2, kGray), {0, 0b00011011})).pixels, (Bytes{0, 85, 170, 255}));
  EXPECT_EQ(decode(png(header(2, 1, 4, kGray), {0, 0x1f})).pixels, (Bytes{17, 255}));
  EXPECT_EQ(decode(png(header(2, 2, 8, kGray), {0, 1, 2, 0, 3, 4})).pixels, (Bytes{1, 2, 3, 4}));
  // 16 bits are rounded, not cut: 0x01ff is 1.99 of 255 parts.
  EXPECT_EQ(decode(png(header(3, 1, 16, kGray), {0, 0x01, 0xff, 0xff, 0xff, 0, 0})).pixels, (Bytes{2, 255, 0}));
}

TEST(Png, Colours) {
  const Image rgb = decode(png(header(2, 1, 8, kRgb), {0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(rgb.channels, 3);
  EXPECT_EQ(rgb.pixels, (Bytes{1, 2, 3, 4, 5, 6}));
  const Bytes plte = chunk("PLTE", {10, 11, 12, 20, 21, 22, 30, 31, 32});
  EXPECT_EQ(decode(png(header(3, 1, 8, kPalette), {0, 2, 0, 1}, plte)).pixels,
            (Bytes{30, 31, 32, 10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(decode(png(header(3, 1, 2, kPalette), {0, 0b10000100}, plte)).pixels,
            (Bytes{30, 31, 32, 10, 11, 12, 20, 21, 22}));
}

TEST(Png, TransparencyIsBlendedOverWhite) {
  const Image gray = decode(png(header(3, 1, 8, kGrayAlpha), {0, 100, 255, 100, 0, 0, 51}));
  EXPECT_EQ(gray.channels, 1);
  EXPECT_EQ(gray.pixels, (Bytes{100, 255, 204}));
  EXPECT_EQ(decode(png(header(2, 1, 8, kRgba), {0, 1, 2, 3, 255, 0, 0, 0, 0})).pixels, (Bytes{1, 2, 3, 255, 255, 255}));
  Bytes plte = chunk("PLTE", {10, 11, 12, 20, 21, 22});
  const Bytes trns = chunk("tRNS", {0});
  plte.insert(plte.end(), trns.begin(), trns.end());
  EXPECT_EQ(decode(png(header(2, 1, 8, kPalette), {0, 0, 1}, plte)).pixels, (Bytes{255, 255, 255, 20, 21, 22}));
  // One colour declared transparent.
  EXPECT_EQ(decode(png(header(2, 1, 8, kGray), {0, 7, 8}, chunk("tRNS", {0, 7}))).pixels, (Bytes{255, 8}));
}

TEST(Png, Interlaced) {
  // 2x2 in Adam7: pass 1 holds (0,0), pass 6 holds (1,0), pass 7 the second row.
  EXPECT_EQ(decode(png(header(2, 2, 8, kGray, 1), {0, 1, 0, 2, 0, 3, 4})).pixels, (Bytes{1, 2, 3, 4}));
}

TEST(Png, CutAtEveryByte) {
  const Bytes whole = encode_png(ramp(5, 4, 3));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error({whole.begin(), whole.begin() + n}), "") << n;
}

TEST(Png, EveryFlippedBitIsSeen) {
  const Bytes whole = encode_png(ramp(5, 4, 3));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes bad = whole;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(error(bad), "") << bit;
  }
}

TEST(Png, TooLargeIsKnownFromTheHeader) {
  const Bytes bomb = png(header(65535, 65535, 8, kGray), Bytes(100'000));
  EXPECT_EQ(error(bomb),
            "PNG image 'a.png' is too large: expected sides of at most 16384 and 268435456 pixels, got 65535x65535");
  EXPECT_NE(error(encode_png(ramp(10, 10, 1)), {.max_side = 100, .max_pixels = 99}), "");
  EXPECT_EQ(error(encode_png(ramp(10, 10, 1)), {.max_side = 10, .max_pixels = 100}), "");
  const Bytes liar = png(header(16384, 16384, 1, kGray), {0, 0});
  EXPECT_EQ(error(liar), str("damaged PNG image 'a.png': ", liar.size(), " bytes cannot hold 16384x16384 pixels"));
}

TEST(Png, WhatIsNoPixelHoldsNone) {
  const Bytes text = chunk("tEXt", Bytes(1 << 20, 'x'));
  const std::string why = error(png(header(16384, 16384, 8, kRgba), {0, 0, 0, 0, 0}, text));
  EXPECT_NE(why.find("bytes of image data cannot hold 16384x16384 pixels, 1073741824 bytes"), std::string::npos) << why;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A header of 1 GiB of pixels, and data that could be as many, of which 17 rows come out.
TEST(Png, ARefusedImageTakesNoMoreThanWasDecoded) {
  Bytes rows;
  uint32_t state = 1;
  for (int i = 0; i < 17 * (4 * 16384 + 1); ++i)
    rows.push_back(i % (4 * 16384 + 1) == 0 ? 0 : static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  const Bytes bytes = png(header(16384, 16384, 8, kRgba), rows);
  const pid_t child = ::fork();
  if (child == 0) {
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + 2 * bytes.size() + (64 << 20);
    const rlimit limit{most, most};
    bool refused = ::setrlimit(RLIMIT_AS, &limit) == 0;
    try {
      decode(bytes);
      refused = false;
    } catch (const IoError&) {
    } catch (...) {
      refused = false;
    }
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

TEST(Png, DataMustFitTheHeader) {
  const Bytes ihdr = header(2, 2, 8, kGray);
  EXPECT_EQ(error(png(ihdr, {0, 1, 2, 0, 3, 4})), "");
  EXPECT_NE(error(png(ihdr, {0, 1, 2, 0, 3})), "") << "too little";
  EXPECT_NE(error(png(ihdr, {0, 1, 2, 0, 3, 4, 0})), "") << "too much";
  EXPECT_NE(error(png(ihdr, Bytes(1'000'000))), "") << "far too much";
  EXPECT_NE(error(png(ihdr, {5, 1, 2, 0, 3, 4})), "") << "unknown filter";
}

TEST(Png, ChunksOutOfOrder) {
  const Bytes ihdr = header(1, 1, 8, kGray), idat = chunk("IDAT", zlib({0, 9})), iend = chunk("IEND", {});
  EXPECT_EQ(error(join({ihdr, idat, iend})), "");
  EXPECT_NE(error(join({idat, iend})), "") << "no IHDR";
  EXPECT_NE(error(join({idat, ihdr, iend})), "") << "IHDR not first";
  EXPECT_NE(error(join({chunk("tEXt", {}), ihdr, idat, iend})), "") << "text before IHDR";
  EXPECT_NE(error(join({chunk("abCd", {}), ihdr, idat, iend})), "") << "an unknown chunk before IHDR";
  EXPECT_NE(error(join({ihdr, ihdr, idat, iend})), "") << "two IHDR";
  EXPECT_NE(error(join({ihdr, iend})), "") << "no IDAT";
  EXPECT_NE(error(join({ihdr, idat})), "") << "no IEND";
  EXPECT_NE(error(join({ihdr, chunk("ABCD", {}), idat, iend})), "") << "unknown critical chunk";
  EXPECT_NE(error(join({ihdr, {0xff, 0xff, 0xff, 0xff, 'I', 'D', 'A', 'T'}, idat, iend})), "") << "length";
  EXPECT_NE(error(join({header(1, 1, 3, kGray), idat, iend})), "") << "depth";
  EXPECT_NE(error(join({header(0, 1, 8, kGray), idat, iend})), "") << "width 0";
  EXPECT_NE(error(join({header(1, 1, 8, 5), idat, iend})), "") << "colour type";
}

TEST(Png, Palettes) {
  const Bytes ihdr = header(2, 1, 8, kPalette), rows = {0, 0, 1};
  const Bytes two = chunk("PLTE", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(error(png(ihdr, rows, two)), "");
  EXPECT_NE(error(png(ihdr, rows)), "") << "missing";
  EXPECT_NE(error(png(ihdr, {0, 0, 2}, two)), "") << "index past its end";
  EXPECT_NE(error(png(header(2, 1, 2, kPalette), {0, 0b00100000}, two)), "") << "index past its end, 2 bits";
  EXPECT_NE(error(png(ihdr, rows, chunk("PLTE", Bytes(3 * 257)))), "") << "257 colours";
  EXPECT_NE(error(png(ihdr, rows, chunk("PLTE", Bytes(4)))), "") << "a third of a colour";
  Bytes longer = two;
  const Bytes trns = chunk("tRNS", {1, 2, 3});
  longer.insert(longer.end(), trns.begin(), trns.end());
  EXPECT_NE(error(png(ihdr, rows, longer)), "") << "more transparencies than colours";
}

TEST(Png, OtherChunksAreSkippedUnread) {
  Bytes extra;
  const auto append = [&](const Bytes& part) { extra.insert(extra.end(), part.begin(), part.end()); };
  for (int i = 0; i < 20'000; ++i) append(chunk("tEXt", {'a', 0, 'b'}));
  Bytes bomb = {'a', 0, 0};
  const Bytes inflated = zlib(Bytes(20'000'000));
  bomb.insert(bomb.end(), inflated.begin(), inflated.end());
  append(chunk("zTXt", bomb));
  append(chunk("iCCP", bomb));
  EXPECT_EQ(decode(png(header(1, 1, 8, kGray), {0, 9}, extra)).pixels, Bytes{9});
}

TEST(Png, WhatFollowsThePixels) {
  const Bytes ihdr = header(1, 1, 8, kGray), idat = chunk("IDAT", zlib({0, 9})), iend = chunk("IEND", {});
  EXPECT_EQ(error(join({ihdr, idat, chunk("tEXt", {'a', 0}), iend})), "");
  EXPECT_NE(error(join({ihdr, idat, idat, iend})), "") << "more image data in a chunk of its own";
  EXPECT_NE(error(join({ihdr, idat, chunk("ABCD", {}), iend})), "") << "an unknown critical chunk";
  EXPECT_NE(error(join({ihdr, idat, chunk("tRNS", {0, 9}), iend})), "") << "a transparency that comes too late";
}

TEST(Png, AncillaryDataAreLimited) {
  const Bytes file = png(header(1, 1, 8, kGray), {0, 9}, chunk("tEXt", Bytes(100, 'a')));
  EXPECT_EQ(error(file, {.max_ancillary_bytes = 100}), "");
  EXPECT_NE(error(file, {.max_ancillary_bytes = 99}).find("too much beside its pixels"), std::string::npos);
}

TEST(Png, BadZlibStreams) {
  const Bytes ihdr = header(1, 1, 8, kGray), iend = chunk("IEND", {});
  const Bytes good = zlib({0, 9});
  for (const auto& [position, value] : {std::pair<size_t, int>{0, 0x88}, {1, 0xff}, {2, 0x07}}) {
    Bytes bad = good;
    bad[position] = static_cast<uint8_t>(value);
    EXPECT_NE(error(join({ihdr, chunk("IDAT", bad), iend})), "") << position;
  }
  Bytes checksum = good;
  checksum.back() ^= 1;
  EXPECT_NE(error(join({ihdr, chunk("IDAT", checksum), iend})), "");
}

}  // namespace
}  // namespace argand::vision
