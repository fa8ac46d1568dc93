// Dicts as LibTorch's c10::Dict<Key, Mapped>: a handle to entries in the order of insertion.  All copies share them,
// including an IValue made from it.  Keys are numbers, bools, strings and tensors; tensors are equal if they are the
// same tensor. Finding is O(1), erasing O(size).  Members with a Key or Mapped other than IValue need
// argand/library/boxing.h. Thread safety: as a std::shared_ptr to a std::vector.
#pragma once
#include "argand/autograd/ivalue.h"

namespace argand {

namespace ivalue {
struct DictElements {
  DictElements() = default;
  DictElements(const DictElements&) = delete;  // the index refers to these entries
  DictElements& operator=(const DictElements&) = delete;
  std::vector<std::pair<IValue, IValue>> entries;
  size_t find(const IValue& key) const;                      // entries.size() if absent; ValueError for an invalid key
  std::pair<size_t, bool> insert(IValue key, IValue value);  // where it is, and whether it is new
  void erase(size_t i);
  void clear();

 private:
  struct Index;
  std::shared_ptr<Index> index_;  // null before the first entry
};
}  // namespace ivalue

template <class Key, class Mapped>
class Dict {
 public:
  using key_type = Key;
  using mapped_type = Mapped;
  using size_type = size_t;

  class iterator;
  class Entry {
   public:
    Key key() const { return of<Key>(entry().first); }
    Mapped value() const { return of<Mapped>(entry().second); }
    void setValue(Mapped value) const { entry().second = IValue(std::move(value)); }

   private:
    friend class Dict;
    friend class Dict::iterator;
    Entry(ivalue::DictElements* elements, size_t i) : elements_(elements), i_(i) {}
    std::pair<IValue, IValue>& entry() const { return elements_->entries[i_]; }
    ivalue::DictElements* elements_;
    size_t i_;
  };
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    const Entry& operator*() const { return entry_; }
    const Entry* operator->() const { return &entry_; }
    iterator& operator++() {
      ++entry_.i_;
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& o) const { return entry_.i_ == o.entry_.i_; }

   private:
    friend class Dict;
    iterator(ivalue::DictElements* elements, size_t i) : entry_(elements, i) {}
    size_t place() const { return entry_.i_; }
    Entry entry_;
  };

  Dict() : elements_(std::make_shared<ivalue::DictElements>()) {}
  explicit Dict(std::shared_ptr<ivalue::DictElements> elements) : elements_(std::move(elements)) {}

  iterator begin() const { return {elements_.get(), 0}; }
  iterator end() const { return {elements_.get(), size()}; }
  size_t size() const { return elements_->entries.size(); }
  bool empty() const { return elements_->entries.empty(); }
  iterator find(const Key& key) const { return {elements_.get(), elements_->find(IValue(key))}; }
  bool contains(const Key& key) const { return find(key) != end(); }
  // ValueError if there is no such key.
  Mapped at(const Key& key) const {
    const iterator it = find(key);
    ARGAND_CHECK(ValueError, it != end(), "Argument passed to at() was not in the map.");
    return it->value();
  }
  // Inserts if the key is new, else keeps the old value.  Returns the position, and whether the key is new.
  template <class K, class M>
  std::pair<iterator, bool> insert(K&& key, M&& value) const {
    const auto [i, is_new] =
        elements_->insert(IValue(Key(std::forward<K>(key))), IValue(Mapped(std::forward<M>(value))));
    return {iterator(elements_.get(), i), is_new};
  }
  template <class K, class M>
  std::pair<iterator, bool> insert_or_assign(K&& key, M&& value) const {
    Mapped mapped(std::forward<M>(value));
    const auto [i, is_new] = elements_->insert(IValue(Key(std::forward<K>(key))), IValue(mapped));
    if (!is_new) elements_->entries[i].second = IValue(std::move(mapped));
    return {iterator(elements_.get(), i), is_new};
  }
  void erase(iterator at) const { elements_->erase(at.place()); }
  size_t erase(const Key& key) const {
    const iterator it = find(key);
    if (it == end()) return 0;
    erase(it);
    return 1;
  }
  void clear() const { elements_->clear(); }
  void reserve(size_t n) const { elements_->entries.reserve(n); }
  // A copy that owns its entries.
  Dict copy() const {
    Dict out;
    for (const auto& [key, value] : elements_->entries) out.elements_->insert(key, value);
    return out;
  }
  bool is(const Dict& other) const { return elements_ == other.elements_; }
  const std::shared_ptr<ivalue::DictElements>& elements() const { return elements_; }

 private:
  template <class T>
  static T of(const IValue& v) {
    if constexpr (std::is_same_v<T, IValue>)
      return v;
    else
      return v.template to<T>();
  }
  std::shared_ptr<ivalue::DictElements> elements_;
};

}  // namespace argand
