// A CUDA library that is opened when it is first needed: loading all of them takes longer than many programs run.
#pragma once
#include <string>

namespace argand::cuda {

// Stays open as long as the process.
class DynamicLibrary {
 public:
  // The library is looked for by its name in the folders of ARGAND_CUDA_LIBRARY_PATH (separated by colons), where the
  // system looks for libraries, and then at `path`, where the build found it.
  DynamicLibrary(const std::string& name, const char* path);

  // False if the library or the function is not there.
  template <class F>
  bool find(F& function, const char* name) const {
    function = reinterpret_cast<F>(address_of(name));
    return function != nullptr;
  }

 private:
  void* address_of(const char* name) const;
  void* handle_;
};

}  // namespace argand::cuda
