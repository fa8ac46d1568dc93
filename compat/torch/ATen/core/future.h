// c10::ivalue::Future: a value that may not be there yet.  Work::getFuture() gives one.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ATen/ATen.h"
#include "argand/autograd/list.h"
#include "argand/library/boxing.h"
#include "c10/util/Exception.h"

namespace c10 {

// The name of the type that a future holds; nothing checks it.
class TypePtr {
 public:
  explicit TypePtr(std::string name) : name_(std::move(name)) {}
  TypePtr(const std::shared_ptr<AnyType>&) : TypePtr("Any") {}
  const TypePtr* operator->() const { return this; }
  const std::string& str() const { return name_; }

 private:
  std::string name_;
};
struct NoneType {
  static TypePtr get() { return TypePtr("NoneType"); }
};
struct TensorType {
  static TypePtr get() { return TypePtr("Tensor"); }
};
struct ListType {
  static TypePtr create(const TypePtr& element) { return TypePtr("List[" + element->str() + "]"); }
  static TypePtr ofTensors() { return create(TensorType::get()); }
};

}  // namespace c10

namespace argand::ivalue {

using c10::TypePtr;

// Thread-safe.  Callbacks run on the thread that completes the future, or at once if it is complete.  For a collective,
// that is its group's thread, where a callback must not wait for another collective.
class Future final : public RefCounted {
 public:
  explicit Future(TypePtr type, std::vector<Device> devices = {})
      : type_(std::move(type)), devices_(std::move(devices)) {}
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  struct FutureError final : std::exception {
    FutureError() = default;
    explicit FutureError(std::string&& message) : error_msg(std::move(message)) {}
    const char* what() const noexcept override { return error_msg.c_str(); }
    std::string error_msg;
  };

  bool completed() const { return completed_; }
  bool hasValue() const { return completed() && !exception_ptr(); }
  bool hasError() const { return exception_ptr() != nullptr; }
  std::exception_ptr exception_ptr() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  std::string tryRetrieveErrorMessage() const {
    try {
      const std::exception_ptr error = exception_ptr();
      TORCH_CHECK(error, "No error present on the future.");
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "Unknown Exception Type";
    }
  }

  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return completed_.load(); });
  }
  void waitAndThrow() {
    wait();
    if (error_) std::rethrow_exception(error_);
  }
  // The value of a complete future; throws its error.
  IValue value() const {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(completed_, "Future::value: it is not complete; wait() waits");
    if (error_) std::rethrow_exception(error_);
    return value_;
  }
  const IValue& constValue() const {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(completed_ && !error_, "Future::constValue: expected one that is complete, without an error");
    return value_;
  }

  void markCompleted(IValue value = {}) { complete(std::move(value), nullptr); }
  void setError(std::exception_ptr error) { complete({}, std::move(error)); }
  // Does nothing if it is complete.
  void setErrorIfNeeded(std::exception_ptr error) { try_to_complete({}, std::move(error)); }

  // harmless: it says whether a value on a GPU is waited for, which a callback's own reads do
  template <class F>
  void addCallback(F callback, bool /*uses_future*/ = true) {
    static_assert(std::is_invocable_r_v<void, F, Future&>, "The callback must have signature void(Future&)");
    {
      const std::lock_guard lock(mutex_);
      if (!completed_) {
        callbacks_.emplace_back(std::move(callback));
        return;
      }
    }
    callback(*this);
  }
  // A future of the callback's result or error.
  template <class F>
  intrusive_ptr<Future> then(F callback, TypePtr type) {
    static_assert(std::is_invocable_r_v<IValue, F, Future&>, "The callback must have signature IValue(Future&)");
    const intrusive_ptr<Future> child = createInstance(std::move(type));
    addCallback([child, callback = std::move(callback)](Future& self) mutable {
      IValue value;
      try {
        value = callback(self);
      } catch (const std::exception&) {
        return child->setError(std::current_exception());
      }
      child->markCompleted(std::move(value));
    });
    return child;
  }
  // The same for a callback that returns a future.
  template <class F>
  intrusive_ptr<Future> thenAsync(F callback, TypePtr type) {
    static_assert(std::is_invocable_r_v<intrusive_ptr<Future>, F, Future&>,
                  "The callback must have signature c10::intrusive_ptr<Future>(Future&)");
    const intrusive_ptr<Future> child = createInstance(std::move(type));
    addCallback([child, callback = std::move(callback)](Future& self) mutable {
      intrusive_ptr<Future> between;
      try {
        between = callback(self);
      } catch (const std::exception&) {
        return child->setError(std::current_exception());
      }
      between->addCallback([child](Future& result) {
        if (const std::exception_ptr error = result.exception_ptr()) return child->setError(error);
        child->markCompleted(result.value());
      });
    });
    return child;
  }
  intrusive_ptr<Future> createInstance(TypePtr type) const {
    return intrusive_ptr<Future>(new Future(std::move(type), devices_));
  }
  const TypePtr& elementType() const { return type_; }
  const std::vector<Device>& devices() const { return devices_; }

 private:
  void complete(IValue value, std::exception_ptr error) {
    TORCH_CHECK(try_to_complete(std::move(value), std::move(error)),
                "Attempting to mark a completed Future as complete again. Note that a Future can only be "
                "marked completed once.");
  }
  // Returns false if it was complete already.
  bool try_to_complete(IValue value, std::exception_ptr error) {
    std::vector<std::function<void(Future&)>> callbacks;
    {
      const std::lock_guard lock(mutex_);
      if (completed_) return false;
      value_ = std::move(value);
      error_ = std::move(error);
      completed_ = true;
      callbacks.swap(callbacks_);
    }
    done_.notify_all();
    for (const auto& callback : callbacks) callback(*this);
    return true;
  }

  const TypePtr type_;
  const std::vector<Device> devices_;
  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::atomic<bool> completed_{false};
  IValue value_;
  std::exception_ptr error_;
  std::vector<std::function<void(Future&)>> callbacks_;
};

}  // namespace argand::ivalue
