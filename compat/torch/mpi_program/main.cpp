// A program written for LibTorch of 1.4 to 1.7, as its calls were then: mpirun starts it, every process trains on its
// part of the data, and the gradients are averaged by hand.  What it learns is compared with one process that has all.
#include <c10/util/tempfile.h>
#include <torch/torch.h>

#include <c10d/ProcessGroupMPI.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

namespace {

struct Net : torch::nn::Module {
  Net() : hidden(8, 16), out(16, 2) {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::log_softmax(out->forward(torch::relu(hidden(x))), 1); }
  torch::nn::Linear hidden, out;
};

// Points on both sides of a plane.
struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t index) override {
    const torch::Tensor x = torch::sin(torch::arange(8, torch::kDouble) * (1.0 + static_cast<double>(index)));
    return {x, (x.sum() > 0).to(torch::kLong)};
  }
  torch::optional<size_t> size() const override { return 96; }
};

using Works = std::vector<std::shared_ptr<c10d::ProcessGroup::Work>>;

void wait_for(const Works& works) {
  for (const auto& work : works) work->wait();
}

void average(const std::shared_ptr<c10d::ProcessGroupMPI>& group, Net& net) {
  Works works;
  for (auto& parameter : net.named_parameters()) {
    std::vector<torch::Tensor> gradient = {parameter.value().grad()};
    works.push_back(group->allreduce(gradient));
  }
  wait_for(works);
  for (auto& parameter : net.named_parameters()) parameter.value().grad().data() /= group->getSize();
}

double train(Net& net, int processes, int process, const std::shared_ptr<c10d::ProcessGroupMPI>& group) {
  auto data = Points().map(torch::data::transforms::Stack<>());
  const auto sampler = torch::data::samplers::DistributedRandomSampler(data.size().value(), processes, process, false);
  const auto loader = torch::data::make_data_loader(std::move(data), sampler, 24 / processes);
  torch::optim::SGD optimizer(net.parameters(), 0.5);
  double loss_of_last = 0;
  for (int epoch = 0; epoch < 4; ++epoch)
    for (auto& batch : *loader) {
      net.zero_grad();
      const torch::Tensor loss = torch::nll_loss(net.forward(batch.data), batch.target);
      loss.backward();
      if (group) average(group, net);
      optimizer.step();
      loss_of_last = loss.item<double>();
    }
  return loss_of_last;
}

// The largest difference between the parameters of two models.
double difference(const Net& a, const Net& b) {
  double most = 0;
  for (size_t i = 0; i < a.parameters().size(); ++i)
    most = std::max(most, (a.parameters()[i] - b.parameters()[i]).abs().max().item<double>());
  return most;
}

bool check(bool good, const char* what) {
  if (!good) std::cerr << "mpi_program: wrong: " << what << std::endl;
  return good;
}

}  // namespace

int main() {
  auto group = c10d::ProcessGroupMPI::createProcessGroupMPI();
  const int size = group->getSize(), rank = group->getRank();
  torch::manual_seed(0);
  const auto net = std::make_shared<Net>(), alone = std::make_shared<Net>();
  net->to(torch::kDouble);
  alone->to(torch::kDouble);
  {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < net->parameters().size(); ++i) net->parameters()[i].copy_(alone->parameters()[i]);
  }
  train(*net, size, rank, group);

  // The same batches in one process: the samplers of all ranks, one after the other, are cut from one permutation.
  std::vector<torch::Tensor> mine = {net->hidden->weight.detach().clone()};
  std::vector<std::vector<torch::Tensor>> all(1);
  for (int r = 0; r < size; ++r) all[0].push_back(torch::zeros_like(mine[0]));
  group->allgather(all, mine)->wait();
  bool good = check(size >= 2, "mpirun started at least two processes");
  for (const torch::Tensor& theirs : all[0]) good &= check(theirs.equal(mine[0]), "all ranks have the same parameters");
  good &= check(difference(*net, *alone) > 1e-3, "it has learned something");

  // A group of some, a null one elsewhere.
  auto first_only = c10d::ProcessGroupMPI::createProcessGroupMPI({0});
  good &= check((first_only != nullptr) == (rank == 0), "a group of rank 0 alone");

  // One step with all the data, cut by ranks, is the step of one process.
  net->zero_grad();
  for (size_t i = 0; i < net->parameters().size(); ++i)
    alone->parameters()[i].data().copy_(net->parameters()[i].data());
  const torch::Tensor x = torch::sin(torch::arange(96 * 8, torch::kDouble).reshape({96, 8}));
  const torch::Tensor y = (x.sum(1) > 0).to(torch::kLong);
  torch::nll_loss(net->forward(x.chunk(size)[rank]), y.chunk(size)[rank]).backward();
  average(group, *net);
  alone->zero_grad();
  torch::nll_loss(alone->forward(x), y).backward();
  for (size_t i = 0; i < net->parameters().size(); ++i)
    good &= check(torch::allclose(net->parameters()[i].grad(), alone->parameters()[i].grad(), 1e-12, 1e-14),
                  "the mean of the gradients is that of the whole batch");
  if (rank == 0 && good) std::cout << "mpi_program: " << size << " processes trained as one" << std::endl;
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
