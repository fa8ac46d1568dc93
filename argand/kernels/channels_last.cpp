#include "argand/kernels/channels_last.h"

namespace argand::blocks {

constinit Block<ConvTakesChannelsLast> conv_takes_channels_last(cpu::conv_takes_channels_last);
constinit Block<PoolsTakeChannelsLast> pools_take_channels_last(cpu::pools_take_channels_last);

}  // namespace argand::blocks
