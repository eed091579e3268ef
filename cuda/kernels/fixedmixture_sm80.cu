// Mixtures over Q43 by the larger products of bytes.
#define AMPERE
#include "fixedmixture.h"
