// The `argand` command.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "argand/base/str.h"
#include "argand/models/tables.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tools/argand/ckpt.h"
#include "tools/argand/info.h"
#include "tools/argand/mem.h"
#include "tools/argand/models.h"
#include "tools/argand/optimizers.h"
#include "tools/argand/predict.h"
#include "tools/argand/train.h"
#include "tools/argand/workers.h"

namespace {

using argand::cli::TrainOptions;

// CLI::NonNegativeNumber lets nan pass.
std::string finite_and_not_negative(const std::string& text) {
  double value = 0;
  const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
  return good ? "" : "expected a finite number >= 0, got " + text;
}

// CLI11 takes numbers that are too large for the largest there is, and 010 for 8.
template <class T>
std::string whole_number(const std::string& text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good =
      error == std::errc() && end == text.data() + text.size() && value >= 0 && text == std::to_string(value);
  return good ? "" : argand::str("expected a whole number from 0 to ", std::numeric_limits<T>::max(), ", got ", text);
}

constexpr const char* kCommands = "a command (train, eval, predict, ckpt, mem, info or ops)";

void add_train(CLI::App& app, TrainOptions& o, int& status) {
  CLI::App* c = app.add_subcommand("train", "Train an image classifier");
  c->add_option("--data", o.data, "A folder with MNIST's four IDX files, or fashion-mnist")->capture_default_str();
  c->add_option("--arch", o.arch, "The network")
      ->check(CLI::IsMember(argand::cli::architectures()))
      ->capture_default_str();
  c->add_option("--epochs", o.epochs, "Passes over the training images")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  c->add_option("--batch-size", o.batch_size, "Images per step")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  c->add_option("--lr", o.lr, "Learning rate")->check(finite_and_not_negative)->capture_default_str();
  c->add_option("--optimizer", o.optimizer, "adam, adamw, sgd or rmsprop")
      ->check(CLI::IsMember(argand::cli::optimizers()))
      ->capture_default_str();
  c->add_option("--device", o.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  c->add_option("--gpus", o.gpus,
                "Train in several processes, one for each of so many GPUs of this machine, or all; --batch-size stays "
                "that of all together");
  c->add_option("--amp", o.amp, "Mixed precision: off, bf16 or fp16 (with loss scaling)")
      ->check(CLI::IsMember({"off", "bf16", "fp16"}))
      ->capture_default_str();
  c->add_option("--seed", o.seed, "Of weights and order")->check(whole_number<uint64_t>)->capture_default_str();
  c->add_option("--out", o.out, "Folder for the report, the model, metrics.csv and checkpoints")->capture_default_str();
  c->add_option("--workers", o.workers, "Threads that prepare batches")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  c->add_option("--max-steps", o.max_steps, "Stop after so many steps, as if interrupted; 0: no limit")
      ->check(whole_number<int64_t>);
  c->add_option("--trace", o.trace,
                "Write a trace of steps 11 to 20 to this file (JSON, for https://ui.perfetto.dev): host, copy stream, "
                "compute stream");
  c->add_flag("--resume", o.resume, "Go on from the checkpoint in --out");
  c->add_flag("--auto-resume", o.auto_resume,
              "Go on from the checkpoint in --out if there is one: for launchers that start processes again");
  c->callback([&] { status = o.gpus.empty() ? argand::cli::train(o) : argand::cli::train_on_gpus(o); });
}

struct EvalOptions {
  std::string model = "out/model.safetensors", data, device = "auto";
};

void add_eval(CLI::App& app, EvalOptions& o, int& status) {
  CLI::App* eval = app.add_subcommand("eval", "Measure a saved model on test images");
  eval->add_option("--model", o.model, "A model.safetensors of `argand train`")->capture_default_str();
  eval->add_option("--data", o.data, "Data set; that of the training if not given");
  eval->add_option("--device", o.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  eval->callback([&] { status = argand::cli::evaluate_model(o.model, o.data, o.device); });
}

void add_predict(CLI::App& app, argand::cli::PredictOptions& o, int& status) {
  CLI::App* c = app.add_subcommand("predict", "Classify image files");
  std::string names;
  for (const auto& a : argand::models::architectures()) names += ", " + a.name;
  c->add_option("--model", o.model, "A model.safetensors of `argand train`, or one of" + names.substr(1))
      ->capture_default_str();
  c->add_option(
      "--weights", o.weights,
      "Of such a network: a file of torchvision's, or a name (IMAGENET1K_V1, DEFAULT) that is looked up in the "
      "cache");
  c->add_option("--classes", o.classes, "A text file with the name of a class on each line; numbers if not given");
  c->add_option("--top", o.top, "Classes to print")->check(CLI::Range(1, 1000))->capture_default_str();
  c->add_flag("--invert", o.invert, "For dark drawings on white, where the training images are light on black");
  c->add_option("--device", o.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  c->add_option("images", o.images, "PNG or JPEG files")->required();
  c->callback([&] { status = argand::cli::predict(o); });
}

struct CkptOptions {
  std::string first, second;
};

void add_ckpt(CLI::App& app, CkptOptions& o, int& status) {
  CLI::App* c = app.add_subcommand("ckpt", "Look into checkpoints: .pt, .pth, .safetensors");
  c->require_subcommand(1);
  const auto add = [&](const char* name, const char* text, const char* second, auto run) {
    CLI::App* sub = c->add_subcommand(name, text);
    sub->add_option("file", o.first, "A checkpoint")->required();
    if (second) sub->add_option(second, o.second, "Another")->required();
    sub->callback([&status, run] { status = run(); });
  };
  add("show", "What it holds: dtypes, shapes, sizes, checksums, shared memory", nullptr,
      [&o] { return argand::cli::show_checkpoint(o.first); });
  add("diff", "What two differ in; exit status 1 if in anything", "other",
      [&o] { return argand::cli::diff_checkpoints(o.first, o.second); });
  add("convert", "To the format that the name of the new file ends with: .pt, .pth or .safetensors", "to",
      [&o] { return argand::cli::convert_checkpoint(o.first, o.second); });
  add("verify", "Read all of it and compare checksums", nullptr,
      [&o] { return argand::cli::verify_checkpoint(o.first); });
}

void add_mem(CLI::App& app, argand::cli::MemOptions& o, int& status) {
  CLI::App* c = app.add_subcommand("mem", "Memory of a GPU in a few training steps on random images");
  c->add_option("--arch", o.arch, "The network")
      ->check(CLI::IsMember(argand::cli::architectures()))
      ->capture_default_str();
  c->add_option("--batch-size", o.batch_size, "Images per step")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  c->add_option("--steps", o.steps, "Training steps")->check(CLI::Range(1, 1000000))->capture_default_str();
  c->add_option("--optimizer", o.optimizer, "adam, adamw, sgd or rmsprop")
      ->check(CLI::IsMember(argand::cli::optimizers()))
      ->capture_default_str();
  c->add_option("--device", o.device, "cuda or cuda:N")->capture_default_str();
  c->add_option("--seed", o.seed, "Of weights and images")->check(whole_number<uint64_t>)->capture_default_str();
  c->add_option("--snapshot", o.snapshot, "Write every block, and what happened, to this file: .json or .html");
  c->callback([&] { status = argand::cli::print_memory(o); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("argand: train and use neural networks");
  app.require_subcommand(0, 1);  // none is our own message below, an unknown one that of CLI11, which names it
  app.set_version_flag("--version", ARGAND_VERSION);
  int status = 0, threads = 0;
  app.add_option("--threads", threads, "CPU threads; all cores if not given")->check(CLI::Range(1, 1024));
  app.parse_complete_callback([&] {
    if (threads > 0) argand::set_num_threads(threads);
  });
  TrainOptions train_options;
  EvalOptions eval_options;
  argand::cli::PredictOptions predict_options;
  argand::cli::MemOptions mem_options;
  add_train(app, train_options, status);
  add_eval(app, eval_options, status);
  add_predict(app, predict_options, status);
  CkptOptions ckpt_options;
  add_ckpt(app, ckpt_options, status);
  add_mem(app, mem_options, status);
  app.add_subcommand("info", "Version, devices and features")->callback([&] { status = argand::cli::print_info(); });
  bool only_fallbacks = false;
  CLI::App* ops = app.add_subcommand("ops", "The operators there are");
  ops->add_flag("--fallbacks", only_fallbacks, "Only those that run on the CPU when their tensors are on a GPU");
  ops->callback([&] { status = argand::cli::print_ops(only_fallbacks); });
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError(kCommands);
  } catch (const CLI::ExtrasError& e) {
    if (!app.get_subcommands().empty()) return app.exit(e);
    return app.exit(CLI::ValidationError(app.remaining().front(), argand::str("expected ", kCommands)));
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "argand: %s\n", e.what());
    return 1;
  }
  // Results that did not arrive (a full disk behind a pipe or a file) must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "argand: cannot write to standard output: %s\n", std::strerror(errno));
    return status != 0 ? status : 1;
  }
  return status;
}
