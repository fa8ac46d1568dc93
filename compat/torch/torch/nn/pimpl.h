// TORCH_MODULE(Name): `Name` as a counted handle to a `NameImpl`.
#pragma once
#include "argand/nn/modules/container/any.h"
#include "argand/nn/pimpl.h"
#include "torch/arg.h"
#include "torch/types.h"

#define TORCH_MODULE(Name) ARGAND_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, ImplType) ARGAND_MODULE_IMPL(Name, ImplType)
#define FORWARD_HAS_DEFAULT_ARGS(...) ARGAND_FORWARD_HAS_DEFAULT_ARGS(__VA_ARGS__)
