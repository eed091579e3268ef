// Large unitary matrices on the tensor cores of cards of compute capability 9.0 and later.
#define HOPPER
#include "unitary_sm80.cu"
