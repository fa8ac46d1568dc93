#include "argand/parallel/store/secret.h"

#include <gtest/gtest.h>

namespace argand::parallel {
namespace {

std::string hex(const Store::Value& value) {
  std::string text;
  for (const uint8_t byte : value) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// The test cases 1, 2 and 6 of RFC 4231.
TEST(Secret, Hmac) {
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secret, AProofIsOfOneEndAndOneConnection) {
  const Store::Value a = random_nonce(), b = random_nonce();
  EXPECT_EQ(a.size(), wire::kNonceBytes);
  EXPECT_NE(a, b);
  EXPECT_TRUE(same_bytes(proof("s", "client", a, b), proof("s", "client", a, b)));
  EXPECT_FALSE(same_bytes(proof("s", "client", a, b), proof("s", "server", a, b)));
  EXPECT_FALSE(same_bytes(proof("s", "client", a, b), proof("s", "client", b, a)));
  EXPECT_FALSE(same_bytes(proof("s", "client", a, b), proof("t", "client", a, b)));
  EXPECT_FALSE(same_bytes({1, 2}, {1}));
}

}  // namespace
}  // namespace argand::parallel
