// y += a·x over Q15.16 (an int32 with 16 bits after the point) beside float32, for docs/exactness.md.
//
//	g++ -O3 -march=native -mprefer-vector-width=512 -o q15 docs/exactness/q15.cpp && ./q15
//
// Each line has the number of elements, the least nanoseconds of one over both, and their ratio.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

static int32_t times(int32_t a, int32_t b) { return int32_t((int64_t(a) * b + (1 << 15)) >> 16); }
static float times(float a, float b) { return a * b; }

template <class T> __attribute__((noinline)) void axpy(T *__restrict y, T a, const T *__restrict x, int n) {
	for (int i = 0; i < n; i++) y[i] += times(a, x[i]);
}

template <class T> static double least(T a, int n) {
	using clock = std::chrono::steady_clock;
	std::vector<T> x(n, a), y(n, a);
	double best = INFINITY;
	const int repeats = std::max(1, 2000000 / n);
	for (int round = 0; round < 100; round++) {
		const auto start = clock::now();
		for (int i = 0; i < repeats; i++) axpy(y.data(), a, x.data(), n);
		best = std::min(best, std::chrono::duration<double, std::nano>(clock::now() - start).count() / repeats / n);
	}
	return best;
}

int main() {
	for (int n : {1000, 20000, 10000000}) {
		const double q = least<int32_t>(3, n), f = least<float>(3e-5f, n);
		std::printf("%9d %8.3f %8.3f %6.2f\n", n, q, f, q / f);
	}
}
