#include "tools/argand/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argand/base/error.h"
#include "argand/io/folder_test.h"

namespace argand::cli {
namespace {

using io::testing::content_of;
using io::testing::TestFolder;

TEST(MetricsCsv, WritesEachEpoch) {
  const TestFolder folder;
  MetricsCsv csv(folder / "metrics.csv");
  csv.append({1, 0.5, 0.75, 0.25, 0.875, 0.001, 12.5});
  csv.append({2, NAN, 0, INFINITY, 0.1, 1e-5, 3});
  EXPECT_EQ(content_of(folder / "metrics.csv"),
            "epoch,train_loss,train_accuracy,test_loss,test_accuracy,learning_rate,seconds\n"
            "1,0.5,0.75,0.25,0.875,0.001,12.5\n"
            "2,nan,0,inf,0.1,1e-05,3\n");
}

TEST(MetricsCsv, ResumesWithTheSameBits) {
  const TestFolder folder;
  MetricsCsv first(folder / "m");
  first.append({1, 1.0 / 3, 2.0 / 7, 1e-300, 0.1, 0.1, 1});
  first.append({2, NAN, INFINITY, 0, 0, 0, 0});
  first.append({3, 0, 0, 0, 0, 0, 0});
  MetricsCsv second(folder / "m");
  second.resume(2);
  ASSERT_EQ(second.rows().size(), 2u);
  EXPECT_EQ(second.rows()[0].train_loss, 1.0 / 3);
  EXPECT_EQ(second.rows()[0].train_accuracy, 2.0 / 7);
  EXPECT_EQ(second.rows()[0].test_loss, 1e-300);
  EXPECT_TRUE(std::isnan(second.rows()[1].train_loss));
  EXPECT_EQ(second.rows()[1].train_accuracy, INFINITY);
  second.append({3, 9, 0, 0, 0, 0, 0});
  MetricsCsv third(folder / "m");
  third.resume(100);
  ASSERT_EQ(third.rows().size(), 3u);
  EXPECT_EQ(third.rows()[2].train_loss, 9);
}

TEST(MetricsCsv, MissingFileIsEmpty) {
  MetricsCsv csv("/nonexistent/metrics.csv");
  csv.resume(5);
  EXPECT_TRUE(csv.rows().empty());
  EXPECT_THROW(csv.append({}), IoError);
}

TEST(MetricsCsv, DamageIsNamedByLine) {
  const TestFolder folder;
  MetricsCsv csv(folder / "m");
  csv.append({1, 1, 1, 1, 1, 1, 1});
  const std::string good = content_of(folder / "m");
  for (const std::string& bad : {std::string("x"), good + "2,1,1,1,1,1", good + "2,1,1,1,1,1,1,1",
                                 good + "2,1,1,x,1,1,1", good + "2,1,1,,1,1,1", good + "\n"}) {
    folder.put("m", bad);
    try {
      csv.resume(9);
      ADD_FAILURE() << bad;
    } catch (const IoError& e) {
      EXPECT_NE(e.msg().find(bad == "x" ? "line 1:" : "line 3:"), std::string::npos) << e.msg();
    }
  }
}

}  // namespace
}  // namespace argand::cli
