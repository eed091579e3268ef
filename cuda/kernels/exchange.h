// Exchanges of rows of a factor.
#pragma once
#include "number.h"

// A Move brings a row to a place.
struct Move { int to, of; };

// setMoves sets the 2·count moves that make, in one step, the exchanges of rows top+i with top+pivot[i] for i = 0, 1, ..., count-1.
// The row that comes to a place is found by following the exchanges from the last to the first. Moves of rows to their own place
// fill the list. All threads of a block call it.
DEVICE void setMoves(Move *moves, const int *pivot, int count, int top, int threads) {
	for (int e = (int)threadX(); e < 2 * count; e += threads) {
		int i = e < count ? e : e - count, place = e < count ? i : pivot[i], row = place;
		bool again = e >= count && place < count; // another move is to this place
		for (int k = count - 1; k >= 0; k--) {
			int p = pivot[k];
			again = again || (e >= count && k > i && p == place);
			row = row == k ? p : row == p ? k : row;
		}
		moves[e] = {top + place, top + (again ? place : row)};
	}
}

DEVICE u64 word(double v) { return __builtin_bit_cast(u64, v); }
DEVICE u64 word(float v) { return __builtin_bit_cast(unsigned, v); }
DEVICE void set(double &v, u64 word) { v = __builtin_bit_cast(double, word); }
DEVICE void set(float &v, u64 word) { v = __builtin_bit_cast(float, (unsigned)word); }

// moveRows makes up to most·groups moves in column j of an n×n matrix, or in order if j is n. A thread of the column, of which
// there are so many groups, loads all that it moves before any stores.
template <int most, class T> INLINE void moveRows(T *x, i64 *order, i64 n, i64 j, const Move *moves, int count, int group, int groups) {
	u64 v[most];
#pragma unroll
	for (int q = 0; q < most; q++) {
		int i = group + q * groups;
		if (i < count) v[q] = j == n ? (u64)order[moves[i].of] : word(x[moves[i].of * n + j]);
	}
	barrier();
#pragma unroll
	for (int q = 0; q < most; q++) {
		int i = group + q * groups;
		if (i >= count || moves[i].of == moves[i].to) continue;
		if (j == n) order[moves[i].to] = (i64)v[q];
		else set(x[moves[i].to * n + j], v[q]);
	}
}
