// Offers the forms of a call to interceptors (dispatch_hooks.h).  False if none took it: the op then runs as usual.
#pragma once
#include "argand/exec/dispatch_hooks.h"

namespace argand::exec {

bool offer_plain(const OpInfo& op, void* args, std::span<Tensor> outs);
bool offer_inplace(const OpInfo& op, void* args, const Tensor& self);
bool offer_out(const OpInfo& op, void* args, std::span<Tensor> outs);
// `result` points to the value that the composite returns.
bool offer_composite(const OpInfo& op, void* args, void* result);
bool offer_composite(const OpInfo& op, void* args, std::vector<Tensor>& results);
std::optional<Scalar> offer_item(const Tensor& t);

}  // namespace argand::exec
