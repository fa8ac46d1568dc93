// Files made to break a reader: each must be a typed error that says where, in bounded time and memory.
#include <gtest/gtest.h>

#include <functional>

#include "argand/io/bad_input_test.h"
#include "argand/io/folder_test.h"
#include "argand/io/format_error.h"
#include "argand/io/torch_file.h"
#include "argand/ops/functions.h"

namespace argand::io {
namespace {

using namespace testing;

// The error of the file; empty if it loads.
std::string error_of(std::string_view bytes, const LoadOptions& options = {}) {
  try {
    load_torch(MemorySource("f", bytes), options);
  } catch (const FormatError& e) {
    EXPECT_GE(e.offset(), 0);
    return e.msg();
  }
  return "";
}
void expect_error(std::string_view bytes, const std::string& says) {
  const std::string error = error_of(bytes);
  EXPECT_NE(error.find(says), std::string::npos) << "expected '" << says << "', got '" << error << "'";
}

TEST(TorchBadInput, TheBuilderOfTheseTestsMakesGoodFiles) {
  EXPECT_EQ(error_of(file_with(kGood)), "");
  EXPECT_EQ(error_of(file_with(pickle("N"))), "");
}

TEST(TorchBadInput, Archives) {
  const auto with = [](const std::function<void(Archive&)>& change) {
    Archive archive{checkpoint(kGood)};
    change(archive);
    return archive.bytes();
  };
  expect_error("P", "no file of torch.save");
  expect_error("PK\5\6" + number(0, 18), "without members");
  expect_error(with([](Archive& a) { a.members[2].method = 8; }), "a compressed record is refused");
  expect_error(with([](Archive& a) { a.members[2].method = 99; }), "unknown compression method 99");
  expect_error(with([](Archive& a) { a.members[2].central_packed = 3; }), "it is stored, but has 4 bytes in 3");
  expect_error(with([](Archive& a) { a.members[2].local_size = 1U << 30; }), "its two headers differ");
  expect_error(with([](Archive& a) { a.members[2].central_size = 1U << 30; }), "lies outside of the file");
  expect_error(with([](Archive& a) { a.members[2].central_size = 8; }), "differ");
  expect_error(with([](Archive& a) { a.members[2].central_size = 3, a.members[2].local_size = 3; }),
               "bytes that belong to no member");
  expect_error(with([](Archive& a) { a.members.push_back({"a/data.pkl", pickle("N")}); }), "two members of this name");
  expect_error(with([](Archive& a) { a.members[3].header = 0; }), "overlap");
  expect_error(with([](Archive& a) { a.members[2].local_name = "a/data/1"; }), "its two headers differ");
  expect_error(with([](Archive& a) { a.members[2].flags = 1; }), "encrypted");
  expect_error(with([](Archive& a) { a.members[2].mode = 0120777; }), "no regular file");
  expect_error(with([](Archive& a) { a.before = "junk"; }), "no file of torch.save");
  expect_error(with([](Archive& a) { a.before = "PK\3\4" + number(0, 26); }), "leave holes");
  expect_error(with([](Archive& a) { a.after = "junk"; }), "end record");
  expect_error(with([](Archive& a) { a.comment = "junk"; }), "end record");
  EXPECT_NE(error_of(file_with(kGood) + file_with(kGood)), "") << "two archives";
  expect_error(with([](Archive& a) { a.count = 3; }), "more bytes than members");
  expect_error(with([](Archive& a) { a.count = 5; }), "bytes for each");
  expect_error(with([](Archive& a) { a.count = 0xFFFF; }), "zip64 end record is missing");
  expect_error(with([](Archive& a) { a.members[2].crc = 5; }), "checksum is wrong");
  for (const std::string& name :
       {std::string("../../etc/passwd"), std::string("/abs"), std::string("C:\\x"), std::string("a/b\0c", 5),
        std::string("a/") + std::string(65000, 'x'), std::string("a/data/../x"), std::string("a/data/.."),
        std::string("a/data/x/y"), std::string("a/data/\xff\xfe"), std::string("b/data/1"), std::string("a/code/x.py"),
        std::string("a/"), std::string("a/data/")}) {
    EXPECT_NE(error_of(with([&](Archive& a) { a.members.push_back({name, ""}); })), "") << name;
  }
  // What is said of a name that is no text is text.
  const std::string said = error_of(with([&](Archive& a) { a.members.push_back({"a/data/\xff\xfe", ""}); }));
  EXPECT_NE(said.find("'a/data/\?\?'"), std::string::npos) << said;
  for (const char* version : {"", "99999999999999999999", "x", "-1", "0", "999"})
    expect_error(with([&](Archive& a) { a.members[3].bytes = version; }), "version");
  expect_error(with([](Archive& a) { a.members.pop_back(); }), "version");
  expect_error(with([](Archive& a) { a.members[1].bytes = "xx"; }), "byte order");
  expect_error(with([](Archive& a) { a.members.erase(a.members.begin()); }), "there is no such record");
  expect_error(with([](Archive& a) { a.members[0].bytes = ""; }), "expected 1 bytes, got 0");
}

TEST(TorchBadInput, BigEndianFilesAreConverted) {
  Archive archive{checkpoint(kGood, std::string("\x3f\x80\0\0", 4))};
  archive.members[1].bytes = "big";
  EXPECT_EQ(load_torch(MemorySource("f", archive.bytes())).tensor().item<float>(), 1);
}

TEST(TorchBadInput, ManyMembers) {
  std::vector<Member> members = checkpoint(kGood);
  for (int i = 1; i < 2000; ++i) members.push_back({str("a/data/", i), ""});
  LoadOptions options;
  options.max_tensors = 100;
  EXPECT_EQ(error_of(Archive{members}.bytes()), "");
  EXPECT_NE(error_of(Archive{members}.bytes(), options).find("a directory of 2003 members"), std::string::npos);
  // The count is refused before the directory is read.
  Archive liar{checkpoint(kGood)};
  liar.wide_count = uint64_t{1} << 40;
  liar.count = 0xFFFF;
  expect_error(liar.bytes(), "a directory of 1099511627776 members");
  liar.wide_count = 4;
  expect_error(liar.bytes(), "the end record and the zip64 end record differ");
  liar.count = 5;
  expect_error(liar.bytes(), "the end record and the zip64 end record differ");
  liar.count = 4;
  EXPECT_EQ(error_of(liar.bytes()), "");
}

TEST(TorchBadInput, Pickles) {
  const auto expect = [](const std::string& body, const std::string& says) {
    expect_error(file_with(pickle(body)), says);
  };
  expect_error(file_with("cos\nsystem\n(S'id'\ntR."), "os.system is refused");
  expect(global("os", "system") + "(" + text("id") + "tR", "os.system is refused");
  expect(global("builtins", "eval") + "(" + text("1") + "tR", "builtins.eval is refused");
  expect(global("__torch__", "Module") + ")\x81", "is refused");
  for (const char* opcode :
       {"\x93", "i",       "o",    "\x92", "\x82x", "\x83xx", "\x84xxxx", "P",    "\x95",  "\x96", "\x97",
        "\x94", "\x8c\1x", "0",    "1",    "2",     "V",      "I1\n",     "L1\n", "B",     "C",    "\x8e",
        "\x8b", "\x8f",    "\x90", "\x91", "d",     "l",      "p0\n",     "g0\n", "S'x'\n"})
    expect(opcode, "is not in the subset");
  expect(global("builtins", "bytearray") + "\x8a\x06" + number(uint64_t{1} << 40, 6) + "\x85R", "bytearray of a int");
  expect(global("collections", "Counter") + "](K\1K\1e\x85R", "no pairs");
  expect(global("torch._utils", "_rebuild_tensor_v2") + ")R", "with 0 arguments");
  expect("X" + number(0xFFFFFFFF, 4), "a text of 4294967295 bytes");
  expect("X" + number(1000, 4), "expected 1000 bytes");
  expect(text("\xff"), "not UTF-8");
  for (const char* opcode : {"\x85", "\x87", "s", "a", "R", "b", "Q", "q\1", "\x81"}) expect(opcode, "stack underflow");
  for (const char* opcode : {"e", "u", "t"}) expect(opcode, "there is no mark");
  expect("](a", "stack underflow");
  expect("h\5", "memo entry 5 was never set");
  expect("Nr" + number(0xFFFFFFFF, 4), "memo entry 4294967295 comes too early");
  expect("]K\1K\2s", "a key is set in a list");
  expect("K\1K\1K\2s", "a key is set in a int");
  expect(tensor_over(storage("0", 1), 0, {1}, {1}) + "K\1K\2s", "a key is set in a tensor");
  expect(tensor_over(storage("0", 1), 0, {1}, {1}) + "}b", "a state is given to a tensor");
  expect("}K\1a", "elements are appended to a dict");
  expect("}(K\1u", "a key without a value");
  expect("}](K\1K\2es", "stack underflow");
  expect("}](K\1e]s", "a list cannot be a key");
  expect("NN", "expected one value at the end, got 2");
  expect("(N", "expected one value");
  expect("N.N", "bytes follow the end");
  expect(global("torch", "FloatStorage"), "by itself");
  expect(global("torch", "device") + text("nowhere") + "\x85R", "nowhere");
  expect(global("collections", "defaultdict") + global("torch", "Size") + "\x85R",
         "a defaultdict whose values are made by torch.Size");
  expect(global("_codecs", "encode") + "(U\1\xff" + text("latin1") + "tR", "a bytes where a text must be");
  expect("\x80\x04N", "pickle protocol 4");
  expect_error(file_with("\x80\x04N."), "pickle protocol 4");
}

TEST(TorchBadInput, DeepAndCyclicValues) {
  const auto repeated = [](const std::string& part, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += part;
    return out;
  };
  // Inside out, outside in, and through the memo.
  expect_error(file_with(pickle(")" + repeated("\x85", 100'000))), "nested deeper than 128");
  expect_error(file_with(pickle(repeated("]", 300) + repeated("a", 299))), "nested deeper than 128");
  expect_error(file_with(pickle(repeated("(", 1'000'000))), "marks");
  EXPECT_EQ(error_of(file_with(pickle(repeated("]", 128) + repeated("a", 127)))), "");
  expect_error(file_with(pickle(std::string("]q\0h\0a", 6))), "a list that holds itself");
  expect_error(file_with(pickle(std::string("}q\0K\1h\0s", 8))), "a dict that holds itself");
  expect_error(file_with(pickle(std::string("]q\0(h\0ta", 8))), "that holds itself");
  // Shared, never copied.
  std::string laughs = "]";
  for (int i = 0; i < 100; ++i) laughs += std::string("q\1](h\1h\1e", 9);
  expect_error(file_with(pickle(laughs)), "expected one value");
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += i == 0 ? std::string(")q\0", 3) : std::string("h\0\x86q\0", 5).substr(0, 5);
  EXPECT_EQ(error_of(file_with(pickle(nested))), "");
}

TEST(TorchBadInput, MemoryAndTimeAreBounded) {
  LoadOptions options;
  options.pickle.opcodes = 1000;
  EXPECT_NE(error_of(file_with(pickle(std::string(2000, 'N'))), options).find("more than 1000 opcodes"),
            std::string::npos);
  // 2 bytes of the file for each list of 300 bytes in memory.
  std::string lists = "(";
  for (int i = 0; i < 1'000'000; ++i) lists += "]";
  expect_error(file_with(pickle(lists + "t")), "its values take more than");
  expect_error(file_with(pickle("(" + std::string(2'000'000, 'N') + "t")), "wait on the stack");
}

TEST(TorchBadInput, Storages) {
  const auto expect = [](const std::string& body, const std::string& says) {
    expect_error(file_with(pickle(body)), says);
  };
  for (const int64_t numel :
       {int64_t{-1}, INT64_MAX, int64_t{0x4000000000000001}, int64_t{0}, int64_t{2}, int64_t{1} << 40})
    EXPECT_NE(error_of(file_with(pickle(tensor_over(storage("0", numel), 0, {0}, {1})))), "") << numel;
  expect(storage("1", 1), "there is no record data/1");
  expect(storage("../0", 1), "there is no record");
  expect(storage("0", 1) + storage("0", 1, "IntStorage") + "\x86", "named twice");
  expect(storage("0", 1) + storage("0", 4, "ByteStorage") + "\x86", "named twice");
  expect(storage("0", 1, "QInt8Storage"), "is refused");
  expect(text("x") + "Q", "a persistent id that is no storage");
  for (const auto& [offset, size, stride] :
       std::initializer_list<std::tuple<int64_t, int64_t, int64_t>>{{0, 2, 1},
                                                                    {1, 1, 1},
                                                                    {-1, 1, 1},
                                                                    {INT64_MAX - 10000, 1, 1},
                                                                    {0, 2, -1},
                                                                    {0, 2, INT64_MAX},
                                                                    {0, INT64_MAX, INT64_MAX},
                                                                    {0, -1, 1},
                                                                    {0, INT64_MAX, 0}})
    EXPECT_NE(error_of(file_with(pickle(tensor_over(storage("0", 1), offset, {size}, {stride})))), "")
        << offset << " " << size << " " << stride;
  EXPECT_NE(
      error_of(file_with(pickle(tensor_over(storage("0", 1), 0, {0, int64_t{1} << 62, int64_t{1} << 62}, {1, 1, 1})))),
      "");
  expect(tensor_over(storage("0", 1), 0, {1, 1}, {1}), "2 sizes and 1 strides");
  expect(global("torch._utils", "_rebuild_tensor_v2") + "(K\1K\1" + tuple_of({1}) + tuple_of({1}) + "\x89}tR",
         "a tensor over a int");
  const std::string many = "(" + [] {
    std::string out;
    for (int i = 0; i < 65; ++i) out += "K\1";
    return out;
  }() + "t";
  expect(global("torch._utils", "_rebuild_tensor") + "(" + storage("0", 1) + std::string("K\0", 2) + many + many + "tR",
         "65 dimensions");
  // Integers that are no sizes.
  expect(global("torch._utils", "_rebuild_tensor") + "(" + storage("0", 1) + std::string("K\0", 2) + "(\x88t(K\1ttR",
         "expected an integer");
}

TEST(TorchBadInput, AStrideOfZeroIsAView) {
  const Tensor x =
      load_torch(MemorySource("f", file_with(pickle(tensor_over(storage("0", 1), 0, {int64_t{1} << 40}, {0})))))
          .tensor();
  EXPECT_EQ(x.numel(), int64_t{1} << 40);
  EXPECT_EQ(x[5].item<float>(), 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the program instead
  EXPECT_THROW(x.contiguous().item(), Error) << "4 TiB";
#endif
}

// A mark that is computed when the file is loaded: elements that the file does not hold must not be made.
TEST(TorchBadInput, WhatIsComputedWhileLoadingTakesNoMemoryOfItsOwn) {
  const auto marked = [](const char* mark, int64_t size, int64_t stride, const char* type = "FloatStorage") {
    return global("torch._utils", "_rebuild_tensor_v2") + "(" + storage("0", 1, type) + std::string("K\0", 2) +
           tuple_of({size}) + tuple_of({stride}) + "\x89}}" + text(mark) + "\x88stR";
  };
  const auto load = [](const std::string& body) {
    return load_torch(MemorySource("f", file_with(pickle(body)))).tensor();
  };
  EXPECT_EQ(load(marked("neg", 1, 1)).item<float>(), -1);
  EXPECT_EQ(load(marked("conj", 1, 1)).item<float>(), 1);
  expect_error(file_with(pickle(marked("neg", 1, 1, "BoolStorage")), "\1"), "the mark neg");
  expect_error(file_with(pickle(marked("neg", int64_t{1} << 40, 0))), "its values take more than");
}

TEST(TorchBadInput, AnyBitsOfNumbers) {
  const std::string bits("\1\0\xa0\x7f\1\0\0\0\0\0\x80\xff\xff\xff\xff\xff", 16);  // NaNs, a denormal, -inf
  const Tensor x =
      load_torch(MemorySource("f", file_with(pickle(tensor_over(storage("0", 4), 0, {4}, {1})), bits))).tensor();
  EXPECT_EQ(std::string(static_cast<const char*>(x.data_ptr()), 16), bits);
}

TEST(TorchBadInput, BoolsOfAnyByte) {
  const Tensor x =
      load_torch(MemorySource("f", file_with(pickle(tensor_over(storage("0", 4, "BoolStorage"), 0, {4}, {1})),
                                             std::string("\0\1\2\xff", 4))))
          .tensor();
  EXPECT_EQ(std::string(static_cast<const char*>(x.data_ptr()), 4), std::string("\0\1\1\1", 4));
}

}  // namespace
}  // namespace argand::io
