// Large products of matrices through asynchronous copies, which cards of compute capability 8.0
// and later have.
#pragma once
#include "matrix.h"

// A block has so many panels of each factor in shared memory: one in use, the others on their way.
constexpr int stages = 3;

// copyAsync begins to copy bytes from global to shared memory: the first from memory, zeros for the
// rest.
template <int bytes> DEVICE void copyAsync(void *to, const void *from, int first) {
	unsigned at = (unsigned)(u64)(__attribute__((address_space(3))) void *)to;
	if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(first) : "memory");
	else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(bytes), "r"(first) : "memory");
}
DEVICE void endGroup() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// waitGroups waits until all but the last groups of copies have run.
template <int last> DEVICE void waitGroups() { asm volatile("cp.async.wait_group %0;" ::"n"(last) : "memory"); }

DEVICE int clamp(i64 v, int most) { return v < 0 ? 0 : v < most ? (int)v : most; }

// A Panel is side rows of a factor, with 64 bytes of terms of the sums each. They lie along the rows
// if neighbours in a row are so in memory, and across them else. Words of 16 bytes are permuted so
// that a warp reads from all banks.
template <class T, int side, bool along> struct Panel {
	static constexpr int terms = 64 / sizeof(T), word = 16 / sizeof(T);
	static constexpr bool wide = sizeof(T) == 8;
	DEVICE static int at(int row, int term) {
		if (along) return row * terms + (wide ? term : term ^ row / 2 % 4 * word);
		return term * side + (wide ? row ^ term / 2 % 4 * 4 : row);
	}
	// pair reads an even term of a row and the next one.
	DEVICE static void pair(T (&to)[2], const T *panel, int row, int term) {
		typedef T two __attribute__((ext_vector_type(2)));
		two v;
		if (along) v = *(const two *)(panel + at(row, term));
		else v = {panel[at(row, term)], panel[at(row, term + 1)]};
		to[0] = v[0], to[1] = v[1];
	}
};

// A Loader is the part of a thread in the copies of panels, in pieces of so many numbers. It begins at
// a row of the rows×k matrix a, and there are all threads.
template <class T, int side, bool along, int piece, int all> struct Loader {
	typedef Panel<T, side, along> P;
	static constexpr int count = side * P::terms / piece / all;
	const T *from[count];
	int to[count], term[count], rows[count]; // rows is how many are left from the piece's on
	i64 next;

	// place returns the row and the term of a piece.
	INLINE static int place(int me, int c, int &term) {
		int e = (me + c * all) * piece;
		term = along ? e % P::terms : e / side;
		return along ? e / P::terms : e % side;
	}

	INLINE Loader(Matrix<const T> a, int me, i64 begin, i64 m) {
#pragma unroll
		for (int c = 0; c < count; c++) {
			int row = place(me, c, term[c]);
			to[c] = P::at(row, term[c]);
			rows[c] = clamp(m - begin - row, piece);
		}
		start(a, me, begin);
	}

	// start goes to the first panel of a matrix of the same size.
	INLINE void start(Matrix<const T> a, int me, i64 begin) {
		next = P::terms * a.across;
#pragma unroll
		for (int c = 0; c < count; c++) {
			int t, row = place(me, c, t);
			from[c] = rows[c] > 0 ? &a.at(begin + row, t) : a.data;
		}
	}

	// load begins the copies of a panel, for which left terms are there.
	INLINE void load(T *panel, i64 left) {
#pragma unroll
		for (int c = 0; c < count; c++) {
			int terms = clamp(left - term[c], piece), some = along ? (rows[c] > 0 ? terms : 0) : (terms > 0 ? rows[c] : 0);
			copyAsync<piece * (int)sizeof(T)>(panel + to[c], from[c], some * (int)sizeof(T));
			from[c] += next;
		}
	}
};

// stream calls use with each pair of panels, of side rows of A and sideB columns of B, that begin at a row
// and a column of C, in the order of their terms. Those of a second pair of factors follow. use calls its third argument, which begins
// copies of later panels. ptxas puts them between the tensor products that stand after the call.
template <int side, int sideB, bool alongA, bool alongB, int piece, int all, class T, class Use>
INLINE void stream(Product<T> f, int me, i64 row, i64 column, Use use) {
	constexpr int terms = Panel<T, side, true>::terms;
	SHARED __attribute__((aligned(16))) T as[stages][side * terms], bs[stages][sideB * terms];
	Loader<T, side, alongA, piece, all> la(f.a, me, row, f.m);
	Loader<T, sideB, alongB, piece, all> lb(f.b.transposed(), me, column, f.n);
	i64 panels = over(f.k + terms - 1, terms), left = f.k; // to be used, and terms to be loaded
	if (f.a2.data) panels *= 2;
	auto load = [&](int stage) __attribute__((always_inline)) {
		la.load(as[stage], left);
		lb.load(bs[stage], left);
		endGroup();
		left -= terms;
	};
	auto goOn = [&]() __attribute__((always_inline)) {
		if (left > 0 || !f.next()) return;
		la.start(f.a, me, row);
		lb.start(f.b.transposed(), me, column);
		left = f.k;
	};
	for (int s = 0; s < stages - 1; s++) {
		load(s);
		goOn();
	}
	for (int stage = 0, ahead = stages - 1; panels > 0; panels--) {
		waitGroups<stages - 2>();
		barrier(); // the panels of stage are there, and those of ahead were used
		use(as[stage], bs[stage], [&]() __attribute__((always_inline)) { load(ahead); });
		goOn();
		stage = stage + 1 == stages ? 0 : stage + 1;
		ahead = ahead + 1 == stages ? 0 : ahead + 1;
	}
}
