#include "argand/runtime/cuda/nccl_library.h"

#if ARGAND_NCCL

#include "argand/base/str.h"
#include "argand/runtime/cuda/dynamic_library.h"

namespace argand::cuda {
namespace {

constexpr int kOldest = NCCL_VERSION(2, 18, 1);

struct Loaded {
  NcclLibrary functions;
  std::string why_not;
};

const Loaded* load() {
  const char* const name = "libnccl.so.2";
  const DynamicLibrary library(name, ARGAND_NCCL_PATH);
  auto* all = new Loaded{};
  NcclLibrary& f = all->functions;
  const bool complete =
      library.find(f.get_version, "ncclGetVersion") && library.find(f.get_error_string, "ncclGetErrorString") &&
      library.find(f.get_last_error, "ncclGetLastError") && library.find(f.get_unique_id, "ncclGetUniqueId") &&
      library.find(f.init_rank, "ncclCommInitRankConfig") && library.find(f.split, "ncclCommSplit") &&
      library.find(f.get_async_error, "ncclCommGetAsyncError") && library.find(f.finalize, "ncclCommFinalize") &&
      library.find(f.destroy, "ncclCommDestroy") && library.find(f.abort, "ncclCommAbort") &&
      library.find(f.group_start, "ncclGroupStart") && library.find(f.group_end, "ncclGroupEnd") &&
      library.find(f.all_reduce, "ncclAllReduce") && library.find(f.reduce, "ncclReduce") &&
      library.find(f.broadcast, "ncclBroadcast") && library.find(f.all_gather, "ncclAllGather") &&
      library.find(f.reduce_scatter, "ncclReduceScatter") && library.find(f.send, "ncclSend") &&
      library.find(f.receive, "ncclRecv");
  int version = 0;
  if (!complete)
    all->why_not = str(name, " was not found, or is older than NCCL 2.18");
  else if (f.get_version(&version) != ncclSuccess || version < kOldest)
    all->why_not = str(name, " is of version ", version, ", older than NCCL 2.18");
  return all;
}

}  // namespace

const NcclLibrary* find_nccl(std::string* why) {
  static const Loaded* const loaded = load();
  if (why) *why = loaded->why_not;
  return loaded->why_not.empty() ? &loaded->functions : nullptr;
}

}  // namespace argand::cuda

#endif
