// Random numbers of Philox4x32-10, with the bits of package philox.
#include "trig.h"
#include "vector.h"

// wide returns a product of 64 bits. It is one instruction; the compiler would make numbers of 64 bits of the factors first.
DEVICE u64 wide(unsigned x, unsigned y) {
	u64 v;
	asm("mul.wide.u32 %0, %1, %2;" : "=l"(v) : "r"(x), "r"(y));
	return v;
}

// randomPair returns numbers 2i and 2i+1 of a seed in first and second.
DEVICE void randomPair(u64 seed, u64 i, u64 &first, u64 &second) {
	unsigned c0 = (unsigned)i, c1 = (unsigned)(i >> 32), c2 = 0, c3 = 0, k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
	for (int round = 0; round < 10; round++) {
		u64 a = wide(0xd2511f53, c0), b = wide(0xcd9e8d57, c2);
		c0 = (unsigned)(b >> 32) ^ c1 ^ k0;
		c2 = (unsigned)(a >> 32) ^ c3 ^ k1;
		c1 = (unsigned)b;
		c3 = (unsigned)a;
		k0 += 0x9e3779b9;
		k1 += 0xbb67ae85;
	}
	first = (u64)c1 << 32 | c0;
	second = (u64)c3 << 32 | c2;
}

DEVICE Q43 fraction(u64 w) { return Q43{(i64)(w & (((u64)1 << 43) - 1))}; }

DEVICE void uniformOf(u64 w, double &v) { v = (double)(i64)(w & (((u64)1 << 53) - 1)) * 0x1p-53; }
DEVICE void uniformOf(u64 w, float &v) { v = (float)(int)(w >> 32 & 0xffffff) * 0x1p-24f; }
DEVICE void uniformOf(u64 w, Q43 &v) { v = fraction(w); }

DEVICE void rounded(Q43 x, double &v) { v = (double)x.v * 0x1p-43; }
DEVICE void rounded(Q43 x, float &v) { v = (float)x.v * 0x1p-43f; }
DEVICE void rounded(Q43 x, Q43 &v) { v = x; }

struct Uniform {
	template <class T> DEVICE static void pair(u64 first, u64 second, T &a, T &b) {
		uniformOf(first, a);
		uniformOf(second, b);
	}
};

// √(-2·log u)·cos 2πv and √(-2·log u)·sin 2πv.
struct Normal {
	template <class T> DEVICE static void pair(u64 first, u64 second, T &a, T &b) {
		Q43 u{fraction(first).v + 1}, s, c;
		Q43 r = root(Q43{-2 * logOf(u).v});
		sincos(product(Q43{0x3243f6a8885a}, fraction(second)), s, c);
		rounded(product(r, c), a);
		rounded(product(r, s), b);
	}
};

// x_j = the number that belongs to number start+j of the seed. A thread makes two of a pair.
template <class Of, class T> DEVICE void fillRandom(Vector<T> x, i64 n, u64 seed, u64 start) {
	i64 odd = (i64)(start & 1);
	for (i64 k = first(); 2 * k < n + odd; k += step()) {
		u64 one, two;
		randomPair(seed, (start / 2 + (u64)k) << 1 >> 1, one, two);
		T a, b;
		Of::pair(one, two, a, b);
		i64 j = 2 * k - odd;
		if (j >= 0) x.at(j) = a;
		if (j + 1 < n) x.at(j + 1) = b;
	}
}

#define KERNELS(T, name) \
	KERNEL fillUniform##name(T *x, i64 inc, i64 n, u64 seed, u64 start) { fillRandom<Uniform, T>({x, inc}, n, seed, start); } \
	KERNEL fillNormal##name(T *x, i64 inc, i64 n, u64 seed, u64 start) { fillRandom<Normal, T>({x, inc}, n, seed, start); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
