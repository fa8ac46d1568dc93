#include "argand/kernels/channels_last.h"

namespace argand::blocks {
namespace {

bool no_pools(const cpu::PoolShape&) { return false; }

}  // namespace

constinit Block<ConvTakesChannelsLast> conv_takes_channels_last(cpu::conv_takes_channels_last);
constinit Block<PoolsTakeChannelsLast> pools_take_channels_last(no_pools);

}  // namespace argand::blocks
