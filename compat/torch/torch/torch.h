// All of the frontend, and the standard headers that LibTorch's brings and programs use without a word.
#pragma once
// clang-format off: an older standard meets this sentence first
#include "argand/base/language.h"
// clang-format on
#if __cplusplus >= 202002L
#include <algorithm>
#include <array>
#include <bitset>
#include <cassert>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <thread>
#include <unordered_set>

#include "c10/util/Logging.h"
#include "torch/autograd.h"
#include "torch/cuda.h"
#include "torch/data.h"
#include "torch/fft.h"
#include "torch/library.h"
#include "torch/linalg.h"
#include "torch/nn.h"
#include "torch/optim.h"
#include "torch/serialize.h"
#include "torch/special.h"
#include "torch/types.h"
#include "torch/utils.h"
#include "torch/version.h"
#endif
