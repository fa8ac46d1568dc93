#include "argand/runtime/cuda/memory_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "argand/base/str.h"

namespace argand::cuda {
namespace {

constexpr size_t kTopHolders = 10;

std::string right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string left(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

struct HolderTotal {
  std::string op;
  std::string shape;
  size_t bytes = 0;
  size_t count = 0;
  int64_t oldest_us = 0;  // since 1970; 0: not known
  void add(size_t nbytes, size_t blocks, int64_t time_us) {
    bytes += nbytes;
    count += blocks;
    if (time_us != 0 && (oldest_us == 0 || time_us < oldest_us)) oldest_us = time_us;
  }
};

// Grouped by op and shape, the largest first.
std::vector<HolderTotal> holder_totals(const MemorySnapshot& snapshot) {
  std::map<std::pair<std::string, std::string>, HolderTotal> groups;
  for (const SegmentInfo& segment : snapshot.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::kInactive) continue;
      groups[{block.op, block.shape}].add(block.size, 1, block.time_us);
    }
  }
  std::vector<HolderTotal> totals;
  for (auto& [key, total] : groups) {
    total.op = key.first;
    total.shape = key.second;
    totals.push_back(std::move(total));
  }
  std::stable_sort(totals.begin(), totals.end(),
                   [](const HolderTotal& a, const HolderTotal& b) { return a.bytes > b.bytes; });
  return totals;
}

// "250 ms", "3.2 s", "5.0 min", "30.0 h".
std::string duration_text(int64_t us) {
  if (us < 1000000) return str(us / 1000, " ms");
  const double s = static_cast<double>(us) * 1e-6;
  char text[32];
  if (s < 120)
    std::snprintf(text, sizeof(text), "%.1f s", s);
  else if (s < 7200)
    std::snprintf(text, sizeof(text), "%.1f min", s / 60);
  else
    std::snprintf(text, sizeof(text), "%.1f h", s / 3600);
  return text;
}

// The table also shows the age of the oldest block of each holder.
std::string holder_table(const MemorySnapshot& snapshot) {
  const std::vector<HolderTotal> totals = holder_totals(snapshot);
  if (totals.empty()) return "\nnothing is allocated";
  std::string out = str("\n", right("bytes", 12), right("blocks", 10), right("oldest", 10), "  held by");
  const int64_t now = now_us();
  const auto line = [&](const HolderTotal& t) {
    const std::string age = t.oldest_us == 0 ? "" : duration_text(std::max<int64_t>(now - t.oldest_us, 0));
    return str("\n", right(bytes_text(t.bytes), 12), right(str(t.count), 10), right(age, 10), "  ", t.op,
               t.shape.empty() ? "" : " ", t.shape);
  };
  for (size_t i = 0; i < std::min(totals.size(), kTopHolders); ++i) out += line(totals[i]);
  if (totals.size() > kTopHolders) {
    HolderTotal rest;
    rest.op = "others";
    for (size_t i = kTopHolders; i < totals.size(); ++i)
      rest.add(totals[i].bytes, totals[i].count, totals[i].oldest_us);
    out += line(rest);
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {  // "</script>" would end a page's script
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

const char* state_name(BlockState state) {
  switch (state) {
    case BlockState::kUnmapped:
      return "unmapped";
    case BlockState::kInactive:
      return "inactive";
    case BlockState::kActive:
      return "active_allocated";
    case BlockState::kAwaitingStream:
      return "active_awaiting_free";
  }
  return "";
}

std::string block_json(const BlockInfo& block) {
  std::string out =
      str("{\"address\": ", block.address, ", \"size\": ", block.size, ", \"requested_size\": ", block.requested_size,
          ", \"state\": \"", state_name(block.state), "\"");
  if (block.state != BlockState::kInactive)
    out +=
        str(", \"sequence\": ", block.sequence, ", \"op\": ", quoted(block.op), ", \"shape\": ", quoted(block.shape));
  if (block.time_us != 0) out += str(", \"time_us\": ", block.time_us);
  return out + "}";
}

const char* action_name(TraceAction action) {
  switch (action) {
    case TraceAction::kAllocate:
      return "alloc";
    case TraceAction::kDeallocate:
      return "free_requested";
    case TraceAction::kOutOfMemory:
      return "oom";
  }
  return "";
}

std::string history_json(const std::vector<TraceEntry>& history) {
  std::string out = "[[";
  const char* before = "\n  ";
  for (const TraceEntry& e : history) {
    out += str(before, "{\"action\": \"", action_name(e.action), "\", \"addr\": ", e.address, ", \"size\": ", e.size,
               ", \"stream\": ", reinterpret_cast<uintptr_t>(e.stream), ", \"op\": ", quoted(e.op ? e.op : "(no op)"),
               ", \"time_us\": ", e.time_us, "}");
    before = ",\n  ";
  }
  return out + "]]";
}

void put(MemoryStatsMap& map, const std::string& name, const Counter& counter) {
  map[name + ".current"] = counter.current;
  map[name + ".peak"] = counter.peak;
  map[name + ".allocated"] = counter.allocated;
  map[name + ".freed"] = counter.freed;
}

}  // namespace

std::string bytes_text(size_t nbytes) {
  if (nbytes < 1024) return str(nbytes, " bytes");
  const char* unit = "KMG";  // no further, as PyTorch's
  double value = static_cast<double>(nbytes) / 1024;
  for (; value >= 1024 && *unit != 'G'; value /= 1024) ++unit;
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %ciB", value, *unit);
  return text;
}

std::string op_text(const Holder& holder) { return holder.op != nullptr ? holder.op : "(no op)"; }

std::string shape_text(const Holder& holder) {
  if (holder.dtype == nullptr) return "";
  std::string out = "[";
  for (int i = 0; i < std::min<int>(holder.ndim, Holder::kMaxDims); ++i)
    out += str(i == 0 ? "" : ", ", holder.sizes[i]);
  if (holder.ndim > Holder::kMaxDims) out += ", ...";
  return out + str("] ", holder.dtype);
}

// As in PyTorch: larger sizes are printed in these words.
static std::string wanted_text(size_t nbytes) {
  return nbytes >= size_t{1} << 60 ? "more than 1EB memory" : bytes_text(nbytes);
}

std::string out_of_memory_text(const OutOfMemory& error, const MemorySnapshot& snapshot) {
  // It begins like PyTorch's message, by which programs recognise that a smaller batch may help.
  std::string out = error.holder.op != nullptr ? str(error.holder.op, ": ") : "";
  out += str("CUDA out of memory. Tried to allocate ", wanted_text(error.requested), ". GPU ",
             error.device.substr(error.device.find(':') + 1), " has a total capacity of ", bytes_text(error.capacity),
             " of which ", bytes_text(error.free), " is free. This process holds ", bytes_text(error.allocated),
             " in tensors and ", bytes_text(error.reserved - error.allocated), " reserved but free.");
  if (error.limit < error.capacity) out += str(" set_memory_fraction limits it to ", bytes_text(error.limit), ".");
  if (const std::string shape = shape_text(error.holder); !shape.empty())
    out += str(" The memory was for ", shape, ".");
  return out + holder_table(snapshot);
}

std::string memory_summary_text(const std::string& device, const MemoryStats& stats, const MemorySnapshot& snapshot) {
  constexpr size_t kName = 24, kColumn = 14;
  std::string out = str("memory of ", device, ": ", stats.num_ooms, " out of memory, ", stats.num_alloc_retries,
                        " retries\n", left("", kName), right("current", kColumn), right("peak", kColumn),
                        right("allocated", kColumn), right("freed", kColumn), "\n");
  const auto row = [&](const char* name, Counter PoolStats::*member, bool is_bytes) {
    const auto line = [&](const char* label, const Counter& c) {
      out += left(label, kName);
      for (const int64_t value : {c.current, c.peak, c.allocated, c.freed})
        out += right(is_bytes ? bytes_text(static_cast<size_t>(value)) : str(value), kColumn);
      out += "\n";
    };
    line(name, stats.all.*member);
    line("  small blocks", stats.small.*member);
    line("  large blocks", stats.large.*member);
  };
  row("allocated memory", &PoolStats::allocated_bytes, true);
  row("requested memory", &PoolStats::requested_bytes, true);
  row("active memory", &PoolStats::active_bytes, true);
  row("reserved memory", &PoolStats::reserved_bytes, true);
  row("allocations", &PoolStats::allocation, false);
  row("active blocks", &PoolStats::active, false);
  row("segments", &PoolStats::segment, false);
  return out + holder_table(snapshot) + "\n";
}

std::string snapshot_json_text(const MemorySnapshot& snapshot) {
  std::string out = "{\"segments\": [";
  for (size_t i = 0; i < snapshot.segments.size(); ++i) {
    const SegmentInfo& s = snapshot.segments[i];
    out += str(i == 0 ? "" : ",", "\n  {\"address\": ", s.address, ", \"address_bytes\": ", s.address_bytes,
               ", \"reserved_bytes\": ", s.reserved_bytes, ", \"segment_type\": \"", s.is_small ? "small" : "large",
               "\", \"pool\": ", s.pool, ", \"stream\": ", reinterpret_cast<uintptr_t>(s.stream), ", \"blocks\": [");
    for (size_t j = 0; j < s.blocks.size(); ++j) out += str(j == 0 ? "\n    " : ",\n    ", block_json(s.blocks[j]));
    out += "]}";
  }
  out += "]";
  if (!snapshot.history.empty()) out += ", \"device_traces\": " + history_json(snapshot.history);
  return out + "}\n";
}

MemoryStatsMap stats_map(const MemoryStats& stats) {
  MemoryStatsMap map{{"num_alloc_retries", stats.num_alloc_retries}, {"num_ooms", stats.num_ooms}};
  const std::pair<const char*, const PoolStats*> pools[] = {
      {"all", &stats.all}, {"small_pool", &stats.small}, {"large_pool", &stats.large}};
  for (const auto& [name, pool] : pools) {
    put(map, str("allocation.", name), pool->allocation);
    put(map, str("allocated_bytes.", name), pool->allocated_bytes);
    put(map, str("requested_bytes.", name), pool->requested_bytes);
    put(map, str("active.", name), pool->active);
    put(map, str("active_bytes.", name), pool->active_bytes);
    put(map, str("segment.", name), pool->segment);
    put(map, str("reserved_bytes.", name), pool->reserved_bytes);
  }
  return map;
}

MemoryStatsMap stats_map(const PinnedStats& stats) {
  MemoryStatsMap map;
  put(map, "allocation", stats.allocation);
  put(map, "allocated_bytes", stats.allocated_bytes);
  put(map, "segment", stats.segment);
  put(map, "reserved_bytes", stats.reserved_bytes);
  return map;
}

}  // namespace argand::cuda
