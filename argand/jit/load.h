// Reads TorchScript archives: what torch.jit.save writes (.pt), whose code argand/jit runs.
//
//   FOLDER/code/__torch__/...      classes and functions in TorchScript's language, a restricted Python
//   FOLDER/constants.pkl           a tuple of the constants of the code; constants/0 ... their storages
//   FOLDER/data.pkl                the module: an object with its attributes; data/0 ... their storages
//   FOLDER/version                 FOLDER/extra/NAME   files that the program added
//
// Reading runs nothing.  The code is parsed when its classes are first needed and compiled when it is first called; it
// can reach no file, process or import, but it may compute as much and as long as it likes.
#pragma once
#include <iosfwd>

#include "argand/io/file.h"
#include "argand/jit/module.h"

namespace argand::jit {

struct ArchiveLimits {
  int64_t code_bytes = int64_t{1} << 28;   // all files of the code together
  int64_t extra_bytes = int64_t{1} << 30;  // all extra files that are asked for together
};

// Tensors come to `device`; without one, to where they were saved.  `extra_files`: those whose names are there get the
// contents of the archive's files, all others stay as they are.
// FormatError for a malformed archive, jit::SyntaxError for code that is not of the language, DeviceError for a device
// that is not there.
Module load(const io::ByteSource& source, std::optional<Device> device = std::nullopt,
            ExtraFilesMap* extra_files = nullptr, const ArchiveLimits& limits = {});
Module load(const std::string& filename, std::optional<Device> device = std::nullopt, bool load_debug_files = true);
Module load(const std::string& filename, std::optional<Device> device, ExtraFilesMap& extra_files,
            bool load_debug_files = true);
Module load(std::istream& in, std::optional<Device> device = std::nullopt, bool load_debug_files = true);
Module load(std::istream& in, std::optional<Device> device, ExtraFilesMap& extra_files, bool load_debug_files = true);

// The text of a file of the module's code, and the names of all.
std::vector<std::string> code_files(const Module& module);
std::string code_text(const Module& module, const std::string& name);
// Compiles all code now, which finds what else would be found at the first call.
void compile_all(const Module& module);

}  // namespace argand::jit
