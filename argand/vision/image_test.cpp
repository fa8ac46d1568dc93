#include "argand/vision/image.h"

#include <gtest/gtest.h>

namespace argand::vision {
namespace {

Image gray(int width, int height, std::vector<uint8_t> pixels) {
  Image image(width, height, 1);
  image.pixels = std::move(pixels);
  return image;
}

TEST(Image, ChecksItsSize) {
  EXPECT_THROW(Image(0, 1, 1), ValueError);
  EXPECT_THROW(Image(1, -1, 1), ValueError);
  EXPECT_THROW(Image(1, 1, 2), ValueError);
  EXPECT_EQ(Image(3, 2, 3).pixels.size(), 18u);
}

TEST(Image, UnknownFormatsAreNamed) {
  const auto error = [](std::string text) {
    try {
      decode_image({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "a.png");
    } catch (const IoError& e) {
      return e.msg().substr(e.msg().find("got"));
    }
    return std::string();
  };
  EXPECT_EQ(error(""), "got an empty file");
  EXPECT_EQ(error("GIF89a......"), "got a GIF");
  EXPECT_EQ(error("RIFF....WEBPVP8 "), "got a WebP image");
  EXPECT_EQ(error("<svg></svg>"), "got SVG or other XML");
  EXPECT_EQ(error(std::string(100, '\0')), "got something else");
  EXPECT_EQ(error("\x89PN"), "got something else");
}

TEST(ToGray, Bt601) {
  Image rgb(5, 1, 3);
  rgb.pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 100, 200};
  // 0.299 R + 0.587 G + 0.114 B, rounded: 76.245, 149.685, 29.07, 255, 84.49
  EXPECT_EQ(to_gray(rgb).pixels, (std::vector<uint8_t>{76, 150, 29, 255, 84}));
  const Image back = to_rgb(to_gray(rgb));
  EXPECT_EQ(back.channels, 3);
  EXPECT_EQ(back.pixels[3], 150);
  EXPECT_EQ(back.pixels[5], 150);
  EXPECT_EQ(to_gray(back).pixels, to_gray(rgb).pixels);
}

TEST(Resize, SameSizeIsIdentity) {
  const Image image = gray(3, 2, {1, 2, 3, 250, 251, 255});
  EXPECT_EQ(resize(image, 3, 2).pixels, image.pixels);
}

TEST(Resize, HalvingAverages) {
  // The triangle of a 2x reduction reaches over four pixels with weights 1, 3, 3, 1 (cut and rescaled at the border).
  const Image image = gray(6, 1, {0, 0, 80, 160, 0, 0});
  // (3*0 + 3*0 + 80)/7, (0 + 3*80 + 3*160 + 0)/8, (160 + 3*0 + 3*0)/7
  EXPECT_EQ(resize(image, 3, 1).pixels, (std::vector<uint8_t>{11, 90, 23}));
}

TEST(Resize, EnlargingInterpolatesBetweenCentres) {
  EXPECT_EQ(resize(gray(2, 1, {0, 100}), 4, 1).pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
  EXPECT_EQ(resize(gray(1, 2, {0, 100}), 1, 4).pixels, (std::vector<uint8_t>{0, 25, 75, 100}));
}

TEST(Resize, ChannelsStayApart) {
  Image image(2, 2, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i % 3 * 100);
  const Image out = resize(image, 5, 7);
  ASSERT_EQ(out.pixels.size(), 105u);
  for (size_t i = 0; i < out.pixels.size(); ++i) EXPECT_EQ(out.pixels[i], i % 3 * 100);
}

// Made with Pillow 13: a 7x5 image of (x * 37 + y * 91) % 256 resized to 4x3 by Image.BILINEAR.
TEST(Resize, SameAsPillow) {
  Image image(7, 5, 1);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x) *image.at(x, y) = static_cast<uint8_t>((x * 37 + y * 91) % 256);
  const std::vector<int> pillow = {58, 116, 162, 137, 137, 88, 117, 132, 88, 146, 109, 126};
  const Image out = resize(image, 4, 3);
  for (size_t i = 0; i < pillow.size(); ++i) EXPECT_NEAR(out.pixels[i], pillow[i], 1) << i;
}

}  // namespace
}  // namespace argand::vision
