// Messages by Gloo between ranks that are threads of this process, and how they connect: Note [Connecting on demand].
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "argand/parallel/addresses_test.h"
#include "argand/parallel/backends.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

using testing::Addresses;

void in_threads(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

using Ranks = std::vector<std::unique_ptr<Transport>>;
Ranks join(int size, Addresses& addresses, milliseconds timeout = std::chrono::seconds(30)) {
  Ranks ranks(static_cast<size_t>(size));
  in_threads(size, [&](int r) {
    TransportOptions options;
    options.rank = r;
    options.size = size;
    options.host = "127.0.0.1";
    options.timeout = timeout;
    ranks[static_cast<size_t>(r)] = find_transport("gloo")(addresses, options);
  });
  return ranks;
}

int open_files() {
  int count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class GlooTransport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_backend("gloo"); !why.empty()) GTEST_SKIP() << why;
    if (kSanitized) GTEST_SKIP() << "libgloo is compiled without sanitizers, which see races in it";
  }
  Addresses addresses_;
};

void ping(Transport& from, Transport& to, uint32_t tag = 1) {
  int sent = static_cast<int>(tag) * 100, got = 0;
  const auto receiving = to.receive(&got, sizeof got, from.rank(), tag);
  const auto sending = from.send(&sent, sizeof sent, to.rank(), tag);
  EXPECT_EQ(receiving->wait(), from.rank());
  EXPECT_EQ(sending->wait(), to.rank());
  EXPECT_EQ(got, sent);
}

// Sixteen ranks would have 240 ends of connections if all were connected.
TEST_F(GlooTransport, RanksConnectWhenTheyFirstExchangeAMessage) {
  const int before = open_files();
  const Ranks ranks = join(16, addresses_);
  const int joined = open_files();
  EXPECT_LE(joined - before, 16 * 6);  // each listens, and has a few files of its thread
  ping(*ranks[0], *ranks[1]);
  ping(*ranks[0], *ranks[1]);
  for (int i = 0; i < 100 && open_files() > joined + 2; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(open_files(), joined + 2);
}

TEST_F(GlooTransport, BothSidesAndSeveralThreadsBeginAtOnce) {
  constexpr int kRanks = 5, kThreads = 4, kMessages = 20, kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    Addresses addresses;
    const Ranks ranks = join(kRanks, addresses);
    std::atomic<int> wrong{0};
    in_threads(kRanks * kThreads, [&](int i) {
      const int me = i / kThreads;
      const auto tag = static_cast<uint32_t>(i % kThreads);
      std::vector<std::vector<int>> got(kRanks, std::vector<int>(kMessages)), sent = got;
      std::vector<std::unique_ptr<Transfer>> transfers;
      for (int k = 1; k < kRanks; ++k) {
        const int other = (me + k) % kRanks;
        const auto o = static_cast<size_t>(other);
        for (int m = 0; m < kMessages; ++m) {
          const auto at = static_cast<size_t>(m);
          sent[o][at] = me * 1000 + m;
          transfers.push_back(ranks[static_cast<size_t>(me)]->receive(&got[o][at], sizeof(int), other, tag));
          transfers.push_back(ranks[static_cast<size_t>(me)]->send(&sent[o][at], sizeof(int), other, tag));
        }
      }
      for (const auto& t : transfers) t->wait();
      for (int other = 0; other < kRanks; ++other)
        for (int m = 0; m < kMessages && other != me; ++m)
          wrong += got[static_cast<size_t>(other)][static_cast<size_t>(m)] != other * 1000 + m;
    });
    EXPECT_EQ(wrong, 0) << "messages that came in another order, in round " << round;
  }
}

TEST_F(GlooTransport, WhoeverSendsConnectsToOneThatReceivesFromAnyRank) {
  const Ranks ranks = join(4, addresses_);
  for (const int sender : {3, 1, 2}) {
    int sent = sender, got = 0;
    const auto receiving = ranks[0]->receive(&got, sizeof got, Transport::kAnyRank, 9);
    ranks[static_cast<size_t>(sender)]->send(&sent, sizeof sent, 0, 9)->wait();
    EXPECT_EQ(receiving->wait(), sender);
    EXPECT_EQ(got, sender);
  }
}

// Whether it goes before the message or while that waits.
TEST_F(GlooTransport, ARankThatIsGoneIsNamedAtOnce) {
  Ranks ranks = join(3, addresses_);
  ranks[1].reset();
  int got = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 2; ++i) {
    try {
      ranks[0]->receive(&got, sizeof got, 1, 1)->wait();
      FAIL() << "expected PeerLost";
    } catch (const PeerLost& e) {
      EXPECT_EQ(e.rank(), 1);
    }
  }
  EXPECT_THROW(ranks[2]->send(&got, sizeof got, 1, 1)->wait(), PeerLost);
  const auto waiting = ranks[0]->receive(&got, sizeof got, 2, 1);
  std::this_thread::sleep_for(milliseconds(50));  // until they are connected
  ranks[2].reset();
  EXPECT_THROW(waiting->wait(), PeerLost);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(GlooTransport, AnAbortEndsWhatWaitsForAConnection) {
  const Ranks ranks = join(2, addresses_);
  int got = 0;
  const auto waiting = ranks[0]->receive(&got, sizeof got, 1, 1);
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(20));
    ranks[0]->abort(std::make_exception_ptr(BackendError("it is over")));
  });
  EXPECT_THROW(waiting->wait(), BackendError);
  EXPECT_THROW(ranks[0]->send(&got, sizeof got, 1, 1), BackendError);
  later.join();
}

TEST_F(GlooTransport, TransfersThatAreGivenUpLeaveTheOthers) {
  const Ranks ranks = join(2, addresses_);
  int got = 0, unwanted = 0;
  for (uint32_t tag = 10; tag < 20; ++tag) ranks[0]->receive(&unwanted, sizeof unwanted, 1, tag);
  const auto receiving = ranks[0]->receive(&got, sizeof got, 1, 1);
  int sent = 7;
  ranks[1]->send(&sent, sizeof sent, 0, 1)->wait();
  receiving->wait();
  EXPECT_EQ(got, 7);
}

// Between a rank and those that call it: the first connections end with "Connection reset by peer" after so many bytes.
class Between {
 public:
  Between(const std::string& to, int resets, int after_bytes) : to_(to), resets_(resets), after_(after_bytes) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at);
    ::listen(listener_, 64);
    thread_ = std::thread([this] { accept(); });
  }
  ~Between() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread& t : connections_) t.join();
    ::close(listener_);
  }
  std::string address() const {
    sockaddr_in at{};
    socklen_t length = sizeof at;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &length);
    return {reinterpret_cast<const char*>(&at), sizeof at};
  }
  int calls() const { return calls_; }

 private:
  void accept() {
    for (int fd; (fd = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      const int left = calls_++ < resets_ ? after_ : -1;
      connections_.emplace_back([this, fd, left] { pass_on(fd, left); });
    }
  }
  static void reset(int fd) {
    const linger at_once{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(fd);
  }
  void pass_on(int from, int left) {
    const int to = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool limited = left >= 0;
    if (!(limited && left == 0) &&
        ::connect(to, reinterpret_cast<const sockaddr*>(to_.data()), static_cast<socklen_t>(to_.size())) == 0) {
      pollfd both[2] = {{from, POLLIN, 0}, {to, POLLIN, 0}};
      for (bool open = true; open;) {
        ::poll(both, 2, -1);
        for (int i = 0; i < 2 && open; ++i) {
          if (!both[i].revents) continue;
          char bytes[4096];
          const size_t most = limited ? std::min(sizeof bytes, static_cast<size_t>(left)) : sizeof bytes;
          const auto n = ::recv(both[i].fd, bytes, most, 0);
          open = n > 0 && ::send(both[1 - i].fd, bytes, static_cast<size_t>(n), MSG_NOSIGNAL) == n;
          if (open && limited) open = (left -= static_cast<int>(n)) > 0;
        }
      }
      if (limited) std::this_thread::sleep_for(milliseconds(2));  // what was passed on arrives before the reset
    }
    reset(from);
    reset(to);
  }

  const std::string to_;
  const int resets_, after_;
  std::atomic<int> calls_{0};
  int listener_;
  std::vector<std::thread> connections_;  // of the thread
  std::thread thread_;
};

// At every place of what the two say, whose parts end at these bytes.
TEST_F(GlooTransport, AConnectionThatIsResetIsTriedAgain) {
  constexpr int kHello = 24, kAnswer = 4, kAddress = 192;
  std::vector<int> places{0, 1};
  int end = 0;
  for (const int part : {kHello, kAnswer, kAddress, kAddress, kAnswer, kAnswer})
    for (const int place : {end + part / 2, end + part}) {
      places.push_back(place);
      if (place == end + part) end = place;
    }
  constexpr size_t kSecret = 16;
  for (const bool both_call : {false, true})
    for (const int place : places) {
      Addresses addresses;
      std::vector<std::unique_ptr<Between>> between;
      addresses.change = [&](const std::string&, const std::string& value) {
        between.push_back(std::make_unique<Between>(value.substr(kSecret), 3, place));
        return value.substr(0, kSecret) + between.back()->address();
      };
      const auto begin = Clock::now();
      {
        const Ranks ranks = join(2, addresses);
        if (both_call) {
          in_threads(2, [&](int r) {
            int sent = r + 5, got = 0;
            Transport& mine = *ranks[static_cast<size_t>(r)];
            const auto receiving = mine.receive(&got, sizeof got, 1 - r, 3);
            mine.send(&sent, sizeof sent, 1 - r, 3)->wait();
            receiving->wait();
            EXPECT_EQ(got, 6 - r) << place;
          });
        } else {
          int sent = 5, got = 0;
          const auto sending = ranks[0]->send(&sent, sizeof sent, 1, 3);
          ranks[1]->receive(&got, sizeof got, Transport::kAnyRank, 3)->wait();
          sending->wait();
          EXPECT_EQ(got, 5) << place;
          int calls = 0;
          for (const auto& b : between) calls += b->calls();
          // Once the caller has said that it is ready, the other one remembers it.
          EXPECT_GE(calls, place < end - kAnswer ? 4 : place < end ? 2 : 1) << place;
        }
        ping(*ranks[1], *ranks[0]);
      }
      EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5)) << place << " " << both_call;
    }
}

TEST_F(GlooTransport, ARankThatCannotBeReachedIsNamedWithTheReason) {
  std::unique_ptr<Between> between;
  addresses_.change = [&](const std::string& key, const std::string& value) {
    if (key.back() == '0') return value;
    between = std::make_unique<Between>(value.substr(16), 1'000'000, 0);
    return value.substr(0, 16) + between->address();
  };
  const Ranks ranks = join(2, addresses_, milliseconds(500));
  int sent = 5;
  const auto sending = ranks[0]->send(&sent, sizeof sent, 1, 3);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_NE(ranks[0]->trouble().find("no connection to rank 1 at 127.0.0.1:"), std::string::npos)
      << ranks[0]->trouble();
  try {
    sending->wait();
    FAIL() << "expected NetworkError";
  } catch (const NetworkError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 0 cannot connect to rank 1 at 127.0.0.1:"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find("Connection reset by peer"), std::string::npos) << e.what();
  }
}

// The listener of a rank is no way in for others.
TEST_F(GlooTransport, StrangersAreTurnedAway) {
  std::string listens;
  addresses_.change = [&](const std::string& key, const std::string& value) {
    if (key.back() == '0') listens = value;
    return value;
  };
  const Ranks ranks = join(2, addresses_);
  std::string hello(24, '\0');
  const uint32_t magic = 0x41524731;
  const int32_t rank = 1;
  std::memcpy(hello.data(), &magic, 4);
  std::memcpy(hello.data() + 4, &rank, 4);
  for (const std::string& text : {hello, std::string("GET / HTTP/1.0\r\n\r\n......"), std::string(4000, 'x')}) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const std::string address = listens.substr(16);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(address.data()), static_cast<socklen_t>(address.size())),
              0);
    ASSERT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    char c;
    EXPECT_LE(::recv(fd, &c, 1, 0), 0) << "an answer to a stranger";
    ::close(fd);
  }
  ping(*ranks[0], *ranks[1]);
}

}  // namespace
}  // namespace argand::parallel
