// `argand ckpt`: what a checkpoint of any format holds, how two differ, from one format to another, and whether one is
// whole.
#pragma once
#include <string>

namespace argand::cli {

// Prints a line for each value: name, dtype, shape, size, checksum of its elements, and with which it shares memory.
// For a folder of checkpoints (io/checkpoint_folder.h): its files, and what the newest whole one holds.
int show_checkpoint(const std::string& path);
// Prints what only one has, and what differs; returns 0 if nothing does, else 1.  Compares tensors by value.
int diff_checkpoints(const std::string& first, const std::string& second);
// Converts between .pt, .pth and .safetensors, as the ending of `to` says.  What the format cannot express is an error
// that names it, and nothing is written.  Metadata that it has no place for is left out, and a message says so.
int convert_checkpoint(const std::string& from, const std::string& to);
// Reads all of it; an error says what is wrong.  In a folder of checkpoints it reads each file, or each save of several
// processes (rank_folder.h); returns 1 if one is damaged.
int verify_checkpoint(const std::string& path);

}  // namespace argand::cli
