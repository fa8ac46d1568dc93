// ARGAND_SHARED marks a class whose inline static variables are state of the whole program: a program compiled with
// hidden visibility, as plugins and Python modules are, would otherwise get variables of its own.
#pragma once

#define ARGAND_SHARED __attribute__((visibility("default")))
