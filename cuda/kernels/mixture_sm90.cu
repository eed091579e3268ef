// The quadratic forms and the moments of mixtures on the tensor cores of cards of compute
// capability 9.0 and later.
#define HOPPER
#include "mixture_sm80.cu"
