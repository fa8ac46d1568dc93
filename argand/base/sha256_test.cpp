// Known answers: FIPS 180-4 examples, and `head -c N /dev/zero | sha256sum` of coreutils for the lengths around a
// block.
#include "argand/base/sha256.h"

#include <gtest/gtest.h>

#include <random>

namespace argand {
namespace {

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, LengthsAroundOneBlock) {
  EXPECT_EQ(sha256_hex(std::string(55, '\0')), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQ(sha256_hex(std::string(56, '\0')), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  EXPECT_EQ(sha256_hex(std::string(63, '\0')), "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971");
  EXPECT_EQ(sha256_hex(std::string(64, '\0')), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  EXPECT_EQ(sha256_hex(std::string(65, '\0')), "98ce42deef51d40269d542f5314bef2c7468d401ad5d85168bfab4c0108f75f7");
  EXPECT_EQ(sha256_hex(std::string(119, '\0')), "f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e");
  EXPECT_EQ(sha256_hex(std::string(120, '\0')), "6edd9f6f9cc92cded36e6c4a580933f9c9f1b90562b46903b806f21902a1a54f");
  EXPECT_EQ(sha256_hex(std::string(128, '\0')), "38723a2e5e8a17aa7950dc008209944e898f69a7bd10a23c839d341e935fd5ca");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::mt19937 random(1);
  std::string text(5000, ' ');
  for (char& c : text) c = static_cast<char>(random());
  const std::string expected = sha256_hex(text);
  for (int repeat = 0; repeat < 20; ++repeat) {
    Sha256 hash;
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min<size_t>(random() % 200, text.size() - at);
      hash.update(text.data() + at, n);
      if (n % 3 == 0) hash.hex();  // asking in between changes nothing
      at += n;
    }
    EXPECT_EQ(hash.hex(), expected);
  }
}

}  // namespace
}  // namespace argand
