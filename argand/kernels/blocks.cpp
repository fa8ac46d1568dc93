#include "argand/kernels/blocks.h"

namespace argand::blocks {

#define ARGAND_DEFINE_BLOCK(name, Function) constinit Block<Function> name;
ARGAND_BLOCKS(ARGAND_DEFINE_BLOCK)

}  // namespace argand::blocks
