// Warps and blocks that have the rows of matrices.
#pragma once
#include "number.h"

// A Team is the threads that have a row. All of them get the results of its sums. If a block may have more
// than maxThreads, its number of threads is a power of two.
template <bool block, int most = maxThreads> struct Team {
	DEVICE static i64 me() { return block ? threadX() : threadX() % lanes; }
	DEVICE static i64 size() { return block ? threads() : lanes; }
	DEVICE static i64 row() { return block ? blockX() : first() / lanes; }
	DEVICE static i64 rows() { return block ? blocks() : step() / lanes; }
	// all returns what the S of all threads make together.
	template <class S> INLINE static S all(S s) {
		for (int mask = lanes / 2; mask > 0; mask /= 2) s.add(s.crossed(mask));
		if (!block) return s;
		SHARED S parts[most / lanes];
		barrier();
		if (threadX() % lanes == 0) parts[threadX() / lanes] = s;
		barrier();
		if (most > maxThreads) {
			int warps = (int)(threads() / lanes);
			s = parts[threadX() & (warps - 1)];
			for (int mask = warps / 2; mask > 0; mask /= 2) s.add(s.crossed(mask));
			return s;
		}
		s = parts[0];
		for (int i = 1; i < threads() / lanes; i++) s.add(parts[i]);
		return s;
	}
};

DEVICE Q43 across(Q43 v, int mask) { return Q43{(i64)crossed((u64)v.v, mask)}; }

template <class T> struct Total : Sum<T> {
	DEVICE Total crossed(int mask) const { return {{across(this->v, mask)}}; }
};

// A Row is an operand of a row, or absent.
template <class T> struct Row {
	T *data;
	DEVICE T &operator[](i64 j) const { return data[j]; }
	DEVICE operator bool() const { return data; }
};
template <class T> struct Rows {
	T *data;
	i64 stride;
	DEVICE Row<T> operator[](i64 i) const { return {data ? data + i * stride : data}; }
};
