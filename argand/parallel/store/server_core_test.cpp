#include "argand/parallel/store/server_core.h"

#include <gtest/gtest.h>

namespace argand::parallel {
namespace {

using wire::Op;
using wire::Request;
using wire::Status;
using Client = ServerCore::Client;

class ServerCoreTest : public ::testing::Test {
 protected:
  void handle(Client client, Request request) { core.handle(client, std::move(request), now); }
  // The clients that were answered since the last call, in order, each with its value, or a status that is not ok.
  std::string answered() { return std::exchange(answers, ""); }

  std::string answers;
  ServerCore core{[this](Client client, const wire::Reply& reply) {
    answers += std::to_string(client) + ":";
    if (reply.status != Status::kOk) answers += "status " + std::to_string(static_cast<int>(reply.status));
    for (const auto& value : reply.values) answers.append(value->begin(), value->end());
    answers += " ";
  }};
  ServerCore::Clock::time_point now{};
};

TEST_F(ServerCoreTest, ThoseWhoWaitForAQueueAreServedInTheOrderOfArrival) {
  for (Client client = 1; client <= 3; ++client) handle(client, {Op::kPop, 1, 0, {"q"}, {}});
  handle(9, {Op::kPush, 0, 0, {"q"}, {{'a'}}});
  EXPECT_EQ(answered(), "9: 1:a ");
  core.leave(2);
  handle(4, {Op::kPop, 1, 0, {"q"}, {}});
  handle(9, {Op::kPush, 0, 0, {"q"}, {{'b'}}});
  EXPECT_EQ(answered(), "9: 3:b ");
  handle(9, {Op::kPush, 0, 0, {"q"}, {{'c'}}});
  handle(9, {Op::kPush, 0, 0, {"q"}, {{'d'}}});
  EXPECT_EQ(answered(), "9: 4:c 9: ");
  handle(9, {Op::kQueueLen, 0, 0, {"q"}, {}});
  EXPECT_FALSE(core.waits(4));
}

TEST_F(ServerCoreTest, AllKeysMustBeThereTogether) {
  handle(1, {Op::kMultiGet, 0, 0, {"a", "b"}, {}});
  handle(9, {Op::kSet, 0, 0, {"a"}, {{'1'}}});
  handle(9, {Op::kDelete, 0, 0, {"a"}, {}});
  handle(9, {Op::kSet, 0, 0, {"b"}, {{'2'}}});
  EXPECT_TRUE(core.waits(1));
  answered();
  handle(9, {Op::kSet, 0, 0, {"a"}, {{'3'}}});
  EXPECT_EQ(answered(), "9: 1:32 ");
}

TEST_F(ServerCoreTest, DeadlinesPassInOrder) {
  handle(1, {Op::kGet, 0, 30, {"a"}, {}});
  handle(2, {Op::kGet, 0, 10, {"a"}, {}});
  handle(3, {Op::kGet, 0, 0, {"a"}, {}});
  EXPECT_EQ(core.next_deadline(), now + std::chrono::milliseconds(10));
  core.expire(now + std::chrono::milliseconds(9));
  EXPECT_EQ(answered(), "");
  core.expire(now + std::chrono::milliseconds(10));
  EXPECT_EQ(answered(), "2:status 1 ");
  core.leave(1);
  EXPECT_EQ(core.next_deadline(), std::nullopt);
  handle(9, {Op::kSet, 0, 0, {"a"}, {{'x'}}});
  EXPECT_EQ(answered(), "9: 3:x ");
}

TEST_F(ServerCoreTest, WaitsForACount) {
  handle(1, {Op::kWaitCount, 2, 0, {"n"}, {}});
  handle(9, {Op::kAdd, 1, 0, {"n"}, {}});
  EXPECT_TRUE(core.waits(1));
  handle(9, {Op::kAdd, 1, 0, {"n"}, {}});
  EXPECT_FALSE(core.waits(1));
  handle(1, {Op::kWaitCount, 5, 0, {"n"}, {}});
  answered();
  handle(9, {Op::kSet, 0, 0, {"n"}, {{'x'}}});
  EXPECT_EQ(answered().substr(0, 12), "9: 1:status ");  // it is no number any more
}

}  // namespace
}  // namespace argand::parallel
