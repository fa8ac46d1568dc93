#include "argand/kernels/conv_layout.h"

namespace argand::blocks {
namespace {

bool never(const cpu::ConvShape&, ScalarType, bool) { return false; }

}  // namespace

constinit Block<ConvTakesChannelsLast> conv_takes_channels_last(never);

}  // namespace argand::blocks
