// The code of an archive: its files, parsed when a name of theirs is first asked for, and the classes and functions in
// them.  Thread safe.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "argand/jit/class.h"
#include "argand/jit/function.h"

namespace argand::jit {

class Program : public std::enable_shared_from_this<Program> {
 public:
  // `files`: the text of each by its name from the root of the archive, "code/__torch__/net.py".  `version`: that of
  // the archive, which decides what some ops mean.
  static std::shared_ptr<Program> make(std::map<std::string, std::string> files, int64_t version);
  ~Program();

  // Find a class or a function by its qualified name, "__torch__.net.Net"; null if there is none.  SyntaxError for a
  // file that cannot be parsed.
  std::shared_ptr<const Class> find_class(const std::string& name);
  const Function* find_function(const std::string& name);

  // Compiles all functions of all files; what a program would find only when it calls them is an error now.
  void compile_all();

  const std::map<std::string, std::string>& texts() const { return texts_; }
  int64_t version() const { return version_; }
  std::vector<IValue> constants;  // CONSTANTS.c0, ...; set before the first call

 private:
  struct File;
  Program(std::map<std::string, std::string> files, int64_t version);
  File* file_of(const std::string& name, std::string& last);
  std::shared_ptr<const Class> make_class(const File& file, const ClassTree& tree, const std::string& name);

  std::map<std::string, std::string> texts_;
  const int64_t version_;
  std::recursive_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<File>> files_;
  // Classes are given out with the program as their owner.
  std::unordered_map<std::string, std::unique_ptr<Class>> classes_;
  std::unordered_map<std::string, std::unique_ptr<Function>> functions_;
};

}  // namespace argand::jit
