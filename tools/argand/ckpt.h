// `argand ckpt`: what a checkpoint of any format holds, how two differ, from one format to another, and whether one is
// whole.
#pragma once
#include <string>

namespace argand::cli {

// A line for each value: its name, dtype, shape, size, checksum of its elements, and with which it shares memory.  Of a
// folder of checkpoints (io/checkpoint_folder.h): its files, and what the newest whole one holds.
int show_checkpoint(const std::string& path);
// What only one has, and what differs; 0 if nothing does, else 1.  Tensors are compared by value, whatever the format.
int diff_checkpoints(const std::string& first, const std::string& second);
// Between .pt, .pth and .safetensors, as the ending of `to` says.  What the format cannot express is an error that
// names it, and then nothing is written; data about tensors that it has no place for is left out, and said.
int convert_checkpoint(const std::string& from, const std::string& to);
// Reads all of it; an error says what is wrong.  Of a folder of checkpoints: each file, or each save of several
// processes (rank_folder.h); 1 if one is damaged.
int verify_checkpoint(const std::string& path);

}  // namespace argand::cli
