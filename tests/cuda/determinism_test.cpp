// 1000 repeats of ops of each family, forward and backward, while another stream keeps the GPU busy: the bits are those
// of the first time.  Compared on the device, so that repeats follow each other without a wait.
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "argand/autograd/engine.h"
#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

constexpr int kRepeats = 1000;
const TensorOptions kOnGpu = TensorOptions(kFloat).device(kCUDA);

// Matrix products, reductions and sorts on a stream of their own, of sizes that fill the device and leave it in turn.
class Load {
 public:
  Load() : thread_([this] { work(); }) {}
  ~Load() {
    stop_ = true;
    thread_.join();
  }

 private:
  void work() {
    const cuda::StreamGuard on(cuda::stream_from_pool());
    const Tensor a = randn({1536, 1536}, kOnGpu), b = randn({1 << 22}, kOnGpu);
    while (!stop_) {
      for (int i = 0; i < 4; ++i) {
        a.mm(a);
        b.cumsum(0).sum();
      }
      b.slice(0, 0, 1 << 18).sort();
      cuda::current_stream().synchronize();
    }
  }
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Tensor integers(int64_t bound, IntArrayRef sizes) { return randint(bound, sizes).cuda(); }

// The bits of floating point numbers as integers: NaN equals itself, -0 differs from 0.
Tensor bits(const Tensor& t) {
  if (t.scalar_type() == kFloat) return t.contiguous().view(kInt);
  if (t.scalar_type() == kHalf || t.scalar_type() == kBFloat16) return t.contiguous().view(kShort);
  if (t.scalar_type() == kDouble) return t.contiguous().view(kLong);
  return t;
}

using Results = std::vector<Tensor>;
using Family = std::function<Results()>;

// The results of `f` and the gradients of its inputs, for one gradient of the (first) result that stays the same.
Family with_gradients(Results inputs, std::function<Tensor(const Results&)> f) {
  for (Tensor& t : inputs)
    if (t.is_floating_point()) t.requires_grad_();
  Tensor direction;
  {
    const NoGradGuard no_grad;
    direction = randn_like(f(inputs));
  }
  return [inputs, f, direction] {
    Results wanted;
    for (const Tensor& t : inputs)
      if (t.requires_grad()) wanted.push_back(t);
    const Tensor out = f(inputs);
    Results all = autograd::grad({out}, wanted, {direction}, {}, false, true);
    all.push_back(out.detach());
    return all;
  };
}

std::map<std::string, Family> families() {
  manual_seed(7);
  const auto r = [](IntArrayRef sizes) { return randn(sizes, kOnGpu); };
  const Tensor x = r({512, 777}), image = r({16, 8, 28, 28}), rows = integers(100, {5000}),
               many = integers(40, {20000});
  const Tensor x16 = x.to(kBFloat16);
  std::map<std::string, Family> f;
  f["pointwise chain"] =
      with_gradients({r({300, 401}), r({401})}, [](const Results& i) { return (i[0] * i[1] + 2).tanh().sigmoid(); });
  f["sum whole"] = with_gradients({r({1 << 20})}, [](const Results& i) { return i[0].sum(); });
  f["sum dim 0"] = with_gradients({x}, [](const Results& i) { return i[0].sum(0); });
  f["sum dim 1"] = with_gradients({x}, [](const Results& i) { return i[0].sum(1); });
  f["sum bfloat16"] = [x16] { return Results{x16.sum(), x16.sum(0), x16.sum(1)}; };
  f["mean, var, std"] = with_gradients({x}, [](const Results& i) { return i[0].var(0) + i[0].std(0) * i[0].mean(0); });
  f["norm"] = with_gradients({x}, [](const Results& i) { return i[0].norm(2, 1); });
  f["prod"] = with_gradients({r({64, 50})}, [](const Results& i) { return i[0].prod(1); });
  f["max, argmax"] = [x] { return Results{x.amax(0), x.argmax(1), x.amin()}; };
  f["max gradient"] = with_gradients({x}, [](const Results& i) { return i[0].amax(1); });
  f["logsumexp"] = with_gradients({x}, [](const Results& i) { return i[0].logsumexp(0); });
  f["softmax"] = with_gradients({x}, [](const Results& i) { return i[0].softmax(1); });
  f["log_softmax dim 0"] = with_gradients({x}, [](const Results& i) { return i[0].log_softmax(0); });
  f["layer_norm"] =
      with_gradients({x, r({777}), r({777})}, [](const Results& i) { return layer_norm(i[0], {777}, i[1], i[2]); });
  f["group_norm"] =
      with_gradients({image, r({8}), r({8})}, [](const Results& i) { return group_norm(i[0], 4, i[1], i[2]); });
  f["batch_norm"] = with_gradients({image, r({8}), r({8})}, [](const Results& i) {
    return batch_norm(i[0], i[1], i[2], Tensor(), Tensor(), true, 0.1, 1e-5, false);
  });
  f["cumsum"] = with_gradients({x}, [](const Results& i) { return i[0].cumsum(1) + i[0].cumsum(0); });
  f["sort"] = [x] {
    const auto [values, order] = x.sort(1);
    return Results{values, order};
  };
  f["sort long, equal keys"] = [many] {
    const auto [values, order] = many.sort();
    return Results{values, order};
  };
  f["topk"] = [x] {
    const auto [values, order] = x.topk(20, 1);
    return Results{values, order};
  };
  f["unique, bincount"] = [many] { return Results{std::get<0>(_unique2(many)), many.bincount()}; };
  f["nonzero, masked_select"] = [x] { return Results{x.gt(0.5).nonzero(), x.masked_select(x.lt(0))}; };
  f["embedding"] = with_gradients({r({100, 64})}, [rows](const Results& i) { return embedding(i[0], rows); });
  f["index_select"] = with_gradients({r({100, 64})}, [rows](const Results& i) { return i[0].index_select(0, rows); });
  f["index, many equal"] = with_gradients({r({100, 64})}, [rows](const Results& i) { return i[0].index({rows}); });
  f["gather"] =
      with_gradients({r({64, 100})}, [g = integers(100, {64, 900})](const Results& i) { return i[0].gather(1, g); });
  f["index_add"] =
      with_gradients({r({100, 64}), r({5000, 64})}, [rows](const Results& i) { return i[0].index_add(0, rows, i[1]); });
  f["scatter_add"] =
      with_gradients({r({100}), r({20000})}, [many](const Results& i) { return i[0].scatter_add(0, many, i[1]); });
  f["index_put accumulate"] = with_gradients({r({100, 8}), r({5000, 8})},
                                             [rows](const Results& i) { return i[0].index_put({rows}, i[1], true); });
  f["mm"] = with_gradients({r({300, 200}), r({200, 500})}, [](const Results& i) { return i[0].mm(i[1]); });
  f["mm long inner"] = with_gradients({r({32, 40000}), r({40000, 24})}, [](const Results& i) { return i[0].mm(i[1]); });
  f["mm bfloat16"] = [a = r({500, 700}).to(kBFloat16), b = r({700, 300}).to(kBFloat16)] { return Results{a.mm(b)}; };
  f["bmm"] = with_gradients({r({20, 30, 40}), r({20, 40, 50})}, [](const Results& i) { return i[0].bmm(i[1]); });
  f["linear"] = with_gradients({r({400, 100}), r({60, 100}), r({60})},
                               [](const Results& i) { return linear(i[0], i[1], i[2]).relu(); });
  f["conv2d"] = with_gradients({image, r({16, 8, 3, 3}), r({16})}, [](const Results& i) {
    return conv2d(i[0], i[1], i[2], {1, 1}, {1, 1});
  });
  f["conv2d few channels"] = with_gradients({r({64, 3, 28, 28}), r({16, 3, 3, 3}), r({16})}, [](const Results& i) {
    return conv2d(i[0], i[1], i[2], {1, 1}, {1, 1});
  });
  f["conv2d few channels in shares"] =
      with_gradients({r({64, 16, 14, 14}), r({32, 16, 3, 3}), r({32})}, [](const Results& i) {
        return conv2d(i[0], i[1], i[2], {1, 1}, {1, 1});
      });
  f["conv2d strided, in groups"] = with_gradients({image, r({16, 4, 3, 3}), r({16})}, [](const Results& i) {
    return conv2d(i[0], i[1], i[2], {2, 2}, {1, 1}, {1, 1}, 2);
  });
  f["max_pool2d"] = with_gradients({image}, [](const Results& i) { return max_pool2d(i[0], 3, 2); });
  f["avg_pool2d"] = with_gradients({image}, [](const Results& i) { return avg_pool2d(i[0], 3, 2); });
  f["adaptive_avg_pool2d"] = with_gradients({image}, [](const Results& i) {
    return adaptive_avg_pool2d(i[0], {5, 5});
  });
  f["cross_entropy"] = with_gradients(
      {r({2000, 100})}, [t = integers(100, {2000})](const Results& i) { return cross_entropy_loss(i[0], t); });
  f["nll_loss weighted"] =
      with_gradients({r({2000, 100})}, [t = integers(100, {2000}), w = rand({100}, kOnGpu)](const Results& i) {
        return nll_loss(i[0].log_softmax(1), t, w);
      });
  f["bce, mse, l1"] = with_gradients({x}, [y = rand({512, 777}, kOnGpu)](const Results& i) {
    return binary_cross_entropy_with_logits(i[0], y) + mse_loss(i[0], y) + l1_loss(i[0], y);
  });
  f["fft"] = with_gradients({x}, [](const Results& i) { return fft_rfft(i[0]).abs() + fft_ifft2(i[0]).abs().sum(); });
  f["stft"] = with_gradients({r({4, 9000})}, [w = rand({400}, kOnGpu) + 1](const Results& i) {
    const Tensor frames = stft(i[0], 400, 100, 400, w, true, "reflect", false, true, true);
    return istft(frames * 2, 400, 100, 400, w);
  });
  f["dropout"] = with_gradients({x}, [](const Results& i) {
    backend_of(kCUDA).default_generator(0).set_current_seed(5);
    return dropout(i[0], 0.3, true);
  });
  f["random numbers"] = [] {
    backend_of(kCUDA).default_generator(0).set_current_seed(5);
    return Results{randn({10000}, kOnGpu), rand({10000}, kOnGpu), randperm(1000, TensorOptions(kLong).device(kCUDA))};
  };
  f["transpose, cat, flip"] = with_gradients({x, r({300, 777})}, [](const Results& i) {
    return cat({i[0], i[1]}, 0).t().contiguous().flip({0});
  });
  f["tril, roll"] = with_gradients({x}, [](const Results& i) { return i[0].tril().roll(3, 1); });
  return f;
}

class Determinism : public ComputingCudaTest {};

TEST_F(Determinism, AThousandRepeatsUnderLoad) {
  size_t count = 0;
  const auto all = families();
  const Load load;
  for (const auto& [name, family] : all) {
    Results first = family();
    for (Tensor& t : first) t = t.defined() ? bits(t.detach()).clone() : t;
    Tensor different = zeros({}, TensorOptions(kLong).device(kCUDA));
    for (int i = 1; i < kRepeats; ++i) {
      const Results again = family();
      for (size_t k = 0; k < first.size(); ++k) {
        if (!first[k].defined()) continue;
        ASSERT_TRUE(again[k].sizes() == first[k].sizes()) << name << ", result " << k;
        different.add_(bits(again[k]).ne(first[k]).sum());
      }
    }
    EXPECT_EQ(different.item().toLong(), 0) << name << ": elements that differ in " << kRepeats << " repeats";
    ++count;
  }
  std::printf("[  NOTE    ] %zu families, %d repeats each\n", count, kRepeats);
}

// The comparison sees one bit.
TEST_F(Determinism, OneBitIsADifference) {
  const Tensor a = ones({1000}, kOnGpu), b = a.clone();
  b.view(kInt)[500].add_(1);
  EXPECT_EQ(bits(a).ne(bits(b)).sum().item().toLong(), 1);
  EXPECT_EQ(bits(zeros({1}, kOnGpu)).ne(bits(-zeros({1}, kOnGpu))).sum().item().toLong(), 1) << "-0";
}

}  // namespace
}  // namespace argand
