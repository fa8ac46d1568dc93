// The meaning of names in PyTorch's pickles, and how tensors are written in them.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "argand/io/pickle.h"

namespace argand::io {

// A storage as a pickle names it.
struct StorageRequest {
  std::string key, location;
  ScalarType dtype = kByte;
  bool untyped = false;  // bytes; `dtype` is kByte
  int64_t numel = 0;
};

class TorchNames final : public PickleNames {
 public:
  // `storages` returns all elements of a storage as a 1-dimensional tensor; it is called once per storage.  With
  // `objects`, objects of TorchScript's classes are read as their named data.
  TorchNames(std::function<Tensor(const StorageRequest&)> storages, bool objects, size_t max_tensors)
      : storages_(std::move(storages)), objects_(objects), left_(max_tensors) {}

  Value global(const std::string& module, const std::string& name) override;
  Value call(const Value& global, const Value& arguments) override;
  size_t cost(const Value& global, const Value& arguments) override;
  Value create(const Value& global, const Value& arguments) override;
  void set_state(Value& object, const Value& state) override;
  Value persistent(const Value& id) override;

 private:
  struct Known {
    StorageRequest request;
    Value storage;
  };
  Value tensor(const Value& arguments, size_t at_least, std::optional<ScalarType> dtype);
  Value with_state(Value tensor, const Value& state) const;
  const std::function<Tensor(const StorageRequest&)> storages_;
  const bool objects_;
  size_t left_;
  std::map<std::string, Known> known_;
};

class TorchForms final : public PickleForms {
 public:
  bool form_of(const Value& value, Form& form) override;
  // The written storages, in the order of their keys "0", "1", ...: for each a tensor that has it.
  const std::vector<Tensor>& storages() const { return storages_; }

 private:
  Value id_of(const Tensor& t);
  Form tensor_form(const Tensor& t);
  std::vector<Tensor> storages_;
  std::unordered_map<const void*, size_t> known_;
};

}  // namespace argand::io
