// libFuzzer's entry for TorchScript's code: any text is compiled, or an error says why not.  Nothing of it is run.
#include <map>

#include "argand/base/error.h"
#include "argand/jit/program.h"
#include "tests/fuzz/fuzz.h"

namespace argand::fuzz {

void torchscript(uint8_t option, std::string_view input) {
  const std::map<std::string, std::string> files{{"code/__torch__.py", std::string(input)}};
  accepts<Error>([&] { jit::Program::make(files, option % 11)->compile_all(); });
}

}  // namespace argand::fuzz
