#include "argand/parallel/replica.h"

#include <algorithm>
#include <cstring>

#include "argand/core/grad_mode.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"

namespace argand::parallel {
namespace {

// "Float [3, 4]|weight" for each parameter, in lines.  Gradients are sent in the memory order of their parameters, so
// an order other than the usual one is part of it.
std::string described(const OrderedDict<std::string, Tensor>& parameters) {
  std::string text;
  for (const auto& p : parameters) {
    const Tensor& t = p.value();
    text += str(t.dtype(), " ", t.sizes());
    if (!t.is_contiguous() && t.is_non_overlapping_and_dense()) text += str(" with strides ", t.strides());
    text += str("|", p.key(), "\n");
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

// The texts of all ranks, by tensors where the model's are, which every backend takes.
std::vector<std::string> all_gather_texts(ProcessGroup& group, const std::string& text, const Device& device) {
  const auto options = TensorOptions().device(device);
  const auto ranks = static_cast<size_t>(group.size());
  std::vector<Tensor> lengths, texts;
  for (size_t r = 0; r < ranks; ++r) lengths.push_back(zeros({1}, options.dtype(kLong)));
  group.all_gather(lengths, tensor(static_cast<int64_t>(text.size())).reshape({1}).to(device))->wait();
  for (const Tensor& n : lengths) texts.push_back(empty({n.item<int64_t>()}, options.dtype(kByte)));
  const Tensor mine = empty({static_cast<int64_t>(text.size())}, kByte);
  if (!text.empty()) std::memcpy(mine.data_ptr(), text.data(), text.size());
  group.all_gather(texts, mine.to(device))->wait();
  std::vector<std::string> all;
  for (const Tensor& t : texts) {
    const Tensor here = t.cpu();
    all.emplace_back(static_cast<const char*>(here.data_ptr()), static_cast<size_t>(here.numel()));
  }
  return all;
}

}  // namespace

void check_same_parameters(ProcessGroup& group, const OrderedDict<std::string, Tensor>& parameters) {
  const NoGradGuard no_grad;
  const Device device = parameters.is_empty() ? Device(kCPU) : parameters.begin()->value().device();
  const std::vector<std::string> texts = all_gather_texts(group, described(parameters), device);
  const std::vector<std::string> first = lines_of(texts[0]);
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    const std::vector<std::string> theirs = lines_of(texts[rank]);
    ARGAND_CHECK(Error, theirs.size() == first.size(), "DDP expects same model across all ranks, but Rank 0 has ",
                 first.size(), " params, while rank ", rank, " has inconsistent ", theirs.size(), " params.");
    for (size_t i = 0; i < first.size(); ++i) {
      const size_t a = first[i].find('|'), b = theirs[i].find('|');
      ARGAND_CHECK(Error, first[i].compare(0, a, theirs[i], 0, b) == 0,
                   "DDP expects same model across all ranks: rank 0 has ", first[i].substr(a + 1), " of ",
                   first[i].substr(0, a), ", rank ", rank, " has ", theirs[i].substr(b + 1), " of ",
                   theirs[i].substr(0, b), " in its place");
    }
  }
}

void broadcast_state(ProcessGroup& group, const std::vector<Tensor>& tensors, int root) {
  if (!tensors.empty()) group.broadcast(tensors, root)->wait();
}

void broadcast_buffers(ProcessGroup& group, const std::vector<Tensor>& buffers, int root) {
  const NoGradGuard no_grad;
  std::vector<Tensor> rest = buffers;
  while (!rest.empty()) {
    const auto other = std::stable_partition(rest.begin(), rest.end(), [first = rest[0]](const Tensor& t) {
      return t.dtype() == first.dtype() && t.device() == first.device();
    });
    const std::vector<Tensor> same(rest.begin(), other);
    rest.erase(rest.begin(), other);
    std::vector<Tensor> parts;
    for (const Tensor& b : same) parts.push_back(b.detach().reshape({-1}));
    const Tensor flat = cat(parts);
    group.broadcast({flat}, root)->wait();
    if (group.rank() == root) continue;
    int64_t begin = 0;
    for (const Tensor& b : same) {
      b.set_data(flat.narrow(0, begin, b.numel()).view(b.sizes()).clone());
      begin += b.numel();
    }
  }
}

}  // namespace argand::parallel
