#include "tools/argand/train.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <optional>

#include "argand/core/cpu_generator.h"
#include "argand/data/data_loader.h"
#include "argand/data/prefetcher.h"
#include "argand/exec/autocast.h"
#include "argand/exec/trace.h"
#include "argand/io/file.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/grad_scaler.h"
#include "argand/parallel/distributed_data_parallel.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tools/argand/checkpoint.h"
#include "tools/argand/evaluate.h"
#include "tools/argand/image_data.h"
#include "tools/argand/optimizers.h"
#include "tools/argand/progress.h"
#include "tools/argand/ranks.h"
#include "tools/argand/report.h"
#include "tools/argand/signals.h"
#include "tools/argand/text.h"

namespace argand::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The steps of a process that --trace shows: kernels are compiled by then.
constexpr int64_t kTraceFrom = 10, kTraceTo = 20;
constexpr double kSaveEvery = 60;  // seconds that a crash may cost; the end of an epoch saves in any case

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::tm local{};
  localtime_r(&now, &local);
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local));
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw io::FileError(str("cannot make the folder '", path, "': ", error.message()), path, error.value());
}

// Refuses at the start what would otherwise be refused after the work, when the file is written.
void check_writable(const std::string& path) { const io::AtomicFile never_committed(path); }

int64_t count_right(const Tensor& logits, const Tensor& target) {
  return logits.argmax(1).eq(target).sum().item<int64_t>();
}

class Run {
 public:
  explicit Run(const TrainOptions& options)
      : o_(options),
        ranks_(options.device),
        device_(ranks_.device()),
        folder_(io::find_dataset(options.data)),
        mnist_(io::load_mnist(folder_, 256)),
        task_(task_of(mnist_)),
        train_(make_dataset(mnist_.train)),
        test_(make_dataset(mnist_.test)),
        loader_(train_,
                data::DataLoaderOptions(share_of_batch(options.batch_size))
                    .workers(options.workers)
                    .pin_memory(device_.is_cuda()),
                std::make_unique<ShareSampler>(options.batch_size, ranks_.rank(), ranks_.size())),
        scaler_(amp::GradScalerOptions().enabled(options.amp == "fp16")),
        progress_(ranks_.leads() ? ProgressOutput::standard() : no_output()),
        metrics_(options.metrics_path()) {
    if (ranks_.leads()) check_outputs();
    manual_seed(o_.seed);
    model_ = make_classifier(o_.arch, task_);
    model_->to(device_);
    optimizer_ = make_optimizer(o_.optimizer, o_.lr, model_->parameters());
    facts_ = make_facts();
    if (o_.resume || (o_.auto_resume && has_checkpoint())) resume();
    if (ranks_.alone()) return;
    ddp_.emplace(model_, parallel::DistributedDataParallelOptions().process_group(ranks_.group()));
    progress_.print(str(ranks_.size(), " processes, each with its part of every batch"));
    if (device_.is_cuda()) progress_.print(ranks_.way_of_gradients());
  }

  int main() {
    const StopOnSignal stop;
    for (; state_.epoch <= o_.epochs; next_epoch()) {
      if (!train_epoch()) return interrupted();
      finish_epoch();
    }
    end_trace();
    if (ranks_.leads()) write_outputs("");
    progress_.print(str("report: ", o_.report_path()));
    progress_.print(str("model:  ", o_.model_path()));
    ranks_.wait_for_all();
    return 0;
  }

 private:
  static ProgressOutput no_output() {
    ProgressOutput none = ProgressOutput::standard();
    none.terminal = false;
    none.write = [](std::string_view) {};
    return none;
  }

  // How many examples of a batch this process does.  It must have at least one, so that a loader can be made.
  int64_t share_of_batch(int64_t batch_size) const {
    ARGAND_CHECK(ValueError, batch_size >= ranks_.size(), "--batch-size: expected at least ", ranks_.size(),
                 ", an image for each process, got ", batch_size);
    return share_of(batch_size, ranks_.rank(), ranks_.size());
  }

  void check_outputs() const {
    make_folder(o_.out);
    for (const std::string& path : {o_.checkpoint_path(), o_.model_path(), o_.metrics_path(), o_.report_path()})
      check_writable(path);
    if (!o_.trace.empty()) check_writable(o_.trace);
  }

  RunFacts make_facts() const {
    RunFacts f;
    f.insert("arch", o_.arch);
    f.insert("data", o_.data);
    f.insert("channels", str(task_.channels));
    f.insert("height", str(task_.height));
    f.insert("width", str(task_.width));
    f.insert("classes", str(task_.classes));
    f.insert("optimizer", o_.optimizer);
    f.insert("lr", str(o_.lr));
    f.insert("batch_size", str(o_.batch_size));
    f.insert("seed", str(o_.seed));
    f.insert("amp", o_.amp);
    return f;
  }

  // As rank 0 sees it, so that all do the same.
  bool has_checkpoint() const {
    const bool here = std::filesystem::exists(o_.checkpoint_path());
    return ranks_.all_gather({here ? 1. : 0.})[0][0] != 0;
  }

  void resume() {
    state_ = load_checkpoint(o_.checkpoint_path(), *model_, *optimizer_, scaler_, facts_);
    if (ranks_.leads()) metrics_.resume(state_.epoch - 1);
    progress_.print(str("resuming at epoch ", state_.epoch, ", batch ", state_.batch));
  }

  // False if the run was asked to stop; the state is then that after the last finished step.
  bool train_epoch() {
    Generator generator = default_cpu_generator();
    if (state_.batch == 0 && state_.rng_at_epoch.empty()) state_.rng_at_epoch = generator.state();
    ranks_.take_from_first(state_.rng_at_epoch);  // one order for all
    generator.set_state(state_.rng_at_epoch);
    const auto begun = Clock::now();
    const double before = state_.seconds;
    progress_.begin_epoch(state_.epoch, o_.epochs, train_->size(), state_.batch * o_.batch_size);
    first_batch_ = state_.batch;
    data::Prefetcher batches(loader_.begin_at(state_.batch), loader_.end(), device_);
    if (!state_.rng_now.empty()) generator.set_state(state_.rng_now);
    model_->train();
    while (state_.batch * o_.batch_size < train_->size()) {
      if (stop_signal() != 0 || (o_.max_steps > 0 && state_.step >= o_.max_steps)) return false;
      data::Example<> batch;
      const bool any = batches.next(batch);  // the last batch may be too small for all processes
      trace_step([&] { train_step(any ? &batch : nullptr); });
      state_.rng_now = generator.state();
      state_.seconds = before + seconds_since(begun);
      if (seconds_since(saved_) > kSaveEvery) save();
    }
    progress_.end_epoch();
    return true;
  }

  // One step, as a part of the trace if it is among those to be shown.
  template <class F>
  void trace_step(F step) {
    if (traces() && steps_done_ == kTraceFrom) trace_.emplace(device_);
    {
      const tracing::Span span("step", state_.batch - first_batch_);
      step();
    }
    if (++steps_done_ == kTraceTo) end_trace();
  }
  bool traces() const { return !o_.trace.empty() && ranks_.leads(); }
  void end_trace() {
    if (trace_) {
      io::write_file(o_.trace, trace_->json());
      progress_.print(str("trace: ", o_.trace));
      trace_.reset();
    } else if (traces() && steps_done_ <= kTraceFrom) {
      progress_.print(str("no trace: the run ended before step ", kTraceFrom + 1));
    }
  }
  // A span for the step's work on its stream, numbered as the prefetcher numbers its batches.
  tracing::Span compute_span(const char* name) const {
    std::optional<Stream> stream;
    if (device_.is_accelerator()) stream = current_stream(device_);
    return {name, state_.batch - first_batch_, "compute stream", stream};
  }

  // Sums over the examples of a step.
  struct StepSums {
    double loss = 0;
    int64_t correct = 0;
  };

  // `batch`: this process's part of it; null if it has none.
  void train_step(const data::Example<>* batch) {
    const int64_t images = std::min(o_.batch_size, train_->size() - state_.batch * o_.batch_size);
    optimizer_->zero_grad();
    StepSums sums;
    if (batch) {
      sums = forward_and_backward(*batch, images);
    } else {
      (void)scaler_.scale(zeros(IntArrayRef(), TensorOptions(kFloat).device(device_)));
      ddp_->shadow();
    }
    const amp::StepReport report = optimizer_step();
    sums = of_all_ranks(sums);
    note_step(sums, images);
    if (!report.stepped)
      progress_.print(str("step ", state_.step, ": ", report.describe(model_->named_parameters()),
                          "; the scale is now ", scaler_.get_scale()));
  }

  StepSums forward_and_backward(const data::Example<>& batch, int64_t images) {
    const int64_t mine = batch.target.size(0);
    Tensor logits, loss;
    {
      const tracing::Span span = compute_span("forward");
      const AutocastGuard autocast(device_.type(), o_.amp == "fp16" ? kHalf : kBFloat16, o_.amp != "off");
      logits = ddp_ ? (*ddp_)(batch.data) : model_->forward(batch.data);
      loss = cross_entropy_loss(logits, batch.target);
    }
    {
      const tracing::Span span = compute_span("backward");
      // The mean of the ranks' gradients is that of all images where ranks have different numbers of them, too.
      const int64_t weight = mine * ranks_.size();
      const Tensor weighted =
          weight == images ? loss : loss * (static_cast<double>(weight) / static_cast<double>(images));
      scaler_.scale(weighted).backward();
    }
    return {loss.item<double>() * static_cast<double>(mine), count_right(logits.detach(), batch.target)};
  }

  StepSums of_all_ranks(const StepSums& mine) {
    if (ranks_.alone()) return mine;
    StepSums sums;
    for (const std::vector<double>& of_rank : ranks_.all_gather(
             {mine.loss, static_cast<double>(mine.correct), static_cast<double>(StopOnSignal::signal())})) {
      sums.loss += of_rank[0];
      sums.correct += static_cast<int64_t>(of_rank[1]);
      if (of_rank[2] != 0) signal_of_ranks_ = static_cast<int>(of_rank[2]);
    }
    return sums;
  }

  // A signal that came to any of the processes before the last step, so that all stop after the same one.
  int stop_signal() const { return ranks_.alone() ? StopOnSignal::signal() : signal_of_ranks_; }

  void note_step(const StepSums& sums, int64_t images) {
    const double value = sums.loss / static_cast<double>(images);
    state_.loss_sum += sums.loss;
    state_.correct += sums.correct;
    ++state_.batch;
    ++state_.step;
    seen_ = std::min(train_->size(), state_.batch * o_.batch_size);
    state_.curve.push_back(
        {(static_cast<double>(state_.epoch) - 1) + static_cast<double>(seen_) / static_cast<double>(train_->size()),
         value});
    progress_.update(seen_, state_.loss_sum / static_cast<double>(seen_),
                     static_cast<double>(state_.correct) / static_cast<double>(seen_));
    if (!std::isfinite(value) && warned_epoch_ != state_.epoch) {
      warned_epoch_ = state_.epoch;
      progress_.print(str("warning: the loss of step ", state_.step, " is ", value));
    }
  }

  amp::StepReport optimizer_step() {
    const tracing::Span span = compute_span("optimizer");
    amp::StepReport report = scaler_.step(*optimizer_);
    scaler_.update();
    return report;
  }

  void finish_epoch() {
    if (!ranks_.leads()) return;
    const auto begun = Clock::now();
    evaluation_ = evaluate(*model_, *test_, static_cast<int>(task_.classes), device_, 24);
    const auto n = static_cast<double>(train_->size());
    metrics_.append({state_.epoch, state_.loss_sum / n, static_cast<double>(state_.correct) / n, evaluation_.loss,
                     evaluation_.accuracy, o_.lr, state_.seconds + seconds_since(begun)});
    char line[64];
    std::snprintf(line, sizeof(line), "test accuracy %.4f", evaluation_.accuracy);
    progress_.print(line);
  }

  void next_epoch() {
    ++state_.epoch;
    state_.batch = 0;
    state_.loss_sum = 0;
    state_.correct = 0;
    state_.seconds = 0;
    state_.rng_at_epoch = default_cpu_generator().state();
    state_.rng_now.clear();  // the order of the epoch is drawn first
    save();
  }

  void save() {
    if (!ranks_.leads()) return;
    save_checkpoint(o_.checkpoint_path(), *model_, *optimizer_, scaler_, state_, facts_);
    saved_ = Clock::now();
  }

  int interrupted() {
    save();
    end_trace();
    if (ranks_.leads()) write_outputs(str("Interrupted in epoch ", state_.epoch, "; go on with --resume."));
    progress_.print(str("stopped after step ", state_.step, "; saved ", o_.checkpoint_path(), "; go on with --resume"));
    ranks_.wait_for_all();
    return stop_signal() != 0 ? 128 + stop_signal() : 0;
  }

  void write_outputs(const std::string& note) {
    save_model(o_.model_path(), *model_, facts_);
    if (evaluation_.confusion.total() == 0)
      evaluation_ = evaluate(*model_, *test_, static_cast<int>(task_.classes), device_, 24);
    Report r;
    r.title = o_.arch + " on " + o_.data;
    r.subtitle = str(today(), ", ", device_, ", ", get_num_threads(), " threads");
    r.note = note;
    for (const auto& fact : facts_) r.settings.emplace_back(fact.key(), fact.value());
    r.settings.emplace_back("parameters", thousands(parameter_count()));
    r.settings.emplace_back("training images", thousands(train_->size()));
    if (!ranks_.alone()) r.settings.emplace_back("processes", str(ranks_.size()));
    r.settings.emplace_back("argand", ARGAND_VERSION);
    r.epochs = metrics_.rows();
    r.steps = state_.curve;
    r.confusion = evaluation_.confusion;
    r.class_names = class_names(o_.data);
    for (const Prediction& p : evaluation_.mistakes)
      r.mistakes.push_back({test_image(p.index), p.truth, p.predicted, p.probability});
    write_report(o_.report_path(), r);
  }

  int64_t parameter_count() const {
    int64_t n = 0;
    for (const Tensor& p : model_->parameters()) n += p.numel();
    return n;
  }

  vision::Image test_image(int64_t index) const {
    const io::ImageSet& s = mnist_.test;
    vision::Image image;
    image.width = static_cast<int>(s.width);
    image.height = static_cast<int>(s.height);
    image.channels = 1;
    const auto* first = s.images.data() + index * s.height * s.width;
    image.pixels.assign(first, first + s.height * s.width);
    return image;
  }

  const TrainOptions o_;
  const Ranks ranks_;
  const Device device_;
  const std::string folder_;
  const io::Mnist mnist_;
  const ImageTask task_;
  const std::shared_ptr<const data::AnyDataset> train_, test_;
  data::DataLoader loader_;
  std::shared_ptr<Classifier> model_;
  std::optional<parallel::DistributedDataParallel<std::shared_ptr<Classifier>>> ddp_;  // with several processes
  std::unique_ptr<optim::Optimizer> optimizer_;
  amp::GradScaler scaler_;
  RunFacts facts_;
  RunState state_;
  Progress progress_;
  MetricsCsv metrics_;
  Evaluation evaluation_;
  int64_t seen_ = 0;
  std::optional<tracing::Recording> trace_;
  int signal_of_ranks_ = 0;
  int64_t steps_done_ = 0;   // by this process
  int64_t first_batch_ = 0;  // of this process, in the epoch
  Clock::time_point saved_ = Clock::now();
  int warned_epoch_ = 0;  // one warning about a loss that is not finite is enough for an epoch
};

}  // namespace

int train(const TrainOptions& options) { return Run(options).main(); }

}  // namespace argand::cli
