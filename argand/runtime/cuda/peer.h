// Access of one GPU to the memory of another.
#pragma once

namespace argand::cuda {

bool can_access_peer(int from, int to);
// Lets kernels and copies of `from` reach memory of `to` directly, where the machine allows it; once per pair.
void enable_peer_access(int from, int to);

}  // namespace argand::cuda
