// The product of matrices on the tensor cores of cards of compute capability 9.0 and later.
#define HOPPER
#include "tensor_sm80.cu"
