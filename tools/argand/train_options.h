// What `argand train` is asked to do.
#pragma once
#include <cstdint>
#include <string>

namespace argand::cli {

struct TrainOptions {
  std::string data = "fashion-mnist";
  std::string arch = "cnn";
  int epochs = 3;
  int64_t batch_size = 64;
  double lr = 1e-3;
  std::string optimizer = "adam";
  std::string device = "auto";
  std::string gpus;         // "all" or a number: start that many workers; empty: train in this process
  std::string amp = "off";  // autocast to bfloat16 ("bf16") or float16 with a GradScaler ("fp16")
  uint64_t seed = 0;
  std::string out = "out";
  bool resume = false;
  bool auto_resume = false;  // if there is a checkpoint
  int64_t workers = 1;
  int64_t max_steps = 0;  // stop after so many steps in all, as if interrupted; 0: no limit

  std::string trace;  // write a trace of some steps to this file

  std::string checkpoint_path() const { return out + "/checkpoint.safetensors"; }
  std::string model_path() const { return out + "/model.safetensors"; }
  std::string metrics_path() const { return out + "/metrics.csv"; }
  std::string report_path() const { return out + "/report.html"; }
};

}  // namespace argand::cli
