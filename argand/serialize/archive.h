// Archives: trees of tensors and values under names, to and from files and streams, with LibTorch's names.
//
//   serialize::OutputArchive out;            serialize::InputArchive in;
//   out.write("weight", weight);             in.load_from("model.pt");
//   out.save_to("model.pt");                 in.read("weight", weight);
//
// The file is a safetensors file (io/safetensors.h): data alone, nothing in it is ever run.  An entry of a nested
// archive is named by the path to it, with dots.  What that format has no place for stands in its metadata:
//
//   "requires_grad NAME"  the tensor requires grad         "value NAME"  an IValue that is no tensor, as "int 5"
//   "undefined NAME"      an undefined tensor              "complex128 NAME"  a tensor stored as pairs of float64
//   "device NAME"         the GPU it was on, as "cuda:0"
//
// Elements are stored row-major: a tensor comes back contiguous, and two that shared memory do not any more.
//
// load_from() also reads archives of LibTorch's torch::save and of TorchScript (io/torch_file.h): their tensors,
// numbers, texts and lists of them.
#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "argand/autograd/ivalue.h"
#include "argand/core/state_dict.h"

namespace argand::serialize {

// The entries of an archive by their paths, in order.
using Entries = OrderedDict<std::string, IValue>;

class OutputArchive {
 public:
  OutputArchive();
  // ValueError if the key is there already.
  void write(const std::string& key, const IValue& value);
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  // Adds the entries of an archive under `key`.
  void write(const std::string& key, OutputArchive& nested_archive);

  // ValueError for values that cannot be stored; then nothing is written.  A file is replaced whole or not at all.
  void save_to(const std::string& filename);
  void save_to(std::ostream& stream);
  // `func` takes bytes and their number, and returns how many it took: all, or an IoError is thrown.
  void save_to(const std::function<size_t(const void*, size_t)>& func);

 private:
  Entries entries_;
};

class InputArchive {
 public:
  InputArchive();
  // Tensors come to `device`; without one, to where they were saved (DeviceError where that GPU is not there).  IoError
  // for what is no archive.
  void load_from(const std::string& filename, std::optional<Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);
  // `read_func(pos, buffer, nbytes)` returns how many bytes it gave.
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read_func,
                 const std::function<size_t()>& size_func, std::optional<Device> device = std::nullopt);

  // Whether there is such an entry, which is then read.  A defined tensor takes over the entry's elements, sizes and
  // dtype and stays the same tensor; so does its requires_grad.
  bool try_read(const std::string& key, IValue& value);
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, InputArchive& archive);
  // ValueError if there is none.
  void read(const std::string& key, IValue& value);
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, InputArchive& archive);

  // The names of entries and nested archives, in order.
  std::vector<std::string> keys() const;
  // All tensors of this archive and those nested in it, by their paths from here.
  StateDict state_dict() const;
  // The device that load_from() was given.
  const std::optional<Device>& device() const { return device_; }

 private:
  const IValue* find(const std::string& key) const;
  std::string full_name(const std::string& key) const { return prefix_ + key; }
  std::shared_ptr<const Entries> entries_;
  std::optional<Device> device_;
  std::string prefix_;  // for a nested archive, its path and a dot
};

// A tensor alone in an archive.
OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
InputArchive& operator>>(InputArchive& archive, Tensor& tensor);

}  // namespace argand::serialize
