#include "tools/argand/checkpoint.h"

#include <charconv>
#include <cstring>

#include "argand/base/sha256.h"
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"
#include "argand/io/safetensors.h"
#include "argand/ops/functions.h"
#include "argand/serialize/training_state.h"

namespace argand::cli {
namespace {

using serialize::bytes_of;
using serialize::tensor_of;

constexpr const char* kModel = "model.";
constexpr const char* kOptimizer = "optimizer.";
constexpr const char* kScaler = "scaler.";
constexpr const char* kDigest = "sha256";

// One row per step: epoch, loss.
Tensor curve_tensor(const std::vector<StepLoss>& curve) {
  const Tensor t = exec::new_tensor({Dims{static_cast<int64_t>(curve.size()), 2}, kDouble}, kCPU);
  if (curve.empty()) return t;
  double* p = raw<double>(t);
  for (const StepLoss& step : curve) *p++ = step.epoch, *p++ = step.loss;
  return t;
}
std::vector<StepLoss> curve_of(const Tensor& t) {
  ARGAND_CHECK(ValueError, t.dtype() == kDouble && t.dim() == 2 && t.size(1) == 2,
               "checkpoint: the curve must be float64 of shape [steps, 2], got ", t.dtype(), " ", t.sizes());
  std::vector<StepLoss> curve(static_cast<size_t>(t.size(0)));
  if (curve.empty()) return curve;
  const double* p = raw<double>(t);
  for (StepLoss& step : curve) step.epoch = *p++, step.loss = *p++;
  return curve;
}

template <class T>
T number(const io::Metadata& m, const std::string& key) {
  const std::string* text = m.find(key);
  T value{};
  ARGAND_CHECK(ValueError, text, "checkpoint: '", key, "' is missing");
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  ARGAND_CHECK(ValueError, error == std::errc() && at == end, "checkpoint: '", key, "' is no number it can hold: '",
               *text, "'");
  return value;
}

// The entries whose names begin with `prefix`, without it.
StateDict part(const StateDict& all, const std::string& prefix) {
  StateDict out;
  for (const auto& item : all)
    if (item.key().compare(0, prefix.size(), prefix) == 0) out.insert(item.key().substr(prefix.size()), item.value());
  return out;
}

const Tensor& entry(const StateDict& all, const std::string& name) {
  const Tensor* t = all.find(name);
  ARGAND_CHECK(ValueError, t, "checkpoint: '", name, "' is missing");
  return *t;
}

// Over all that the file holds, so that a flipped bit is an error and not a run that goes on from wrong numbers.
std::string digest_of(const StateDict& tensors, const io::Metadata& metadata) {
  Sha256 hash;
  const auto add = [&](std::string_view text) { hash.update(str(text.size(), ":")).update(text); };
  for (const auto& item : metadata)
    if (item.key() != kDigest) add(item.key()), add(item.value());
  for (const auto& item : tensors) {
    const Tensor t = exec::dense(item.value().cpu());
    add(str(item.key(), " ", t.dtype(), " ", t.sizes()));
    if (t.numel() > 0) hash.update(raw<char>(t), t.nbytes());
  }
  return hash.hex();
}

void check_facts(const std::string& path, const io::Metadata& metadata, const RunFacts& facts) {
  for (const auto& fact : facts) {
    const std::string* saved = metadata.find(fact.key());
    ARGAND_CHECK(ValueError, saved && *saved == fact.value(), path, ": the checkpoint was made with ", fact.key(), " ",
                 saved ? *saved : std::string("unknown"), ", this run has ", fact.value());
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const nn::Module& model, const optim::Optimizer& optimizer,
                     const amp::GradScaler& scaler, const RunState& s, const RunFacts& facts) {
  StateDict all;
  for (const auto& item : model.state_dict()) all.insert(kModel + item.key(), item.value());
  for (const auto& item : optimizer.state_dict()) all.insert(kOptimizer + item.key(), item.value());
  for (const auto& item : scaler.state_dict()) all.insert(kScaler + item.key(), item.value());
  all.insert("rng_at_epoch", tensor_of(s.rng_at_epoch));
  all.insert("rng_now", tensor_of(s.rng_now));
  all.insert("curve", curve_tensor(s.curve));
  io::Metadata metadata;
  metadata.insert("format", "argand-checkpoint-1");
  for (const auto& fact : facts) metadata.insert(fact.key(), fact.value());
  metadata.insert("epoch", str(s.epoch));
  metadata.insert("batch", str(s.batch));
  metadata.insert("step", str(s.step));
  metadata.insert("loss_sum", str(s.loss_sum));
  metadata.insert("correct", str(s.correct));
  metadata.insert("seconds", str(s.seconds));
  metadata.insert(kDigest, digest_of(all, metadata));
  io::save_safetensors(path, all, metadata, /*checksums=*/false);  // the SHA-256 is of all of it
}

RunState load_checkpoint(const std::string& path, nn::Module& model, optim::Optimizer& optimizer,
                         amp::GradScaler& scaler, const RunFacts& facts) {
  const io::TensorFile file = io::load_safetensors(path);
  const std::string* format = file.metadata.find("format");
  ARGAND_CHECK(ValueError, format && *format == "argand-checkpoint-1", path, ": not a checkpoint of `argand train`");
  const std::string* digest = file.metadata.find(kDigest);
  ARGAND_CHECK(IoError, digest && *digest == digest_of(file.tensors, file.metadata), path,
               ": the checkpoint is damaged: what it holds does not have the SHA-256 it gives");
  check_facts(path, file.metadata, facts);
  RunState s;
  s.epoch = number<int>(file.metadata, "epoch");
  s.batch = number<int64_t>(file.metadata, "batch");
  s.step = number<int64_t>(file.metadata, "step");
  s.loss_sum = number<double>(file.metadata, "loss_sum");
  s.correct = number<int64_t>(file.metadata, "correct");
  s.seconds = number<double>(file.metadata, "seconds");
  s.rng_at_epoch = bytes_of(entry(file.tensors, "rng_at_epoch"));
  s.rng_now = bytes_of(entry(file.tensors, "rng_now"));
  // Checkpoints made before there was one go on without what it would show.
  if (const Tensor* curve = file.tensors.find("curve")) s.curve = curve_of(*curve);
  // Each checks before it changes anything, and the model goes last.
  const StateDict before = optimizer.state_dict(), scaler_before = scaler.state_dict();
  optimizer.load_state_dict(part(file.tensors, kOptimizer));
  try {
    scaler.load_state_dict(part(file.tensors, kScaler));
    model.load_state_dict(part(file.tensors, kModel));
  } catch (...) {
    optimizer.load_state_dict(before);
    scaler.load_state_dict(scaler_before);
    throw;
  }
  return s;
}

void save_model(const std::string& path, const nn::Module& model, const RunFacts& facts) {
  io::Metadata metadata;
  metadata.insert("format", "argand-model-1");
  for (const auto& fact : facts) metadata.insert(fact.key(), fact.value());
  io::save_safetensors(path, model.state_dict(), metadata);
}

}  // namespace argand::cli
