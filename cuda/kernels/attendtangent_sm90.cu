// Tangents of Attention on the tensor cores of cards of compute capability 9.0 and later.
#define HOPPER
#include "attendtangent_sm80.cu"
