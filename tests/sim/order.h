// The order of work on pretended devices.  Work is done at once, but checked as if it were not: vector clocks (Mattern,
// 1989) with one component per stream say whether an access comes after those that it depends on.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace argand::sim {

using Queue = std::pair<int, void*>;  // device, stream
using Clock = std::map<Queue, uint64_t>;

class Order {
 public:
  static Order& get();
  void allocated(const void* data, size_t nbytes);
  void freed(const void* data);
  // Addresses that are no device's memory are ignored.
  void work(const Queue& queue, const std::vector<const void*>& reads, const std::vector<const void*>& writes);
  Clock now(const Queue& queue);
  // The queue waits for the event.
  void after(const Queue& queue, const Clock& event);
  // What was used without being ordered, since the last call.
  std::vector<std::string> take();

 private:
  struct Block {
    size_t nbytes;
    Queue writer;
    uint64_t written;
    Clock readers;
  };
  Block* block_at(const void* p);
  void check(const Queue& queue, const Queue& other, uint64_t when, const char* does, const char* did);

  std::mutex mutex_;
  std::map<const char*, Block> blocks_;
  std::map<Queue, Clock> clocks_;
  std::vector<std::string> races_;
};

}  // namespace argand::sim
