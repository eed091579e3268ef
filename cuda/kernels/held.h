// Rows of matrices, of which the threads of a warp or of a block hold what they need again.
#pragma once
#include "team.h"

// A thread holds what it reads of so many columns, and a block that does so has up to longThreads. If rows have more
// columns, and in passes of second order, operands are read again where they are needed.
constexpr int heldColumns = 8, longThreads = 1024; // as in cuda/rownorm.go

// hidden returns v, of which the compiler knows nothing, so that it keeps no addresses for later.
DEVICE int hidden(int v) {
	asm volatile("" : "+r"(v));
	return v;
}

// firstColumn returns the first of the columns that a thread holds. The others are lanes apart.
template <int count, class Team> INLINE i64 firstColumn() {
	int me = hidden((int)Team::me());
	return me / lanes * lanes * count + me % lanes;
}

// each calls f for the columns j of a thread, with the number k of those that it holds.
template <int count, class Team, class F> INLINE void each(i64 c, F f) {
	if (count == 0) {
		for (i64 j = Team::me(); j < c; j += Team::size()) f(j, 0);
		return;
	}
	i64 first = firstColumn<count, Team>();
#pragma unroll
	for (int k = 0; k < count; k++) {
		if (first + k * lanes < c) f(first + k * lanes, k);
	}
}
