// NCCL's functions, found in its library when first asked for: a program runs without it.
#pragma once
#include <string>

namespace argand::cuda {

// Makes the backend "nccl" known (runtime/communicator.h).
void register_nccl();

}  // namespace argand::cuda

#if ARGAND_NCCL

#include <nccl.h>

namespace argand::cuda {

// All of these are in NCCL 2.18.
struct NcclLibrary {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetErrorString) get_error_string;
  decltype(&ncclGetLastError) get_last_error;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank;
  decltype(&ncclCommSplit) split;
  decltype(&ncclCommGetAsyncError) get_async_error;
  decltype(&ncclCommFinalize) finalize;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclReduce) reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclReduceScatter) reduce_scatter;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
};

// Null if it is not there; `why` then says so.
const NcclLibrary* find_nccl(std::string* why = nullptr);

}  // namespace argand::cuda

#endif
