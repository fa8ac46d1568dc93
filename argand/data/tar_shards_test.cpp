#include "argand/data/datasets/tar_shards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "argand/io/folder_test.h"
#include "argand/io/tar_test.h"
#include "argand/serialize/serialize.h"

namespace argand::data::datasets {
namespace {

using io::testing::TarEntry;

class TarShardsTest : public testing::Test {
 protected:
  // Three archives with samples 000 to 019, 020 to 039 and 040 to 049.
  void SetUp() override {
    for (int shard = 0, i = 0; shard < 3; ++shard) {
      std::string text;
      for (const int end = std::min(i + 20, 50); i < end; ++i) {
        const std::string key = "v1.0/" + std::string(i < 10 ? "00" : "0") + std::to_string(i);
        text += TarEntry{key + ".txt", "text " + std::to_string(i)}.text() + TarEntry{key + ".seg.png", key}.text();
      }
      paths_.push_back(folder_.put("shard-" + std::to_string(shard) + ".tar", text + std::string(1024, '\0')));
    }
  }
  static std::vector<std::string> keys(TarShards& set, size_t most = 1000) {
    std::vector<std::string> out;
    while (out.size() < most) {
      const auto batch = set.get_batch(1);
      if (!batch) break;
      const TarSample& s = batch->at(0);
      EXPECT_EQ(s.fields.size(), 2U);
      EXPECT_EQ(s.fields[0].first, "txt");
      EXPECT_EQ(s.fields[0].second, "text " + std::to_string(std::stoi(s.key.substr(5))));
      EXPECT_EQ(s.fields[1], (std::pair<std::string, std::string>("seg.png", s.key)));
      out.push_back(s.key);
    }
    return out;
  }
  static std::vector<std::string> sorted(std::vector<std::string> v) {
    std::sort(v.begin(), v.end());
    return v;
  }

  io::testing::TestFolder folder_;
  std::vector<std::string> paths_;
};

TEST_F(TarShardsTest, InOrderWithoutAWindow) {
  TarShards set(paths_);
  const auto first = keys(set);
  EXPECT_EQ(first.size(), 50U);
  EXPECT_EQ(first, sorted(first));
  set.reset();
  EXPECT_EQ(keys(set), first);
  EXPECT_EQ(set.epoch(), 1);
  set.reset();
  EXPECT_EQ(set.get_batch(64)->size(), 50U);
  EXPECT_FALSE(set.get_batch(1));
}

TEST_F(TarShardsTest, AWindowMakesPassesOfTheirOwn) {
  TarShards set(paths_, {.window = 12, .seed = 5}), same(paths_, {.window = 12, .seed = 5}),
      other(paths_, {.window = 12, .seed = 6});
  const auto first = keys(set);
  EXPECT_EQ(first, keys(same));
  EXPECT_NE(first, keys(other));
  EXPECT_NE(first, sorted(first));
  set.reset();
  set.reset();  // nothing given out: the same pass
  EXPECT_EQ(set.epoch(), 1);
  const auto second = keys(set);
  EXPECT_NE(first, second);
  EXPECT_EQ(sorted(first), sorted(second));
  EXPECT_EQ(first.size(), 50U);
}

TEST_F(TarShardsTest, GoesOnAnywhere) {
  for (const int64_t window : {0, 12, 100}) {
    const TarShardsOptions options{.window = window, .seed = 3};
    TarShards whole(paths_, options);
    whole.start(2);
    const auto expected = keys(whole);
    for (const size_t given : {0, 1, 20, 49, 50}) {
      TarShards before(paths_, options), after(paths_, options);
      before.start(2);
      keys(before, given);
      std::stringstream file;
      serialize::OutputArchive out;
      out << before;
      out.save_to(file);
      serialize::InputArchive in;
      in.load_from(file);
      in >> after;
      EXPECT_EQ(keys(after),
                (std::vector<std::string>(expected.begin() + static_cast<ptrdiff_t>(given), expected.end())));
      EXPECT_EQ(after.epoch(), 2);
      EXPECT_EQ(after.given(), 50);
    }
  }
  TarShards set(paths_);
  EXPECT_THROW(set.start(0, 51), ValueError);
  EXPECT_THROW(set.start(-1), ValueError);
}

TEST_F(TarShardsTest, ReadersShareTheShards) {
  std::vector<std::string> all;
  for (int64_t reader = 0; reader < 2; ++reader) {
    TarShards set(paths_, {.window = 4, .seed = 1, .reader = reader, .readers = 2});
    for (auto& key : keys(set)) all.push_back(key);
  }
  EXPECT_EQ(all.size(), 50U);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
}

TEST_F(TarShardsTest, ErrorsNameTheFile) {
  EXPECT_THROW(TarShards({}), ValueError);
  EXPECT_THROW(TarShards(paths_, {.window = -1}), ValueError);
  EXPECT_THROW(TarShards(paths_, {.reader = 2, .readers = 2}), ValueError);
  const auto message = [&](const std::string& name, const std::string& text) {
    TarShards set({folder_.put(name, text)});
    try {
      keys(set);
    } catch (const io::FileError& e) {
      return e.msg();
    }
    return std::string();
  };
  EXPECT_NE(message("a.tar", io::testing::tar_of(TarEntry{"noext", "x"})).find("a.tar"), std::string::npos);
  EXPECT_NE(message("b.tar", io::testing::tar_of(TarEntry{"dir/.hidden", "x"})), "");
  EXPECT_NE(message("c.tar", io::testing::tar_of(TarEntry{"1.txt", "x"}, TarEntry{"1.txt", "y"})).find("twice"),
            std::string::npos);
  TarShards missing({folder_ / "none.tar"});
  EXPECT_THROW(missing.get_batch(1), io::FileError);
}

}  // namespace
}  // namespace argand::data::datasets
