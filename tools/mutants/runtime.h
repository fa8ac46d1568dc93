// Which planted fault is switched on; the tool copies this to argand/base/mutants.h of its build.
//
// ARGAND_MUTANT(n) is the test that a fault's place makes: a byte is read, and only where it is set, because fault n is
// on or places are recorded, is the function called.  The array is constant for the compiler, so that the test of a
// loop's body may leave the loop.
#pragma once
#include <cstddef>

extern "C" {
extern const unsigned char argand_mutant_state[];
bool argand_mutant_on(int number);
// The places that were reached since the last call; at most `most`.  Only while places are recorded.
std::size_t argand_mutants_reached(int* numbers, std::size_t most);
}

#define ARGAND_MUTANT(number) (__builtin_expect(::argand_mutant_state[number] != 0, 0) && ::argand_mutant_on(number))
