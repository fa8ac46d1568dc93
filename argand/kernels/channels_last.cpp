#include "argand/kernels/channels_last.h"

namespace argand::blocks {
namespace {

bool no_conv(const cpu::ConvShape&, ScalarType, bool) { return false; }
bool no_pools(const cpu::PoolShape&) { return false; }

}  // namespace

constinit Block<ConvTakesChannelsLast> conv_takes_channels_last(no_conv);
constinit Block<PoolsTakeChannelsLast> pools_take_channels_last(no_pools);

}  // namespace argand::blocks
