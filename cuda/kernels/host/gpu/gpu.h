// A GPU on the host: what kernels call, for threads of the host. replay.cc runs them.
#pragma once

namespace gpu {
struct Place { int thread[3], threads[3], block[3], blocks[3], rank; };
extern thread_local Place place;
} // namespace gpu

inline int __nvvm_read_ptx_sreg_tid_x() { return gpu::place.thread[0]; }
inline int __nvvm_read_ptx_sreg_tid_y() { return gpu::place.thread[1]; }
inline int __nvvm_read_ptx_sreg_tid_z() { return gpu::place.thread[2]; }
inline int __nvvm_read_ptx_sreg_ntid_x() { return gpu::place.threads[0]; }
inline int __nvvm_read_ptx_sreg_ntid_y() { return gpu::place.threads[1]; }
inline int __nvvm_read_ptx_sreg_ctaid_x() { return gpu::place.block[0]; }
inline int __nvvm_read_ptx_sreg_ctaid_y() { return gpu::place.block[1]; }
inline int __nvvm_read_ptx_sreg_ctaid_z() { return gpu::place.block[2]; }
inline int __nvvm_read_ptx_sreg_nctaid_x() { return gpu::place.blocks[0]; }
inline int __nvvm_read_ptx_sreg_nctaid_y() { return gpu::place.blocks[1]; }
inline int __nvvm_read_ptx_sreg_nctaid_z() { return gpu::place.blocks[2]; }
inline int __nvvm_read_ptx_sreg_cluster_ctarank() { return gpu::place.rank; }

void __nvvm_bar_sync(int);
void __nvvm_bar_warp_sync(int);

namespace gpu {
// exchange returns what the lanes of a warp have put into it. Every lane puts up to six numbers.
constexpr int most = 6;
typedef unsigned long long Lanes[32][most];
const Lanes &exchange(const unsigned long long *own, int count);
int ownLane();

inline int shuffle(int v, int lane) {
	unsigned long long own = (unsigned)v;
	const Lanes &all = exchange(&own, 1);
	return (int)all[lane < 32 ? lane : ownLane()][0];
}
} // namespace gpu

inline int __nvvm_shfl_sync_down_i32(int, int v, int by, int) { return gpu::shuffle(v, gpu::ownLane() + by); }
inline int __nvvm_shfl_sync_bfly_i32(int, int v, int mask, int) { return gpu::shuffle(v, gpu::ownLane() ^ mask); }
inline int __nvvm_shfl_sync_idx_i32(int, int v, int lane, int) { return gpu::shuffle(v, lane & 31); }

inline bool __nvvm_vote_any_sync(int, bool v) {
	unsigned long long own = v;
	bool any = false;
	for (const auto &of : gpu::exchange(&own, 1)) any |= of[0] != 0;
	return any;
}

// The instructions of inline assembly, by their names.

namespace gpu {
double root(double);
inline double upper(double x) { return __builtin_bit_cast(double, __builtin_bit_cast(unsigned long long, x) >> 32 << 32); }
} // namespace gpu
inline void rsqrt_approx_ftz_f64(double &y, double x) { y = gpu::upper(1 / gpu::root(gpu::upper(x))); }
inline double __nvvm_rcp_approx_ftz_d(double x) { return gpu::upper(1 / gpu::upper(x)); }

inline void redux_sync_max_u32(unsigned &most, unsigned v) {
	unsigned long long own = v;
	const gpu::Lanes &all = gpu::exchange(&own, 1);
	most = v;
	for (const auto &of : all) most = of[0] > most ? (unsigned)of[0] : most;
}
inline void redux_sync_min_u32(unsigned &least, unsigned v) {
	redux_sync_max_u32(least, ~v);
	least = ~least;
}

// A barrier of a cluster, of which the source has both instructions. The memory of the blocks of a cluster is an array.
void barrier_cluster_arrive_aligned();
template <class M> void mapa_u64(M *&to, M *from, int rank) { to = from + (rank - gpu::place.rank); }

inline void mul_wide_u32(unsigned long long &v, unsigned x, unsigned y) { v = (unsigned long long)x * y; }

inline void ld_global_cs_v2_f64(double &a, double &b, const void *from) { a = ((const double *)from)[0], b = ((const double *)from)[1]; }
inline void ld_global_cg_f64(double &v, const double *from) { v = *from; }
inline void ld_global_cg_f32(float &v, const float *from) { v = *from; }
inline void ld_global_cg_s64(long long &v, const long long *from) { v = *from; }
inline void ld_global_cg_s32(int &v, const int *from) { v = *from; }
inline void ld_global_cg_v2_u64(unsigned long long &a, unsigned long long &b, const void *from) { a = ((const unsigned long long *)from)[0], b = ((const unsigned long long *)from)[1]; }
inline void ld_global_cg_v2_u32(unsigned &a, unsigned &b, const void *from) { a = ((const unsigned *)from)[0], b = ((const unsigned *)from)[1]; }
inline void st_global_cs_v2_f64(void *to, double a, double b) { ((double *)to)[0] = a, ((double *)to)[1] = b; }

// The address of shared memory has 32 bits.
void cp_async_cg_shared_global(unsigned to, const void *from, int some, int bytes = 16);
inline void cp_async_ca_shared_global(unsigned to, const void *from, int bytes, int some) { cp_async_cg_shared_global(to, from, some, bytes); }
inline void cp_async_commit_group() {}
inline void cp_async_wait_group(int) {}

namespace gpu {
// D += A·B, for A with rows×terms elements and B with terms×8. Lane i has a[i/4 + 8·(h%(rows/8))][i%4 +
// 4·(h/(rows/8))], b[i%4 + 4·h][i/4] and d[i/4 + 8·(h/2)][2·(i%4) + h%2].
template <int rows, int terms> inline void matrices(double *const *d, const double *a, const double *b) {
	constexpr int ofA = rows * terms / 32, ofB = terms / 4, high = rows / 8;
	unsigned long long own[most];
	for (int h = 0; h < ofA; h++) own[h] = __builtin_bit_cast(unsigned long long, a[h]);
	for (int h = 0; h < ofB; h++) own[ofA + h] = __builtin_bit_cast(unsigned long long, b[h]);
	const Lanes &all = exchange(own, ofA + ofB);
	for (int h = 0; h < 2 * high; h++) {
		int row = ownLane() / 4 + 8 * (h / 2), column = 2 * (ownLane() % 4) + h % 2;
		for (int l = 0; l < terms; l++) {
			double u = __builtin_bit_cast(double, all[row % 8 * 4 + l % 4][row / 8 + high * (l / 4)]);
			double v = __builtin_bit_cast(double, all[column * 4 + l % 4][ofA + l / 4]);
			*d[h] = __builtin_elementwise_fma(u, v, *d[h]);
		}
	}
}
} // namespace gpu
inline void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(double &d0, double &d1, double a, double b) {
	double *d[] = {&d0, &d1};
	gpu::matrices<8, 4>(d, &a, &b);
}
inline void mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64(double &d0, double &d1, double &d2, double &d3, double a0, double a1, double a2, double a3, double b0, double b1) {
	double *d[] = {&d0, &d1, &d2, &d3}, a[] = {a0, a1, a2, a3}, b[] = {b0, b1};
	gpu::matrices<16, 8>(d, a, b);
}

namespace gpu {
// The same for bytes, of which an element of A or B has four. Those of A or B may have signs.
template <int rows, int terms> inline void bytes(int *const *d, const unsigned *a, const unsigned *b, bool signA, bool signB) {
	constexpr int ofA = rows * terms / 32, ofB = terms / 4, high = rows / 8;
	unsigned long long own[most];
	for (int h = 0; h < ofA; h++) own[h] = a[h];
	for (int h = 0; h < ofB; h++) own[ofA + h] = b[h];
	const Lanes &all = exchange(own, ofA + ofB);
	auto value = [](unsigned long long v, int p, bool sign) {
		int byte = (int)(v >> 8 * p & 255);
		return sign && byte > 127 ? byte - 256 : byte;
	};
	for (int h = 0; h < 2 * high; h++) {
		int row = ownLane() / 4 + 8 * (h / 2), column = 2 * (ownLane() % 4) + h % 2;
		for (int l = 0; l < terms; l++) {
			unsigned long long u = all[row % 8 * 4 + l % 4][row / 8 + high * (l / 4)], v = all[column * 4 + l % 4][ofA + l / 4];
			for (int p = 0; p < 4; p++) *d[h] += value(u, p, signA) * value(v, p, signB);
		}
	}
}
inline void small(int &d0, int &d1, unsigned a, unsigned b, bool signA, bool signB) {
	int *d[] = {&d0, &d1};
	bytes<8, 4>(d, &a, &b, signA, signB);
}
inline void large(int &d0, int &d1, int &d2, int &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, bool signA, bool signB) {
	int *d[] = {&d0, &d1, &d2, &d3};
	unsigned a[] = {a0, a1, a2, a3}, b[] = {b0, b1};
	bytes<16, 8>(d, a, b, signA, signB);
}
} // namespace gpu
template <class... T> void mma_sync_aligned_m8n8k16_row_col_s32_u8_u8_s32(T &&...v) { gpu::small(v..., false, false); }
template <class... T> void mma_sync_aligned_m8n8k16_row_col_s32_u8_s8_s32(T &&...v) { gpu::small(v..., false, true); }
template <class... T> void mma_sync_aligned_m8n8k16_row_col_s32_s8_u8_s32(T &&...v) { gpu::small(v..., true, false); }
template <class... T> void mma_sync_aligned_m8n8k16_row_col_s32_s8_s8_s32(T &&...v) { gpu::small(v..., true, true); }
template <class... T> void mma_sync_aligned_m16n8k32_row_col_s32_u8_u8_s32(T &&...v) { gpu::large(v..., false, false); }
template <class... T> void mma_sync_aligned_m16n8k32_row_col_s32_u8_s8_s32(T &&...v) { gpu::large(v..., false, true); }
template <class... T> void mma_sync_aligned_m16n8k32_row_col_s32_s8_u8_s32(T &&...v) { gpu::large(v..., true, false); }
template <class... T> void mma_sync_aligned_m16n8k32_row_col_s32_s8_s8_s32(T &&...v) { gpu::large(v..., true, true); }

inline unsigned __nvvm_prmt(unsigned a, unsigned b, unsigned select) {
	unsigned long long both = (unsigned long long)b << 32 | a;
	unsigned d = 0;
	for (int i = 0; i < 4; i++) d |= (unsigned)(both >> (select >> 4 * i & 7) * 8 & 255) << 8 * i;
	return d;
}

namespace gpu {
// call calls a kernel with parameters of 8 bytes, of which a float takes the low ones.
template <class T> T parameter(unsigned long long v) {
	if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, v);
	else return __builtin_bit_cast(T, (unsigned)v);
}
template <int... I> struct Indices {};
template <class, int... I> struct IndicesOf { static Indices<I...> list() { return {}; } };
template <class... P, int... I> void pass(void (*kernel)(P...), const unsigned long long *v, Indices<I...>) { kernel(parameter<P>(v[I])...); }
template <class... P> void call(void (*kernel)(P...), const unsigned long long *v) { pass(kernel, v, __make_integer_seq<IndicesOf, int, sizeof...(P)>::list()); }

// An Entry is a kernel by its name, and how many blocks a cluster has. The table ends with a null.
struct Entry {
	const char *name;
	int team;
	void (*run)(const unsigned long long *params);
};
extern const Entry entries[];
} // namespace gpu
