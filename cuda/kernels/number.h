// Numbers, threads and sums, as all kernels use them.
#pragma once

#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device)) inline
// INLINE is for what must be inlined, such as methods of objects in registers.
#define INLINE __attribute__((device, always_inline)) inline
#define SHARED __attribute__((shared)) static
#define CONSTANT __attribute__((device)) static constexpr
// A TABLE is indexed by numbers that differ between the threads of a warp. Constant memory would serve
// them one by one.
#define TABLE __attribute__((device)) static

typedef long long i64;
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;

constexpr int lanes = 32; // threads of a warp

// Blocks of kernels over vectors have up to this many threads, in whole warps.
constexpr int maxThreads = 256;

DEVICE i64 threadX() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE i64 threadY() { return __nvvm_read_ptx_sreg_tid_y(); }
DEVICE i64 blockX() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE i64 blockY() { return __nvvm_read_ptx_sreg_ctaid_y(); }
DEVICE i64 blockZ() { return __nvvm_read_ptx_sreg_ctaid_z(); }
DEVICE i64 threads() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE i64 blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE i64 blocksY() { return __nvvm_read_ptx_sreg_nctaid_y(); }
DEVICE i64 first() { return blockX() * threads() + threadX(); }
DEVICE i64 step() { return blocks() * threads(); }
DEVICE void barrier() { __nvvm_bar_sync(0); }
DEVICE void warpBarrier() { __nvvm_bar_warp_sync(-1); }

// over returns x/y for numbers that are not negative. A division of 64 bits takes several times as long
// as one of 32 bits.
DEVICE i64 over(i64 x, i64 y) { return (x | y) >> 32 ? x / y : (i64)((unsigned)x / (unsigned)y); }

// Q43 is fixed.Q43: a multiple of 2^-43. Sums and differences wrap.
struct Q43 {
	i64 v;
};
DEVICE Q43 operator+(Q43 x, Q43 y) { return Q43{(i64)((u64)x.v + (u64)y.v)}; }
DEVICE Q43 operator-(Q43 x, Q43 y) { return Q43{(i64)((u64)x.v - (u64)y.v)}; }
DEVICE Q43 operator-(Q43 x) { return Q43{0} - x; }
CONSTANT Q43 largest = {(i64)(~(u64)0 >> 1)}, least = {(i64)((u64)1 << 63)};

// A Wide<T> is the type in which functions of T are computed.
template <class T> struct WideOf { typedef double type; };
template <> struct WideOf<Q43> { typedef Q43 type; };
template <class T> using Wide = typename WideOf<T>::type;

// round returns the multiple of 2^-86 in s as a Q43, to nearest, ties to even, and wrapped.
DEVICE Q43 round(i128 s) {
	i128 half = ((i128)1 << 42) - 1 + (s >> 43 & 1);
	return Q43{(i64)((s + half) >> 43)};
}

// A Sum<T> is what terms of type T are added up in: exactly for Q43.
template <class T> struct Sum {
	T v;
	DEVICE static Sum zero() { return Sum{0}; }
	DEVICE void add(Sum s) { v += s.v; }
	DEVICE void add(T x) { v += x; }
	DEVICE void addProduct(T x, T y) { v = __builtin_elementwise_fma(x, y, v); }
	DEVICE T value() const { return v; }
};
template <> struct Sum<Q43> {
	i128 v;
	DEVICE static Sum zero() { return Sum{0}; }
	DEVICE void add(Sum s) { v += s.v; }
	DEVICE void add(Q43 x) { v += (i128)x.v << 43; }
	DEVICE void addProduct(Q43 x, Q43 y) { v += (i128)x.v * y.v; }
	DEVICE Q43 value() const { return round(v); }
};

DEVICE bool lessThan(double x, double y) { return x < y; }
DEVICE bool lessThan(Q43 x, Q43 y) { return x.v < y.v; }
DEVICE bool isNaN(double x) { return x != x; }
DEVICE bool isNaN(Q43) { return false; }
template <class T> DEVICE bool isZero(T x) { return !lessThan(x, T{}) && !lessThan(T{}, x) && !isNaN(x); }

// product returns x·y, rounded once.
DEVICE double product(double x, double y) { return x * y; }
DEVICE float product(float x, float y) { return x * y; }
DEVICE Q43 product(Q43 x, Q43 y) { return round((i128)x.v * y.v); }

// addSigned adds x to y, or subtracts it if sign is negative.
DEVICE void addSigned(double &y, i64 sign, double x) { y += sign < 0 ? -x : x; }
DEVICE void addSigned(float &y, i64 sign, float x) { y += sign < 0 ? -x : x; }
DEVICE void addSigned(float &y, i64 sign, double x) { y += (float)(sign < 0 ? -x : x); }
DEVICE void addSigned(Q43 &y, i64 sign, Q43 x) { y.v = (i64)((u64)y.v + (u64)(sign < 0 ? -(u64)x.v : (u64)x.v)); }

DEVICE int lower(int v, int by) { return __nvvm_shfl_sync_down_i32(-1, v, by, 31); }
DEVICE u64 lower(u64 v, int by) {
	return (u64)(unsigned)lower((int)(v >> 32), by) << 32 | (unsigned)lower((int)v, by);
}
// down returns the v of the thread that is by lanes further.
DEVICE float down(float v, int by) { return __builtin_bit_cast(float, lower(__builtin_bit_cast(int, v), by)); }
DEVICE double down(double v, int by) { return __builtin_bit_cast(double, lower(__builtin_bit_cast(u64, v), by)); }
DEVICE i128 down(i128 v, int by) { return (i128)lower((u64)(v >> 64), by) << 64 | lower((u64)v, by); }

DEVICE int crossed(int v, int mask) { return __nvvm_shfl_sync_bfly_i32(-1, v, mask, 31); }
DEVICE u64 crossed(u64 v, int mask) {
	return (u64)(unsigned)crossed((int)(v >> 32), mask) << 32 | (unsigned)crossed((int)v, mask);
}
// across returns the v of the thread whose lane differs in the bits of the mask.
DEVICE float across(float v, int mask) { return __builtin_bit_cast(float, crossed(__builtin_bit_cast(int, v), mask)); }
DEVICE double across(double v, int mask) { return __builtin_bit_cast(double, crossed(__builtin_bit_cast(u64, v), mask)); }
DEVICE i128 across(i128 v, int mask) { return (i128)crossed((u64)(v >> 64), mask) << 64 | crossed((u64)v, mask); }

// anyLane reports whether v is true in a lane of the warp.
DEVICE bool anyLane(bool v) { return __nvvm_vote_any_sync(-1, v); }

// ofLane returns the v of a lane.
DEVICE float ofLane(float v, int lane) { return __builtin_bit_cast(float, __nvvm_shfl_sync_idx_i32(-1, __builtin_bit_cast(int, v), lane, 31)); }
DEVICE double ofLane(double v, int lane) {
	u64 bits = __builtin_bit_cast(u64, v);
	unsigned low = (unsigned)__nvvm_shfl_sync_idx_i32(-1, (int)bits, lane, 31), high = (unsigned)__nvvm_shfl_sync_idx_i32(-1, (int)(bits >> 32), lane, 31);
	return __builtin_bit_cast(double, (u64)high << 32 | low);
}

// warpSum returns the sum over the threads of a warp, to its first thread.
template <class T> DEVICE Sum<T> warpSum(Sum<T> s) {
	for (int by = 16; by > 0; by /= 2) s.add(Sum<T>{down(s.v, by)});
	return s;
}

// blockSum returns the sum over the threads of a block, to its first thread.
template <class T> DEVICE Sum<T> blockSum(Sum<T> s) {
	SHARED Sum<T> sums[maxThreads / 32];
	s = warpSum(s);
	if (threadX() % 32 == 0) sums[threadX() / 32] = s;
	barrier();
	if (threadX() == 0) {
		for (int i = 1; i < threads() / 32; i++) s.add(sums[i]);
	}
	return s;
}
