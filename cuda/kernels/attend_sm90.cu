// Attention on the tensor cores of cards of compute capability 9.0 and later.
#define HOPPER
#include "attend_sm80.cu"
