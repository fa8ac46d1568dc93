// Messages by MPI, for processes that mpirun, srun or the like started.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "argand/runtime/transport.h"

namespace argand {
namespace {

std::string text_of(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  return {text, static_cast<size_t>(length)};
}

void check(int error, const char* call) {
  ARGAND_CHECK(BackendError, error == MPI_SUCCESS, "mpi: ", call, ": ", text_of(error));
}

// The reason of an abort, which ends all waiting.
struct Abort {
  std::mutex mutex;
  std::exception_ptr reason;
  void throw_if_set() {
    const std::lock_guard lock(mutex);
    if (reason) std::rethrow_exception(reason);
  }
  bool is_set() {
    const std::lock_guard lock(mutex);
    return reason != nullptr;
  }
};

// MPI counts bytes in an int, so a large message is sent in parts.
constexpr size_t kPart = size_t{1} << 30;

class MpiTransfer final : public Transfer {
 public:
  MpiTransfer(MPI_Comm comm, std::shared_ptr<Abort> abort, bool sends, void* data, size_t bytes, int peer, int tag)
      : abort_(std::move(abort)), peer_(peer) {
    abort_->throw_if_set();
    size_t begin = 0;
    do {
      auto* part = static_cast<char*>(data) + begin;
      const int count = static_cast<int>(std::min(kPart, bytes - begin));
      requests_.emplace_back();
      const int from = peer == Transport::kAnyRank ? MPI_ANY_SOURCE : peer;
      check(sends ? MPI_Isend(part, count, MPI_BYTE, peer, tag, comm, &requests_.back())
                  : MPI_Irecv(part, count, MPI_BYTE, from, tag, comm, &requests_.back()),
            sends ? "MPI_Isend" : "MPI_Irecv");
      begin += kPart;
    } while (begin < bytes);
  }
  ~MpiTransfer() override {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  int wait() override {
    for (MPI_Request& request : requests_) {
      MPI_Status status;
      for (int tries = 0, done = 0;; ++tries) {
        check(MPI_Test(&request, &done, &status), "MPI_Test");
        if (done) break;
        abort_->throw_if_set();
        // Polls without sleeping for the first microseconds only.
        if (tries > 200) std::this_thread::sleep_for(std::chrono::microseconds(tries < 2000 ? 10 : 200));
      }
      if (status.MPI_SOURCE >= 0) peer_ = status.MPI_SOURCE;
    }
    requests_.clear();
    return peer_;
  }

 private:
  std::vector<MPI_Request> requests_;
  const std::shared_ptr<Abort> abort_;
  int peer_;
};

bool went_wrong = false;  // then no process may wait for the others at the end

void finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && !went_wrong) MPI_Finalize();
}

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiTransport() override {
    if (abort_->is_set()) {
      went_wrong = true;  // MPI_Comm_free waits for the others
    } else {
      MPI_Comm_free(&comm_);
    }
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) override {
    return std::make_unique<MpiTransfer>(comm_, abort_, true, const_cast<void*>(data), bytes, to,
                                         static_cast<int>(tag));
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) override {
    return std::make_unique<MpiTransfer>(comm_, abort_, false, data, bytes, from, static_cast<int>(tag));
  }
  void abort(std::exception_ptr reason) override {
    const std::lock_guard lock(abort_->mutex);
    if (!abort_->reason) abort_->reason = std::move(reason);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  const std::shared_ptr<Abort> abort_ = std::make_shared<Abort>();
};

void initialize() {
  int initialized = 0, finalized = 0, provided = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  ARGAND_CHECK(BackendError, !finalized, "mpi: MPI_Finalize was called, and MPI cannot be started again");
  if (!initialized) {
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    std::atexit(&finalize);
  } else {
    MPI_Query_thread(&provided);
  }
  ARGAND_CHECK(NotImplementedError, provided == MPI_THREAD_MULTIPLE,
               "mpi: this MPI, or how the program started it, does not allow calls from several threads");
  int* most = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  ARGAND_CHECK(NotImplementedError, found && *most == INT_MAX, "mpi: this MPI has tags of less than 31 bits");
}

std::unique_ptr<Transport> make(Rendezvous&, const TransportOptions& options) {
  initialize();
  auto transport = std::make_unique<MpiTransport>();
  ARGAND_CHECK(ValueError, options.rank < 0 || (options.rank == transport->rank() && options.size == transport->size()),
               "mpi: expected rank ", options.rank, " of ", options.size, ", but MPI says rank ", transport->rank(),
               " of ", transport->size());
  return transport;
}

[[maybe_unused]] const bool registered = (register_transport("mpi", &make), true);

}  // namespace
}  // namespace argand
