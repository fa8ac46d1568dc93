// clone() of every module of the library (ARGAND_LIBRARY_MODULE in nn/pimpl.h): defined here where others declare it.
#define ARGAND_DEFINE_CLONEABLES
#include "argand/nn/modules.h"
