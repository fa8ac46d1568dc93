// A map that keeps the order of insertion, as LibTorch's OrderedDict.
#pragma once
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "argand/base/error.h"

namespace argand {

template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    const Key& key() const { return pair_.first; }
    Value& value() { return pair_.second; }
    const Value& value() const { return pair_.second; }
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const std::pair<Key, Value>& pair() const { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  // `kind` names the keys in messages: "Parameter", "Submodule", ...
  explicit OrderedDict(std::string kind = "Key") : kind_(std::move(kind)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& i : items) insert(i.key(), i.value());
  }

  // ValueError if the key is there already.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    ARGAND_CHECK(ValueError, !contains(key), kind_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::forward<K>(key), std::forward<V>(value));
    return items_.back().value();
  }
  // For a value in braces.
  Value& insert(Key key, Value&& value) { return insert<Key, Value>(std::move(key), std::move(value)); }
  void update(const OrderedDict& other) {
    for (const Item& i : other) insert(i.key(), i.value());
  }
  void erase(const Key& key) {
    const auto it = index_.find(key);
    ARGAND_CHECK(IndexError, it != index_.end(), kind_, " '", key, "' doesn't exist");
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(it->second));
    index_.clear();
    for (size_t i = 0; i < items_.size(); ++i) index_.emplace(items_[i].key(), i);
  }
  void clear() {
    items_.clear();
    index_.clear();
  }

  Value* find(const Key& key) {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const { return find(key) != nullptr; }
  Value& operator[](const Key& key) {
    Value* v = find(key);
    ARGAND_CHECK(IndexError, v, kind_, " '", key, "' is not defined");
    return *v;
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }
  Item& operator[](size_t i) { return items_.at(i); }
  const Item& operator[](size_t i) const { return items_.at(i); }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  // IndexError if there are none.
  Item& front() {
    ARGAND_CHECK(IndexError, !is_empty(), "Called front() on an empty OrderedDict");
    return items_.front();
  }
  Item& back() {
    ARGAND_CHECK(IndexError, !is_empty(), "Called back() on an empty OrderedDict");
    return items_.back();
  }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  const std::vector<Item>& items() const { return items_; }
  const std::string& key_description() const noexcept { return kind_; }
  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const Item& i : items_) out.push_back(i.key());
    return out;
  }
  std::vector<Value> values() const {
    std::vector<Value> out;
    for (const Item& i : items_) out.push_back(i.value());
    return out;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> out;
    for (const Item& i : items_) out.push_back(i.pair());
    return out;
  }

 private:
  std::string kind_;
  std::unordered_map<Key, size_t> index_;
  std::vector<Item> items_;
};

}  // namespace argand
