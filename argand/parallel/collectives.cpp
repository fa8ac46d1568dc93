#include "argand/parallel/collectives.h"

#include <algorithm>
#include <functional>

#include "argand/base/error.h"
#include "argand/ops/functions.h"

namespace argand::parallel {
namespace {

// Up to this size, every rank sends everything to all others: one step instead of two.  The bits are the same.
// Two ranks send as many bytes in one step as in two.
constexpr size_t kOneStepBytes = 16 << 10, kOneStepBytesOfTwo = 64 << 20;
bool in_one_step(const Tensor& flat, const Channel& channel) {
  return flat.nbytes() <= (channel.size() == 2 ? kOneStepBytesOfTwo : kOneStepBytes);
}

// From this size on a broadcast is cut into pieces, so that the root sends each byte once.
constexpr size_t kPiecesBytes = 64 << 10;

// The elements of `flat` that rank `j` adds or sends on: equal pieces, the last ones shorter or empty.
Tensor piece_of(const Tensor& flat, int j, int size) {
  const int64_t n = flat.numel(), length = (n + size - 1) / size;
  const int64_t begin = std::min(n, j * length), end = std::min(n, begin + length);
  return flat.slice(0, begin, end);
}

std::vector<Tensor> pieces_of(const Tensor& flat, int size) {
  std::vector<Tensor> pieces;
  for (int j = 0; j < size; ++j) pieces.push_back(piece_of(flat, j, size));
  return pieces;
}

Tensor like(const Tensor& t) { return empty(t.sizes(), t.options()); }

// Everybody sends sent[j] to rank j; what rank j sent arrives in received[j].  Where both are for this rank nothing is
// done.  Returns what is to be waited for.
Transfers exchange(Channel& channel, const std::vector<Tensor>& sent, const std::vector<Tensor>& received, int step) {
  Transfers transfers;
  for (int k = 1; k < channel.size(); ++k) {  // each starts with its neighbour, so that no rank is sent all at once
    const int from = (channel.rank() + channel.size() - k) % channel.size();
    if (received[static_cast<size_t>(from)].numel() > 0)
      transfers.add(channel.receive(received[static_cast<size_t>(from)], from, step));
  }
  for (int k = 1; k < channel.size(); ++k) {
    const int to = (channel.rank() + k) % channel.size();
    if (sent[static_cast<size_t>(to)].numel() > 0) transfers.add(channel.send(sent[static_cast<size_t>(to)], to, step));
  }
  return transfers;
}

// Large messages are sent in segments, so that a segment is reduced while the rest is in transit.
constexpr size_t kSegmentBytes = 512 << 10;

Tensor segment_of(const Tensor& flat, int64_t s) {
  const auto length = static_cast<int64_t>(kSegmentBytes) / element_size(flat.dtype());
  return flat.slice(0, std::min(flat.numel(), s * length), std::min(flat.numel(), (s + 1) * length));
}
// The number of segments of the longest piece.
int64_t count_segments(const std::vector<Tensor>& pieces) {
  size_t bytes = 0;
  for (const Tensor& t : pieces) bytes = std::max<size_t>(bytes, t.nbytes());
  return static_cast<int64_t>((bytes + kSegmentBytes - 1) / kSegmentBytes);
}
std::vector<Tensor> segments_of(const std::vector<Tensor>& pieces, int64_t s) {
  std::vector<Tensor> segments;
  for (const Tensor& t : pieces) segments.push_back(segment_of(t, s));
  return segments;
}

// Computes in `out` the sum of the pieces that the ranks sent to this one; pieces[rank] is its own part.  Calls then(s)
// when segment s has arrived and the sent pieces may be changed.
void exchange_and_join(Channel& channel, const std::vector<Tensor>& pieces, const Tensor& out, const ReduceOp& op,
                       const std::function<void(int64_t)>& then = {}) {
  const Tensor& mine = pieces[static_cast<size_t>(channel.rank())];
  std::vector<Tensor> parts;
  for (int r = 0; r < channel.size(); ++r) parts.push_back(r == channel.rank() ? mine : like(mine));
  const int64_t count = count_segments(pieces);
  std::vector<Transfers> transfers;
  for (int64_t s = 0; s < count; ++s)
    transfers.push_back(exchange(channel, segments_of(pieces, s), segments_of(parts, s), 0));
  for (int64_t s = 0; s < count; ++s) {
    transfers[static_cast<size_t>(s)].wait();
    if (const Tensor sum = segment_of(out, s); sum.numel() > 0) join_in_order(op, segments_of(parts, s), sum);
    if (then) then(s);
  }
}

void copy_bytes(const Tensor& to, const Tensor& from) {
  if (to.impl().data() == from.impl().data()) return;
  to.copy_(from);
  to.impl().data();  // copied now
}

}  // namespace

void all_reduce(Channel& channel, const Tensor& flat, const ReduceOp& op) {
  if (in_one_step(flat, channel)) {
    return exchange_and_join(channel, std::vector<Tensor>(static_cast<size_t>(channel.size()), flat), flat, op);
  }
  const std::vector<Tensor> pieces = pieces_of(flat, channel.size());
  const Tensor& mine = pieces[static_cast<size_t>(channel.rank())];
  std::vector<Transfers> sums;
  exchange_and_join(channel, pieces, mine, op, [&](int64_t s) {
    const std::vector<Tensor> sum(pieces.size(), segment_of(mine, s));
    sums.push_back(exchange(channel, sum, segments_of(pieces, s), 1));
  });
  for (Transfers& t : sums) t.wait();
}

void reduce(Channel& channel, const Tensor& flat, int root, const ReduceOp& op) {
  if (channel.rank() != root && flat.nbytes() <= kOneStepBytes) {
    channel.send(flat, root)->wait();
    return;
  }
  if (flat.nbytes() <= kOneStepBytes) {
    std::vector<Tensor> parts;
    Transfers transfers;
    for (int r = 0; r < channel.size(); ++r) {
      parts.push_back(r == root ? flat : like(flat));
      if (r != root) transfers.add(channel.receive(parts.back(), r));
    }
    transfers.wait();
    return join_in_order(op, parts, flat);
  }
  // Other ranks' tensors stay as they are, so the sum of this rank's piece has memory of its own.
  const std::vector<Tensor> pieces = pieces_of(flat, channel.size());
  const Tensor& mine = pieces[static_cast<size_t>(channel.rank())];
  const Tensor sum = channel.rank() == root ? mine : like(mine);
  exchange_and_join(channel, pieces, sum, op);
  Transfers transfers;
  for (int r = 0; r < channel.size() && channel.rank() == root; ++r)
    if (r != root && pieces[static_cast<size_t>(r)].numel() > 0)
      transfers.add(channel.receive(pieces[static_cast<size_t>(r)], r, 1));
  if (channel.rank() != root && sum.numel() > 0) transfers.add(channel.send(sum, root, 1));
  transfers.wait();
}

namespace {

// Rank `root` sends to those 1, 2, 4, ... behind it, each of which does the same for those behind it.
void broadcast_by_tree(Channel& channel, const Tensor& flat, int root) {
  const int size = channel.size(), place = (channel.rank() - root + size) % size;
  int step = 1;
  for (; step < size; step *= 2) {
    if (place & step) {
      channel.receive(flat, (channel.rank() - step + size) % size)->wait();
      break;
    }
  }
  Transfers transfers;
  for (step /= 2; step > 0; step /= 2)
    if (place + step < size) transfers.add(channel.send(flat, (channel.rank() + step) % size));
  transfers.wait();
}

}  // namespace

void broadcast(Channel& channel, const Tensor& flat, int root) {
  if (flat.numel() == 0) return;
  if (channel.size() == 2 || flat.nbytes() < kPiecesBytes) return broadcast_by_tree(channel, flat, root);
  const std::vector<Tensor> pieces = pieces_of(flat, channel.size());
  const Tensor& mine = pieces[static_cast<size_t>(channel.rank())];
  scatter(channel, mine, channel.rank() == root ? pieces : std::vector<Tensor>(), root);
  Transfers transfers;  // the root has all
  for (int r = 0; r < channel.size(); ++r) {
    if (r == channel.rank()) continue;
    const Tensor& theirs = pieces[static_cast<size_t>(r)];
    if (channel.rank() != root && theirs.numel() > 0) transfers.add(channel.receive(theirs, r, 1));
    if (r != root && mine.numel() > 0) transfers.add(channel.send(mine, r, 1));
  }
  transfers.wait();
}

void all_gather(Channel& channel, const std::vector<Tensor>& outputs, const Tensor& input) {
  copy_bytes(outputs[static_cast<size_t>(channel.rank())], input);
  exchange(channel, std::vector<Tensor>(outputs.size(), input), outputs, 0).wait();
}

void gather(Channel& channel, const std::vector<Tensor>& outputs, const Tensor& input, int root) {
  if (channel.rank() != root) {
    if (input.numel() > 0) channel.send(input, root)->wait();
    return;
  }
  Transfers transfers;
  for (int r = 0; r < channel.size(); ++r)
    if (r != root && outputs[static_cast<size_t>(r)].numel() > 0)
      transfers.add(channel.receive(outputs[static_cast<size_t>(r)], r));
  copy_bytes(outputs[static_cast<size_t>(root)], input);
  transfers.wait();
}

void scatter(Channel& channel, const Tensor& output, const std::vector<Tensor>& inputs, int root) {
  if (channel.rank() != root) {
    if (output.numel() > 0) channel.receive(output, root)->wait();
    return;
  }
  Transfers transfers;
  for (int r = 0; r < channel.size(); ++r)
    if (r != root && inputs[static_cast<size_t>(r)].numel() > 0)
      transfers.add(channel.send(inputs[static_cast<size_t>(r)], r));
  copy_bytes(output, inputs[static_cast<size_t>(root)]);
  transfers.wait();
}

void reduce_scatter(Channel& channel, const Tensor& output, const std::vector<Tensor>& inputs, const ReduceOp& op) {
  exchange_and_join(channel, inputs, output, op);
}

void all_to_all(Channel& channel, const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  const auto size = static_cast<size_t>(channel.size());
  std::vector<uint64_t> sent(size), expected(size);
  Transfers transfers;
  for (int r = 0; r < channel.size(); ++r) {
    const auto i = static_cast<size_t>(r);
    sent[i] = inputs[i].nbytes();
    if (r != channel.rank()) {
      transfers.add(channel.receive(&expected[i], sizeof(uint64_t), r, 0));
      transfers.add(channel.send(&sent[i], sizeof(uint64_t), r, 0));
    }
  }
  transfers.wait();
  // Ranks that expect another call find it themselves; an error on one rank reaches all.
  for (size_t r = 0; r < size; ++r) {
    const uint64_t bytes = static_cast<int>(r) == channel.rank() ? sent[r] : expected[r];
    ARGAND_CHECK(ShapeError, bytes == outputs[r].nbytes(), "all_to_all: rank ", r, " sends ", bytes, " bytes to rank ",
                 channel.rank(), ", which expects ", outputs[r].nbytes());
  }
  copy_bytes(outputs[static_cast<size_t>(channel.rank())], inputs[static_cast<size_t>(channel.rank())]);
  exchange(channel, inputs, outputs, 1).wait();
}

void barrier(Channel& channel) {
  // In step k, a rank learns that 2^k more ranks have arrived.
  char nothing = 0;
  for (int step = 0, distance = 1; distance < channel.size(); ++step, distance *= 2) {
    Transfers transfers;
    transfers.add(channel.receive(&nothing, 0, (channel.rank() - distance + channel.size()) % channel.size(), step));
    transfers.add(channel.send(&nothing, 0, (channel.rank() + distance) % channel.size(), step));
    transfers.wait();
  }
}

}  // namespace argand::parallel
