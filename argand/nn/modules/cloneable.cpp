// clone() of every module of the library (ARGAND_LIBRARY_MODULE in nn/pimpl.h): defined here where others declare it.
#define ARGAND_CLONEABLE
#include "argand/nn/modules.h"
