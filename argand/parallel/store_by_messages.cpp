#include "argand/parallel/store_by_messages.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "argand/parallel/channel.h"
#include "argand/parallel/store/secret.h"
#include "argand/parallel/store/socket.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
namespace {

constexpr size_t kMostAddresses = 16;
constexpr std::chrono::seconds kReach{2};  // how long an address may take to answer

// A text that ranks send each other.  It always takes N bytes, as both ends of a message must give one size.
template <size_t N>
struct Text {
  char text[N] = {};
  Text() = default;
  explicit Text(const std::string& s) { std::memcpy(text, s.data(), std::min(s.size(), N - 1)); }
  std::string str() const { return {text, strnlen(text, N)}; }
};
using Address = Text<INET6_ADDRSTRLEN + IF_NAMESIZE>;
using Token = std::array<char, 16>;
struct Offer {
  uint32_t count = 0;  // 0: the address is clear
  Address address[kMostAddresses];
  uint16_t port[kMostAddresses] = {};
  Token token{};
};
struct Place {
  Text<256> host;
  uint16_t port = 0;
  Text<512> why_not;
};
enum Step { kMachine, kOffer, kReached, kPlace };

bool is_of_one_link(const sockaddr* address) {
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Used by rank 0 while the others try its addresses: sends a token to each connection.
class Offered {
 public:
  explicit Offered(const std::vector<std::string>& addresses) {
    const Store::Value random = random_nonce();
    std::copy_n(random.begin(), std::min(random.size(), offer_.token.size()), offer_.token.begin());
    for (const std::string& address : addresses) {
      try {
        std::vector<Descriptor> sockets = listen_at(address, 0);
        offer_.address[offer_.count] = Address(address);
        offer_.port[offer_.count++] = port_of(sockets[0]);
        listeners_.push_back(std::move(sockets[0]));
      } catch (const NetworkError&) {  // one that cannot be listened at is not offered
      }
    }
    thread_ = std::thread([this] { answer(); });
  }
  ~Offered() {
    stopped_ = true;
    thread_.join();
  }
  const Offer& offer() const { return offer_; }

 private:
  void answer() {
    std::vector<pollfd> items;
    for (const Descriptor& listener : listeners_) items.push_back({listener.fd(), POLLIN, 0});
    while (!stopped_) {
      ::poll(items.data(), items.size(), 20);
      for (const Descriptor& listener : listeners_)
        while (const Descriptor socket = accept_from(listener))
          (void)::send(socket.fd(), offer_.token.data(), offer_.token.size(), MSG_NOSIGNAL);
    }
  }

  Offer offer_;
  std::vector<Descriptor> listeners_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

// Another host, or another program, may have the same address.
bool reaches(const std::string& address, uint16_t port, const Token& token) {
  std::string why;
  const Deadline deadline = std::chrono::steady_clock::now() + kReach;
  const Descriptor socket = try_connect(address, port, deadline, why);
  Token got{};
  size_t have = 0;
  while (socket && have < got.size() && wait_readable(socket, deadline)) {
    const auto n = ::recv(socket.fd(), got.data() + have, got.size() - have, 0);
    if (n <= 0) return false;
    have += static_cast<size_t>(n);
  }
  return have == got.size() && got == token;
}

class Meeting {
 public:
  explicit Meeting(Transport& transport) : ranks_(static_cast<size_t>(transport.size())) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    channel_.emplace(transport, ranks_, transport.rank(), collective_tag(0, 0));
  }

  // Called on rank 0.
  std::string choose(const std::string& host, const std::string& machine) {
    bool one_machine = true;
    for (const auto& theirs : gather<Text<256>>(kMachine)) one_machine &= theirs.str() == Text<256>(machine).str();
    if (!host.empty() || one_machine) {
      tell(Offer(), kOffer);
      return host.empty() ? "127.0.0.1" : host;
    }
    const Offered offered(addresses_of_host());
    tell(offered.offer(), kOffer);
    const std::vector<uint32_t> reached = gather<uint32_t>(kReached);
    std::string tried;
    for (uint32_t i = 0; i < offered.offer().count; ++i) {
      const auto misses = std::find_if(reached.begin(), reached.end(), [&](uint32_t mask) { return !(mask >> i & 1); });
      const std::string address = offered.offer().address[i].str();
      if (misses == reached.end()) return address;
      tried += str("; rank ", misses - reached.begin() + 1, " does not reach ", address);
    }
    throw NetworkError(str("the host of rank 0 has no address that all ranks reach", tried));
  }
  void be_told(const std::string& machine) {
    send(Text<256>(machine), kMachine);
    const auto offer = receive<Offer>(0, kOffer);
    if (offer.count == 0) return;
    uint32_t reached = 0;
    for (uint32_t i = 0; i < std::min<size_t>(offer.count, kMostAddresses); ++i)
      reached |= static_cast<uint32_t>(reaches(offer.address[i].str(), offer.port[i], offer.token)) << i;
    send(reached, kReached);
  }

  template <class T>
  void tell(const T& value, Step step) {
    Transfers transfers;
    for (int r = 1; r < channel_->size(); ++r) transfers.add(channel_->send(&value, sizeof value, r, step));
    transfers.wait();
  }
  template <class T>
  T receive(int from, Step step) {
    T value{};
    channel_->receive(&value, sizeof value, from, step)->wait();
    return value;
  }

 private:
  template <class T>
  void send(const T& value, Step step) {
    channel_->send(&value, sizeof value, 0, step)->wait();
  }
  template <class T>
  std::vector<T> gather(Step step) {
    std::vector<T> all;
    for (int r = 1; r < channel_->size(); ++r) all.push_back(receive<T>(r, step));
    return all;
  }

  std::vector<int> ranks_;
  std::optional<Channel> channel_;
};

}  // namespace

std::string this_machine() {
  char name[256] = {}, network[256] = {};
  ::gethostname(name, sizeof name - 1);
  if (::readlink("/proc/self/ns/net", network, sizeof network - 1) < 0) network[0] = 0;
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  return str(boot, " ", network, " ", name);
}

std::vector<std::string> addresses_of_host() {
  std::vector<std::string> all;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* each = first; each; each = each->ifa_next) {
      if (!each->ifa_addr || each->ifa_addr->sa_family != family || is_of_one_link(each->ifa_addr)) continue;
      if (!(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK) || all.size() == kMostAddresses) continue;
      char text[NI_MAXHOST] = {};
      const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      if (::getnameinfo(each->ifa_addr, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
        all.emplace_back(text);
    }
  return all;
}

std::shared_ptr<Store> store_by_messages(Transport& transport, Store::Timeout timeout, const std::string& host,
                                         const std::string& machine) {
  Meeting meeting(transport);
  TCPStoreOptions options;
  options.timeout = timeout;
  options.wait_workers = false;
  if (transport.rank() != 0) {
    meeting.be_told(machine);
    const auto place = meeting.receive<Place>(0, kPlace);
    ARGAND_CHECK(NetworkError, place.port != 0, "init_process_group: ", place.why_not.str());
    options.port = place.port;
    return std::make_shared<TCPStore>(place.host.str(), options);
  }
  Place place;
  std::shared_ptr<TCPStore> store;
  try {
    place.host = Text<256>(meeting.choose(host, machine));
    options.is_server = true;
    options.port = 0;
    store = std::make_shared<TCPStore>(place.host.str(), options);
    place.port = store->port();
  } catch (const NetworkError& e) {  // the others wait for this
    place.why_not = Text<512>(e.what());
  }
  meeting.tell(place, kPlace);
  ARGAND_CHECK(NetworkError, store, "init_process_group: ", place.why_not.str());
  return store;
}

}  // namespace argand::parallel
