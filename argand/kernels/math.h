// The functions pointwise bodies are written in.
#pragma once

namespace argand::math {}
