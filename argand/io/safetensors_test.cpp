#include "argand/io/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "argand/exec/invoke.h"
#include "argand/io/file.h"
#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"

namespace argand::io {
namespace {

using testing::content_of;
using testing::TestFolder;

std::string file_of(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

std::string bytes_of(const Tensor& t) {
  const Tensor dense = t.contiguous();
  return dense.numel() == 0 ? "" : std::string(raw<char>(dense), dense.nbytes());
}

class Safetensors : public ::testing::Test {
 protected:
  TensorFile load(const std::string& content) const { return load_safetensors(folder_.put("f", content)); }
  // The error of a file, without its path; empty if it loads.
  std::string error(const std::string& content) const {
    const std::string path = folder_.put("f", content), intro = path + ": not a valid safetensors file: ";
    try {
      load_safetensors(path);
    } catch (const FileError& e) {
      EXPECT_EQ(e.path(), path);
      EXPECT_EQ(e.msg().compare(0, intro.size(), intro), 0) << e.msg();
      return e.msg().substr(std::min(intro.size(), e.msg().size()));
    }
    return "";
  }
  const TestFolder folder_;
};

TEST_F(Safetensors, EveryDtypeComesBackBitForBit) {
  StateDict saved;
  const Tensor numbers = arange(24, kDouble).sub(12).view({2, 3, 4});
  for (const ScalarType dtype :
       {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat})
    saved.insert(str(dtype), numbers.to(dtype));
  saved.insert("nan", full({3}, std::numeric_limits<float>::quiet_NaN()));
  saved.insert("infinite", full({}, -INFINITY, kHalf));
  saved.insert("no elements", zeros({2, 0, 3}));
  saved.insert("transposed", numbers.select(0, 1).t());
  saved.insert("expanded", ones({1, 2}).expand({3, 2}));
  saved.insert("\xC3\xA9 \"quoted\" \\ \n\x01 \xF0\x9F\x99\x82", ones({2}));
  saved.insert("", zeros({1}));
  Metadata metadata;
  metadata.insert("key \"1\"", "line 1\nline 2\ttab \xE2\x82\xAC");
  metadata.insert("empty", "");
  save_safetensors(folder_ / "f", saved, metadata);

  const TensorFile loaded = load_safetensors(folder_ / "f");
  ASSERT_EQ(loaded.tensors.size(), saved.size());
  for (const auto& item : saved) {
    SCOPED_TRACE(item.key());
    const Tensor* t = loaded.tensors.find(item.key());
    ASSERT_TRUE(t);
    EXPECT_EQ(t->dtype(), item.value().dtype());
    EXPECT_EQ(t->sizes().vec(), item.value().sizes().vec());
    EXPECT_EQ(bytes_of(*t), bytes_of(item.value()));
  }
  ASSERT_EQ(loaded.metadata.size(), 2u);
  for (const auto& item : metadata) EXPECT_EQ(*loaded.metadata.find(item.key()), item.value());
}

// The layout that the reference implementation writes: compact JSON, padded with spaces to a multiple of 8.
TEST_F(Safetensors, BytesOfTheFormat) {
  const auto header = [](const std::string& metadata) {
    const std::string json =
        R"({"__metadata__":{)" + metadata + R"(},"b":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},)" +
        R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},"s":{"dtype":"U8","shape":[],"data_offsets":[12,13]}})";
    return json + std::string((8 - json.size() % 8) % 8, ' ');
  };
  const std::string data = std::string("\x01\x02\xFF\xFF", 4) + std::string("\0\0\x80\x3F\0\0\0\xC0", 8) + "\x07";
  StateDict tensors;
  tensors.insert("b", cat({full({1}, 0x201, kShort), full({1}, -1, kShort)}));
  tensors.insert("a", cat({ones({1, 1}), full({1, 1}, -2)}, 1));
  tensors.insert("s", full({}, 7, kByte));
  Metadata metadata;
  metadata.insert("format", "pt");
  save_safetensors(folder_ / "mine", tensors, metadata);
  // The checksums are those of Python's zlib.
  const std::string checksums =
      R"(,"argand.crc32:b":"I16 2 245a7ee8","argand.crc32:a":"F32 1,2 c3872656","argand.crc32:s":"U8  4c667a2e")";
  EXPECT_EQ(content_of(folder_ / "mine"), file_of(header(R"("format":"pt")" + checksums), data));
  const TensorFile loaded = load(file_of(header(R"("format":"pt")"), data));
  EXPECT_EQ(bytes_of(*loaded.tensors.find("a")), bytes_of(*tensors.find("a")));
  EXPECT_EQ(loaded.tensors.begin()->key(), "b") << "the order of the file";
}

TEST_F(Safetensors, HeadersInOtherClothes) {
  const std::string data(4, '\1');
  EXPECT_EQ(
      error(file_of("{\n \"a\" :\t{ \"shape\" : [ 2 , 2 ] ,\r\n\"data_offsets\":[0,4], \"dtype\":\"U8\" } } \n", data)),
      "");
  EXPECT_EQ(error(file_of("{}")), "");
  EXPECT_EQ(error(file_of(R"({"__metadata__":{}})")), "");
  EXPECT_EQ(load(file_of(R"({"\u00e9\ud83d\ude42\/":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", data))
                .tensors.begin()
                ->key(),
            "\xC3\xA9\xF0\x9F\x99\x82/");
  // Tensors need not stand in the order of their bytes.
  const TensorFile swapped = load(file_of(
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "xy"));
  EXPECT_EQ(bytes_of(*swapped.tensors.find("a")), "x");
  EXPECT_EQ(bytes_of(*swapped.tensors.find("b")), "y");
}

TEST_F(Safetensors, AnyByteButZeroIsTrue) {
  const TensorFile f =
      load(file_of(R"({"a":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})", std::string("\0\1\2\xFF", 4)));
  EXPECT_EQ(bytes_of(*f.tensors.find("a")), std::string("\0\1\1\1", 4));
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST_F(Safetensors, LyingHeaders) {
  const std::string four(4, 'x'), eight(8, 'x');
  const auto with = [&](const std::string& header, const std::string& data) { return error(file_of(header, data)); };
  struct Case {
    std::string header, data, says;
  };
  const std::string entry = R"({"dtype":"F32","shape":[1],"data_offsets":)";
  const std::vector<Case> cases = {
      {one("\"F32\"", "[2]", "[0,4]"), four, "does not take the 4 bytes"},
      {one("\"F32\"", "[1]", "[0,8]"), four, "its tensors take 8 bytes and it holds 4"},
      {one("\"F32\"", "[1]", "[0,4]"), eight, "its tensors take 4 bytes and it holds 8"},
      {one("\"F32\"", "[1]", "[4,8]"), eight, "begins at byte 4 of the data; expected 0"},
      {one("\"F32\"", "[1]", "[4,0]"), four, "not [begin, end]"},
      {one("\"F32\"", "[1]", "[0]"), four, "not [begin, end]"},
      {one("\"F32\"", "[1]", "[0,4,4]"), four, "not [begin, end]"},
      {one("\"F32\"", "[1]", "[18446744073709551600,18446744073709551604]"), four, "a number beyond 64 bits"},
      {one("\"F32\"", "[1]", "[0,9223372036854775807]"), four, "its tensors take"},
      {one("\"F32\"", "[65536,65536,65536,65536]", "[0,0]"), "", "does not take the 0 bytes"},
      {one("\"F32\"", "[4611686018427387905]", "[0,4]"), four, "does not take the 4 bytes"},
      {one("\"F32\"", "[-1]", "[0,4]"), four, "expected a non-negative integer"},
      {one("\"F32\"", "[1.0]", "[0,4]"), four, "expected ']'"},
      {one("\"F32\"", "[1e0]", "[0,4]"), four, "expected ']'"},
      {one("\"F32\"", "[01]", "[0,4]"), four, "expected a non-negative integer"},
      {one("\"F32\"", "[\"1\"]", "[0,4]"), four, "expected a non-negative integer"},
      {one("\"F32\"", "[true]", "[0,4]"), four, "expected a non-negative integer"},
      {one("\"F32\"", "[18446744073709551616]", "[0,4]"), four, "a number beyond 64 bits"},
      {one("\"F32\"", "1", "[0,4]"), four, "expected '['"},
      {one("\"f32\"", "[1]", "[0,4]"), four, "unknown dtype 'f32'"},
      {one("\"F128\"", "[1]", "[0,4]"), four, "unknown dtype 'F128'"},
      {one("5", "[1]", "[0,4]"), four, "expected '\"'"},
      {R"({"a":)" + entry + R"([0,4]},"a":)" + entry + "[0,4]}}", four, "a name that was there before: 'a'"},
      {R"({"a":)" + entry + R"([0,4]},"\u0061":)" + entry + "[4,8]}}", eight, "a name that was there before: 'a'"},
      {R"({"a":)" + entry + R"([0,4]},"b":)" + entry + "[0,4]}}", four, "tensor 'b' begins at byte 0"},
      {R"({"a":)" + entry + R"([0,4]},"b":)" + entry + "[2,6]}}", eight, "tensor 'b' begins at byte 2"},
      {R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four, "repeated field 'dtype'"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", four, "lacks dtype, shape or data_offsets"},
      {R"({"a":{}})", "", "expected '\"'"},
      {R"({"__metadata__":{"a":"1"},"__metadata__":{"b":"1"}})", "", "a name that was there before"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "", "a metadata key that was there before: 'a'"},
      {R"({"__metadata__":{"a":1}})", "", "expected '\"'"},
      {R"({"__metadata__":[]})", "", "expected '{'"},
      {"[]", "", "expected '{'"},
      {"null", "", "expected '{'"},
      {" {}", "", "expected '{'"},
      {"{},", "", "text after the end"},
      {"{}{}", "", "text after the end"},
      {"{\"\xFF\":1}", "", "not UTF-8"},
      {"{\"\xC0\x80\":1}", "", "not UTF-8"},
      {"{\"\xED\xA0\x80\":1}", "", "not UTF-8"},
      {"{\"a\n\":1}", "", "a control character"},
      {R"({"\ud800":1})", "", "half of a surrogate pair"},
      {R"({"\udc00":1})", "", "half of a surrogate pair"},
      {R"({"\u12":1})", "", "hexadecimal digit"},
      {R"({"\x":1})", "", "an unknown escape"},
      {"{\"" + std::string(70000, 'n') + "\":1}", "", "longer than 64 KiB"},
  };
  for (const Case& c : cases) {
    const std::string said = with(c.header, c.data);
    EXPECT_NE(said.find(c.says), std::string::npos) << c.header.substr(0, 100) << "\nsays: " << said;
  }
}

TEST_F(Safetensors, Lengths) {
  const std::string good = file_of("{}");
  EXPECT_NE(error(""), "");
  for (const uint64_t length :
       {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 7, uint64_t{3}, uint64_t{100'000'001}}) {
    std::string lying = good;
    std::memcpy(lying.data(), &length, 8);
    EXPECT_NE(error(lying).find(str(length)), std::string::npos);
  }
}

// Nothing recurses: a nesting of any depth is an error at its first level.
TEST_F(Safetensors, DepthAndNumbers) {
  std::string deep = R"({"__metadata__":)";
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  EXPECT_NE(error(file_of(deep)), "");
  EXPECT_NE(error(file_of(R"({"a":)" + std::string(1'000'000, '['))), "");
  std::string shape = "[1";
  for (int i = 0; i < 100; ++i) shape += ",1";
  EXPECT_NE(error(file_of(one("\"U8\"", shape + "]", "[0,1]"), "x")).find("more than 64 numbers"), std::string::npos);
  // Sizes whose strides do not fit, although there are no elements.
  EXPECT_NE(error(file_of(one("\"F32\"", "[0,4611686018427387904,4611686018427387904]", "[0,0]"))), "");
}

// A small file with two tensors and metadata.
std::string small() {
  return file_of(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}})",
      std::string(8, '\x3F') + std::string("\0\1\0", 3));
}

TEST_F(Safetensors, CutAtEveryByte) {
  const std::string whole = small();
  ASSERT_EQ(error(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error(whole.substr(0, size)), "") << size;
  EXPECT_NE(error(whole + '\0'), "");
}

// Without checksums: every flip is an error, or a file that says something else; in the header of a tensor only its
// name may change.
TEST_F(Safetensors, EveryFlippedBit) {
  const std::string whole = small();
  const size_t header_end = whole.find("}}", 8) + 2;
  EXPECT_EQ(error(whole), "");
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
      const bool loads = error(flipped).empty();
      if (byte < 8) {
        EXPECT_FALSE(loads) << "the length, bit " << byte * 8 + static_cast<size_t>(bit);
      } else if (byte >= header_end) {
        EXPECT_TRUE(loads) << "an element";
      } else if (loads) {
        const TensorFile f = load(flipped);
        EXPECT_EQ(f.tensors.size(), 2u);
      }
    }
  }
}

// With them, every flip is an error or leaves the elements as they were; a name may be another one.
TEST_F(Safetensors, EveryFlippedBitOfAFileWithChecksumsIsSeenOrHarmless) {
  StateDict saved;
  saved.insert("a", ones({1, 2}));
  saved.insert("b", ones({3}, kBool));
  save_safetensors(folder_ / "saved", saved);
  const std::string whole = content_of(folder_ / "saved");
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    if (!error(flipped).empty()) continue;
    const StateDict now = load(flipped).tensors;
    ASSERT_EQ(now.size(), saved.size()) << bit;
    for (size_t i = 0; i < saved.size(); ++i) EXPECT_EQ(bytes_of(now[i].value()), bytes_of(saved[i].value())) << bit;
  }
}

TEST_F(Safetensors, ChecksumsNameTheTensorAndAreNoMetadata) {
  StateDict saved;
  saved.insert("a", ones({3}));
  saved.insert("flags", ones({2}, kBool));
  saved.insert("none", zeros({0, 4}));
  Metadata metadata;
  metadata.insert("note", "kept");
  metadata.insert(str(kChecksum, "a"), "of another file");
  save_safetensors(folder_ / "f", saved, metadata);
  const std::string whole = content_of(folder_ / "f");
  const TensorFile loaded = load(whole);
  EXPECT_TRUE(loaded.has_checksums);
  EXPECT_EQ(loaded.metadata.keys(), (std::vector<std::string>{"note"}));
  std::string damaged = whole;
  damaged[damaged.size() - 5] ^= 1;  // of a
  EXPECT_NE(error(damaged).find("tensor 'a' has the checksum"), std::string::npos) << error(damaged);
  EXPECT_FALSE(equal(load_safetensors(folder_ / "f", {.verify = false}).tensors["a"], ones({3})));
  const StateDict late = load_safetensors(folder_.put("d", damaged), {.mmap = true}).tensors;
  EXPECT_THROW(late["a"].sum().item<float>(), FileError) << "when it is read";
  EXPECT_THROW(load_safetensors(folder_ / "d", {.mmap = true, .verify = true}), FileError);
  damaged = whole;
  damaged.back() = 2;  // a bool that is still true
  EXPECT_NE(error(damaged).find("tensor 'flags' has the checksum"), std::string::npos) << error(damaged);
}

// Programs that change tensors and keep the metadata.
TEST_F(Safetensors, ChecksumsOfOtherTensorsArePassedOver) {
  const auto with = [](const std::string& metadata) {
    return file_of(R"({"__metadata__":{)" + metadata + R"(},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
                   "ab");
  };
  EXPECT_TRUE(load(with(R"("argand.crc32:a":"U8 2 9e83486d")")).has_checksums);
  EXPECT_NE(error(with(R"("argand.crc32:a":"U8 2 9e83486e")")), "") << "other values";
  for (const char* other : {R"("argand.crc32:b":"U8 2 9e83486e")", R"("argand.crc32:a":"I8 2 9e83486e")",
                            R"("argand.crc32:a":"U8 1,2 9e83486e")", R"("argand.crc32:a":"")"}) {
    EXPECT_EQ(error(with(other)), "") << other;
    EXPECT_FALSE(load(with(other)).has_checksums) << other;
    EXPECT_TRUE(load(with(other)).metadata.is_empty()) << other;
  }
}

TEST_F(Safetensors, WhatCouldNotBeReadBackIsNotWritten) {
  const std::string path = folder_.put("f", "before");
  const auto save = [&](const std::string& name, const Tensor& t, const std::string& note) {
    StateDict tensors;
    tensors.insert(name, t);
    Metadata metadata;
    metadata.insert("note", note);
    save_safetensors(path, tensors, metadata);
  };
  EXPECT_THROW(save("__metadata__", ones({1}), ""), ValueError);
  EXPECT_THROW(save("\xFF", ones({1}), ""), ValueError);
  EXPECT_THROW(save("a", ones({1}), "\xC3"), ValueError);
  EXPECT_THROW(save(std::string(65537, 'a'), ones({1}), ""), ValueError);
  EXPECT_THROW(save("a", ones({1}, kComplexDouble), ""), DtypeError);
  EXPECT_EQ(content_of(path), "before");
  EXPECT_EQ(folder_.files(), 1u);
}

TEST_F(Safetensors, TensorsThatAreReadLateAreTheSameAndDoNotWriteToTheFile) {
  StateDict saved;
  saved.insert("a", arange(1000, kFloat).view({10, 100}));
  saved.insert("odd", ones({3}, kByte));
  saved.insert("unaligned", arange(7, kDouble));
  saved.insert("bool", ones({2}, kBool));
  saved.insert("none", ones({0, 2}));
  save_safetensors(folder_ / "f", saved);
  const std::string before = content_of(folder_ / "f");
  const StateDict mapped = load_safetensors(folder_ / "f", {.mmap = true}).tensors;
  for (const auto& item : mapped) EXPECT_FALSE(item.value().storage()->allocated()) << "nobody has looked at it";
  for (const auto& item : saved) EXPECT_EQ(bytes_of(*mapped.find(item.key())), bytes_of(item.value())) << item.key();
  EXPECT_EQ(mapped.find("a")->sizes(), IntArrayRef({10, 100}));
  Tensor a = *mapped.find("a");
  a.add_(1);
  EXPECT_TRUE(equal(a, arange(1000, kFloat).view({10, 100}).add(1)));
  EXPECT_EQ(content_of(folder_ / "f"), before);
  for (size_t n = 0; n < before.size(); n += 7)
    EXPECT_THROW(load_safetensors(folder_.put("cut", before.substr(0, n)), {.mmap = true}), FileError) << n;
  const StateDict cut = load_safetensors(folder_ / "f", {.mmap = true}).tensors;
  ASSERT_EQ(::truncate((folder_ / "f").c_str(), static_cast<off_t>(before.size() - 8)), 0);
  EXPECT_THROW(cut.find("unaligned")->sum().item<double>(), FileError);
}

TEST_F(Safetensors, ModelsInSeveralFiles) {
  StateDict one, two;
  one.insert("a", ones({2}));
  one.insert("b", zeros({3}));
  two.insert("c", full({1}, 7));
  save_safetensors(folder_ / "1.safetensors", one);
  save_safetensors(folder_ / "2.safetensors", two);
  const auto error = [&](const std::string& json) {
    try {
      load_shards(InputFile(folder_.put("index.json", json)));
    } catch (const FileError& e) {
      return e.msg();
    }
    return std::string();
  };
  const auto index = [](const std::string& map) {
    return R"({"metadata":{"total_size":24},"weight_map":{)" + map + "}}";
  };
  const std::string good = index(R"("c":"2.safetensors","a":"1.safetensors","b":"1.safetensors")");
  EXPECT_EQ(error(good), "");
  for (const bool mmap : {false, true}) {
    const StateDict loaded = load_shards(InputFile(folder_ / "index.json"), {.mmap = mmap}).tensors;
    EXPECT_EQ(loaded.keys(), (std::vector<std::string>{"c", "a", "b"}));
    EXPECT_EQ(bytes_of(*loaded.find("a")), bytes_of(ones({2})));
  }
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(error(good.substr(0, n)), "") << n;
  const auto expect = [&](const std::string& map, const std::string& says) {
    EXPECT_NE(error(index(map)).find(says), std::string::npos) << map << " says: " << error(index(map));
  };
  for (const char* name :
       {"/etc/passwd", "..", "../1.safetensors", ".hidden", "", "x/1.safetensors", "x\\\\y", "a\\u0000b"})
    expect(str(R"("a":")", name, R"(")"), "expected the plain name of a file");
  expect(R"("a":"missing.safetensors")", "missing.safetensors");
  expect(R"("a":"1.safetensors","c":"2.safetensors")", "holds 'b', which the index does not name");
  expect(R"("a":"1.safetensors","b":"2.safetensors","c":"2.safetensors")", "holds 'b', which the index has in");
  expect(R"("a":"1.safetensors","b":"1.safetensors","c":"2.safetensors","d":"2.safetensors")", "lacks 'd'");
  expect(R"("a":"1.safetensors","a":"1.safetensors")", "a tensor that was there before");
  two.insert("a", ones({2}));
  save_safetensors(folder_ / "2.safetensors", two);
  expect(R"("a":"1.safetensors","b":"1.safetensors","c":"2.safetensors")", "holds 'a', which the index has in");
  EXPECT_NE(error(R"({"weight_map":{},"metadata":[1]})"), "");
  EXPECT_NE(error(R"({"metadata":{}})").find("no weight_map"), std::string::npos);
  EXPECT_NE(error(R"({"weight_map":{},"other":1})").find("unknown field"), std::string::npos);
}

TEST_F(Safetensors, OnlyRegularFiles) {
  EXPECT_THROW(load_safetensors(folder_ / "missing"), FileError);
  EXPECT_THROW(load_safetensors(folder_.path()), FileError);
  EXPECT_THROW(load_safetensors("/dev/zero"), FileError);
}

}  // namespace
}  // namespace argand::io
