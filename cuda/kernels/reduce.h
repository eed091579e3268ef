// Reductions over blocks. An S has add, which takes in another S, and lower, which returns
// that of the thread that is by lanes further.
#pragma once
#include "function.h"

DEVICE i64 down(i64 v, int by) { return (i64)lower((u64)v, by); }
DEVICE u128 down(u128 v, int by) { return (u128)down((i128)v, by); }
DEVICE Q43 down(Q43 v, int by) { return Q43{down(v.v, by)}; }

// blockReduce takes in the S of all threads of a block, in the order of a tree. The first
// thread gets the result.
template <class S> DEVICE S blockReduce(S s) {
	SHARED S parts[maxThreads / 32];
	for (int by = 16; by > 0; by /= 2) s.add(s.lower(by));
	if (threadX() % 32 == 0) parts[threadX() / 32] = s;
	barrier();
	if (threadX() == 0) {
		for (int i = 1; i < threads() / 32; i++) s.add(parts[i]);
	}
	return s;
}

// reduceParts takes in the parts of all blocks, in their order.
template <class S> DEVICE S reduceParts(const S *part, i64 parts) {
	S s = S::none();
	for (i64 b = threadX(); b < parts; b += threads()) s.add(part[b]);
	return blockReduce(s);
}

// loadAhead calls use(i, load(i)) for i from first to end in steps, and loads four before it uses the first.
template <class Load, class Use> INLINE void loadAhead(i64 first, i64 end, i64 step, Load load, Use use) {
	constexpr int ahead = 4;
	for (i64 i = first; i < end; i += ahead * step) {
		decltype(load(i)) v[ahead];
#pragma unroll
		for (int u = 0; u < ahead; u++) {
			if (i + u * step < end) v[u] = load(i + u * step);
		}
#pragma unroll
		for (int u = 0; u < ahead; u++) {
			if (i + u * step < end) use(i + u * step, v[u]);
		}
	}
}

// A Least is the least of numbers.
struct Least {
	i64 v;
	DEVICE static Least none() { return {(i64)(~(u64)0 >> 1)}; }
	DEVICE void add(Least o) { v = o.v < v ? o.v : v; }
	DEVICE Least lower(int by) const { return {down(v, by)}; }
};

// stops reports whether an element of a pass over n is outside. A null stands for none.
DEVICE bool stops(const i64 *outside, i64 n) { return outside && *outside < n; }

// x as a number of type Wide<T>.
DEVICE double wide(double x) { return x; }
DEVICE double wide(float x) { return x; }
DEVICE Q43 wide(Q43 x) { return x; }
