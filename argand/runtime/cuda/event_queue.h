// Blocks that wait for the work of streams.  Not thread-safe: the allocator that owns the queue holds its lock.
#pragma once
#include <deque>
#include <vector>

#include "argand/runtime/cuda/device_memory.h"

namespace argand::cuda {

// Block has a member `int pending_events`.
template <class Block>
class EventQueue {
 public:
  explicit EventQueue(StreamEvents& events) : events_(events) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() {
    for (Stream& s : streams_)
      for (Entry& e : s.entries) events_.drop_event(e.event);
  }

  // The block waits for the work that is on the stream now.
  void record(Block* block, StreamHandle stream) {
    void* event = events_.record_event(stream);
    if (event == nullptr) return;  // a lost device has no work left
    entries_of(stream).push_back({event, block});
    ++block->pending_events;
  }

  // Calls free(block) for each block that no longer waits.
  template <class Free>
  void poll(Free&& free) {
    for (Stream& s : streams_)  // the events of a stream are done in order
      while (!s.entries.empty() && events_.event_done(s.entries.front().event)) pop(s, free);
  }

  template <class Free>
  void wait(Free&& free) {
    for (Stream& s : streams_) {
      while (!s.entries.empty()) {
        events_.wait_event(s.entries.front().event);
        pop(s, free);
      }
    }
  }

 private:
  struct Entry {
    void* event;
    Block* block;
  };
  struct Stream {
    StreamHandle stream;
    std::deque<Entry> entries;
  };

  std::deque<Entry>& entries_of(StreamHandle stream) {
    for (Stream& s : streams_)
      if (s.stream == stream) return s.entries;
    return streams_.emplace_back(Stream{stream, {}}).entries;
  }

  template <class Free>
  void pop(Stream& s, Free& free) {
    const Entry e = s.entries.front();
    s.entries.pop_front();
    events_.drop_event(e.event);
    if (--e.block->pending_events == 0) free(e.block);
  }

  StreamEvents& events_;
  std::vector<Stream> streams_;
};

}  // namespace argand::cuda
