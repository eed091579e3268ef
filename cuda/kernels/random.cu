// Random numbers of Philox4x32-10, with the bits of package philox.
#include "vector.h"
#include "tables.h" // compile.sh makes it of philox/ztables.go

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

struct Uniform {
	template <class T> DEVICE static void make(u64 w, T &v) { uniformOf(w, v); }
};

// Normal has the table body of philox/quantile.go in shared memory. The threads of a warp read rows at random. An array
// of 16 bytes for each row has neighbouring rows in different banks.
struct Normal {
	static constexpr int bodyBits = 7, bodyLeast = 1023 - 10, tailBits = 2, tailLeast = 1023 - 53, tailTerms = 11;
	static constexpr int parts = sizeof bodyTable / sizeof *bodyTable;
	struct alignas(16) Half { u64 a, b; };
	Half *first, *second;

	DEVICE static double number(u64 v) { return __builtin_bit_cast(double, v); }
	DEVICE static double number(unsigned high) { return number((u64)high << 32); }

	// The function normal of philox/quantile.go. High words have all bits that select a polynomial.
	DEVICE double quantile(u64 w) const {
		int above = (int)((unsigned)(w >> 32) << 11) >> 31;
		unsigned low = (unsigned)w ^ (unsigned)above, high = ((unsigned)(w >> 32) ^ (unsigned)above) & 0xfffff;
		double q = number((u64)(0x3ff00000 | high) << 32 | low) - (1 - 0x1p-53), z;
		unsigned top = (unsigned)(__builtin_bit_cast(u64, q) >> 32);
		int part = (int)(top >> (20 - bodyBits)), i = part - (bodyLeast << bodyBits);
		if (__builtin_expect(i >= 0, 1)) {
			double t = q - number((top | ((1u << (20 - bodyBits)) - 1)) + 1);
			Half c = first[i], d = second[i];
			z = __builtin_elementwise_fma(t, number((unsigned)(d.b >> 32)), number((unsigned)d.b));
			z = __builtin_elementwise_fma(t, z, number(d.a));
			z = __builtin_elementwise_fma(t, z, number(c.b));
			z = __builtin_elementwise_fma(t, z, number(c.a));
		} else { // one number of 1024
			part >>= bodyBits - tailBits;
			double t = q - number((top | ((1u << (20 - tailBits)) - 1)) + 1);
			const u64 *c = tailTable[part - (tailLeast << tailBits)];
			z = number(c[tailTerms - 1]);
#pragma unroll 1
			for (int k = tailTerms - 2; k >= 0; k--) z = __builtin_elementwise_fma(t, z, number(c[k]));
		}
		return number(__builtin_bit_cast(u64, z) ^ (u64)(unsigned)above << 63);
	}

	DEVICE void make(u64 w, double &v) const { v = quantile(w); }
	DEVICE void make(u64 w, float &v) const { v = (float)quantile(w); }
	DEVICE void make(u64 w, Q43 &v) const { // the sum rounds to a multiple of 1, in the low bits
		constexpr double shift = 0x1.8p52;
		v.v = (i64)(__builtin_bit_cast(u64, quantile(w) * 0x1p43 + shift) - __builtin_bit_cast(u64, shift));
	}
};

typedef double Doubles __attribute__((ext_vector_type(2)));
typedef float Floats __attribute__((ext_vector_type(2)));
DEVICE void storeTwo(double *x, double a, double b) { *(Doubles *)x = Doubles{a, b}; }
DEVICE void storeTwo(float *x, float a, float b) { *(Floats *)x = Floats{a, b}; }
DEVICE void storeTwo(Q43 *x, Q43 a, Q43 b) { storeTwo((double *)x, __builtin_bit_cast(double, a), __builtin_bit_cast(double, b)); }

// x_j = the number that belongs to number start+j of the seed. A thread makes two of a pair.
template <class Of, class T> DEVICE void fillRandom(Of of, Vector<T> x, i64 n, u64 seed, u64 start) {
	i64 j = 2 * first() - (i64)(start & 1), by = 2 * step(); // of the first of two
	u64 pair = start / 2 + (u64)first();
	T *at = x.data + j * x.inc;
	bool beside = x.inc == 1 && (u64)at % (2 * sizeof(T)) == 0; // then a store of both fills whole sectors
	for (; j < n; j += by, at += by * x.inc, pair += (u64)by / 2) {
		u64 one, two;
		randomPair(seed, pair << 1 >> 1, one, two);
		T a, b;
		of.make(one, a);
		of.make(two, b);
		if (beside && (u64)j < (u64)(n - 1)) { // j may be -1
			storeTwo(at, a, b);
		} else {
			if (j >= 0) at[0] = a;
			if (j + 1 < n) at[x.inc] = b;
		}
	}
}

template <class T> DEVICE void fillNormal(Vector<T> x, i64 n, u64 seed, u64 start) {
	SHARED Normal::Half first[Normal::parts], second[Normal::parts];
	for (i64 i = threadX(); i < Normal::parts; i += threads()) {
		const u64 *c = bodyTable[i];
		first[i] = {c[0], c[1]};
		second[i] = {c[2], c[3]};
	}
	barrier();
	fillRandom(Normal{first, second}, x, n, seed, start);
}

#define KERNELS(T, name) \
	KERNEL fillUniform##name(T *x, i64 inc, i64 n, u64 seed, u64 start) { fillRandom<Uniform, T>({}, {x, inc}, n, seed, start); } \
	KERNEL fillNormal##name(T *x, i64 inc, i64 n, u64 seed, u64 start) { fillNormal<T>({x, inc}, n, seed, start); }
KERNELS(double, F64)
KERNELS(float, F32)
KERNELS(Q43, Q43)
