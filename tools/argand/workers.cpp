#include "tools/argand/workers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "argand/base/env.h"
#include "argand/base/error.h"
#include "argand/parallel/launch.h"
#include "argand/parallel/store/secret.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/runtime/backend.h"
#include "tools/argand/device.h"

namespace argand::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(10);

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (const uint8_t b : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", b);
    text += two;
  }
  return text;
}

// Signals that are waited for instead of handled, for a scope; threads that are made in it leave them alone, too.
class WaitedSignals {
 public:
  WaitedSignals() {
    sigemptyset(&set_);
    for (const int number : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~WaitedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WaitedSignals(const WaitedSignals&) = delete;
  WaitedSignals& operator=(const WaitedSignals&) = delete;

  const sigset_t& before() const { return before_; }
  // The next one; 0 after half a second.
  int next() const {
    const timespec limit{0, 500'000'000};
    const int number = ::sigtimedwait(&set_, nullptr, &limit);
    return std::max(number, 0);
  }

 private:
  sigset_t set_, before_;
};

class Workers {
 public:
  Workers(const std::vector<std::string>& command, int count, const WaitedSignals& signals)
      : command_(command), signals_(signals) {
    if (!env("ARGAND_STORE_SECRET")) ::setenv("ARGAND_STORE_SECRET", hex(parallel::random_nonce()).c_str(), 1);
    parallel::TCPStoreOptions options;
    options.is_server = true;
    options.port = 0;
    store_ = std::make_unique<parallel::TCPStore>("127.0.0.1", options);
    for (int rank = 0; rank < count; ++rank) start(rank, count);
  }

  int run() {
    for (reap(); any(); reap()) {
      const int number = signals_.next();
      if (number == SIGINT || number == SIGTERM) {
        asked_ = true;
        send(number);
      }
      if (failed_ != 0 && !asked_ && Clock::now() > killed_at_) send(SIGKILL);
    }
    return failed_;
  }

 private:
  std::vector<std::string> variables(int rank, int count) const {
    std::vector<std::string> all;
    for (char** v = environ; *v; ++v) all.emplace_back(*v);
    const auto set = [&](const std::string& name, const std::string& value) {
      std::erase_if(all, [&](const std::string& v) { return v.rfind(name + "=", 0) == 0; });
      all.push_back(name + "=" + value);
    };
    set("RANK", std::to_string(rank));
    set("LOCAL_RANK", std::to_string(rank));
    set("WORLD_SIZE", std::to_string(count));
    set("LOCAL_WORLD_SIZE", std::to_string(count));
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", std::to_string(store_->port()));
    set("TORCHELASTIC_USE_AGENT_STORE", "True");  // this process holds it
    if (!env("OMP_NUM_THREADS") && !env("ARGAND_NUM_THREADS"))
      set("OMP_NUM_THREADS",
          std::to_string(std::max(1U, std::thread::hardware_concurrency() / static_cast<unsigned>(count))));
    return all;
  }

  void start(int rank, int count) {
    std::vector<std::string> command = command_, environment = variables(rank, count);
    std::vector<char*> arguments, pointers;
    for (std::string& part : command) arguments.push_back(part.data());
    for (std::string& v : environment) pointers.push_back(v.data());
    arguments.push_back(nullptr);
    pointers.push_back(nullptr);
    const pid_t parent = ::getpid(), child = ::fork();
    ARGAND_CHECK(Error, child >= 0, "cannot start worker ", rank, ": fork failed");
    if (child == 0) {  // only what is safe after a fork
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
      ::setpgid(0, 0);  // Ctrl-C comes to the parent alone, which passes it on
      ::pthread_sigmask(SIG_SETMASK, &signals_.before(), nullptr);
      ::execvpe(arguments[0], arguments.data(), pointers.data());
      ::_exit(127);
    }
    workers_.push_back(child);
  }

  bool any() const {
    return std::any_of(workers_.begin(), workers_.end(), [](pid_t p) { return p != 0; });
  }
  void send(int number) const {
    for (const pid_t worker : workers_)
      if (worker != 0) ::kill(worker, number);
  }

  void reap() {
    for (size_t i = 0; i < workers_.size(); ++i) {
      int status = 0;
      if (workers_[i] == 0 || ::waitpid(workers_[i], &status, WNOHANG) <= 0) continue;
      workers_[i] = 0;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != 0 && failed_ == 0) first_failure(i, code, WIFSIGNALED(status));
    }
  }
  void first_failure(size_t worker, int code, bool by_signal) {
    failed_ = code;
    killed_at_ = Clock::now() + kGrace;
    if (asked_ || !any()) return;  // asked: they all save and end
    std::fprintf(stderr, "argand: worker %zu ended %s %d; ending the others\n", worker,
                 by_signal ? "by signal" : "with exit status", by_signal ? code - 128 : code);
    send(SIGTERM);
  }

  const std::vector<std::string> command_;
  const WaitedSignals& signals_;
  std::unique_ptr<parallel::TCPStore> store_;
  std::vector<pid_t> workers_;  // 0: has ended
  int failed_ = 0;
  bool asked_ = false;  // by a signal that was passed on
  Clock::time_point killed_at_;
};

}  // namespace

int run_workers(const std::vector<std::string>& command, int count) {
  const WaitedSignals signals;
  return Workers(command, count, signals).run();
}

int workers_for_gpus(const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  ARGAND_CHECK(ValueError, text == "all" || (error == std::errc() && end == text.data() + text.size() && count >= 1),
               "--gpus: expected all or a number from 1, got ", text);
  const std::string why_not = why_no_gpu();
  ARGAND_CHECK(DeviceError, why_not.empty(), "--gpus ", text, ": ", why_not);
  const int there = backend_of(kCUDA).device_count();
  ARGAND_CHECK(DeviceError, count <= there, "--gpus ", text, ": this machine has ", there,
               there == 1 ? " GPU" : " GPUs");
  return text == "all" ? there : count;
}

namespace {

// The command of this process without --gpus and its value.
std::vector<std::string> command_of_worker() {
  std::ifstream line("/proc/self/cmdline");
  std::vector<std::string> words, command = {std::filesystem::read_symlink("/proc/self/exe")};
  for (std::string word; std::getline(line, word, '\0');) words.push_back(word);
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--gpus") {
      ++i;
    } else if (words[i].rfind("--gpus=", 0) != 0) {
      command.push_back(words[i]);
    }
  }
  return command;
}

}  // namespace

int train_on_gpus(const TrainOptions& options) {
  ARGAND_CHECK(ValueError, options.device == "auto",
               "--gpus: each worker takes a GPU of its own, so there is no "
               "--device beside it, got ",
               options.device);
  const std::optional<parallel::Launch> launch = parallel::find_launch();
  ARGAND_CHECK(ValueError, !launch, "--gpus starts the workers, but ", launch ? launch->launcher : "",
               " has started this process as one");
  const WaitedSignals signals;  // before threads are made, for the backend makes some
  const int count = workers_for_gpus(options.gpus);
  return Workers(command_of_worker(), count, signals).run();
}

}  // namespace argand::cli
