// The loops of four evals in C++, to time beside ours. They are the algorithms of
// benchmarks/internal/gradbench: the steps of ode (more elements than four to a step), the recursion of
// det, and the descents of particle and saddle by nested dual numbers (ff).
//
//	g++ -O3 -march=native -std=c++17 -o loops benchmarks/gradbench/loops.cpp && ./loops
//	go test -run '^$' -bench Evals ./benchmarks/internal/gradbench
//
// Each line has the least time of a call in microseconds, and a sum of the answers.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

template <class F> static void time(const std::string &name, F call) {
	using clock = std::chrono::steady_clock;
	const auto end = clock::now() + std::chrono::milliseconds(500);
	double least = INFINITY, sum = call();
	for (int repeats = 1; clock::now() < end;) {
		const auto start = clock::now();
		for (int i = 0; i < repeats; i++) sum = call();
		const double us = std::chrono::duration<double, std::micro>(clock::now() - start).count();
		least = std::min(least, us / repeats);
		if (us < 100) repeats *= 2;
	}
	std::printf("%-24s %12.4g %20.12g\n", name.c_str(), least, sum);
}

static std::mt19937_64 engine(1);
static std::vector<double> uniform(int n) {
	std::vector<double> x(n);
	for (double &v : x) v = std::uniform_real_distribution<>()(engine);
	return x;
}

// ode: y ← (1 + hN + (hN)²/2 + (hN)³/6 + (hN)⁴/24)·y with (N·y)_i = x_i·y_{i-1} and y_{-1} = 1.
struct Ode {
	static constexpr int pad = 8;
	int n, steps;
	std::vector<double> x, c1, c2, c3, c4, y[2], la[2], xbar;
	int end = pad, begin;
	Ode(int n, int steps) : n(n), steps(steps), x(n + 2 * pad), begin(n + pad) {
		const auto u = uniform(n);
		std::copy(u.begin(), u.end(), x.begin() + pad);
		for (auto *v : {&c1, &c2, &c3, &c4, &y[0], &y[1], &la[0], &la[1], &xbar}) v->assign(n + 2 * pad, 0);
	}
	void set(int from, int to) { // the diagonals of rows from, ..., to-1
		const double h = 2.0 / steps;
		for (int i = from; i < to; i++) {
			c1[i] = h * x[i];
			c2[i] = c1[i] * (h * x[i - 1]) / 2;
			c3[i] = c2[i] * (h * x[i - 2]) / 3;
			c4[i] = c3[i] * (h * x[i - 3]) / 4;
		}
	}
	int forward() { // returns which of y has the result
		for (auto &v : y) std::fill(v.begin(), v.begin() + end, 0.0);
		y[0][pad - 1] = y[1][pad - 1] = 1;
		set(pad, std::min(pad + 4 * steps, n + pad));
		end = pad;
		for (int s = 0; s < steps; s++) {
			end = std::min(end + 4, n + pad);
			const double *v = y[s % 2].data();
			double *w = y[1 - s % 2].data();
			for (int i = pad; i < end; i++) w[i] = v[i] + c1[i] * v[i - 1] + c2[i] * v[i - 2] + c3[i] * v[i - 3] + c4[i] * v[i - 4];
		}
		return steps % 2;
	}
	double primal() {
		std::fill(y[0].begin(), y[0].end(), 0.0); // the answer, which a caller may have written to
		return y[forward()][pad];
	}
	double gradient() { // of the last element, which depends on none of x up to 4·steps
		forward();
		std::fill(xbar.begin(), xbar.end(), 0.0);
		for (auto &v : la) std::fill(v.begin() + begin, v.end(), 0.0);
		la[0][n + pad - 1] = 1, begin = n + pad - 1;
		set(std::max(pad, n + pad - 1 - 4 * steps), n + pad);
		for (int s = 0; s < steps; s++) {
			begin = std::max(pad, begin - 4);
			const double *v = la[s % 2].data();
			double *w = la[1 - s % 2].data();
			for (int i = begin; i < n + pad; i++) w[i] = v[i] + c1[i + 1] * v[i + 1] + c2[i + 2] * v[i + 2] + c3[i + 3] * v[i + 3] + c4[i + 4] * v[i + 4];
		}
		return xbar[pad] + la[steps % 2][begin];
	}
};

// det: D(S) = Σ_{j∈S} ±a_{n-s,j}·D(S∖j).
struct Det {
	int n;
	std::vector<double> a, g;
	explicit Det(int n) : n(n), a(uniform(n * n)), g(n * n) {}
	double minor(int r, unsigned set) const {
		const double *x = &a[r * n];
		if (r == n - 1) return x[__builtin_ctz(set)];
		if (r == n - 3) {
			const int i = __builtin_ctz(set), j = __builtin_ctz(set & (set - 1)), k = 31 - __builtin_clz(set);
			const double *y = x + n, *z = y + n;
			return x[i] * (y[j] * z[k] - y[k] * z[j]) - x[j] * (y[i] * z[k] - y[k] * z[i]) + x[k] * (y[i] * z[j] - y[j] * z[i]);
		}
		double sum = 0, sign = 1;
		for (unsigned rest = set; rest != 0; rest &= rest - 1, sign = -sign) {
			const int j = __builtin_ctz(rest);
			sum += sign * x[j] * minor(r + 1, set ^ (1u << j));
		}
		return sum;
	}
	double adjoint(int r, unsigned set, double bar) {
		const double *x = &a[r * n];
		double *gx = &g[r * n];
		if (r == n - 1) {
			gx[__builtin_ctz(set)] += bar;
			return x[__builtin_ctz(set)];
		}
		if (r == n - 2) {
			const int j = __builtin_ctz(set), k = 31 - __builtin_clz(set);
			gx[j] += bar * x[n + k], gx[k] -= bar * x[n + j], gx[n + j] -= bar * x[k], gx[n + k] += bar * x[j];
			return x[j] * x[n + k] - x[k] * x[n + j];
		}
		double sum = 0, sign = 1;
		for (unsigned rest = set; rest != 0; rest &= rest - 1, sign = -sign) {
			const int j = __builtin_ctz(rest);
			const double v = sign * adjoint(r + 1, set ^ (1u << j), sign * bar * x[j]);
			gx[j] += bar * v;
			sum += x[j] * v;
		}
		return sum;
	}
	double gradient() {
		std::fill(g.begin(), g.end(), 0.0);
		adjoint(0, (1u << n) - 1, 1);
		return g[0];
	}
};

// A dual number v + d·ε, over double or over dual numbers.
template <class T> struct Dual {
	T v{}, d{};
	Dual() = default;
	Dual(double x) : v(x) {}
	Dual(const T &v, const T &d) : v(v), d(d) {}
	friend Dual operator+(const Dual &a, const Dual &b) { return {a.v + b.v, a.d + b.d}; }
	friend Dual operator-(const Dual &a, const Dual &b) { return {a.v - b.v, a.d - b.d}; }
	friend Dual operator*(const Dual &a, const Dual &b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
	friend Dual operator/(const Dual &a, const Dual &b) {
		const T q = a.v / b.v;
		return {q, (a.d - q * b.d) / b.v};
	}
	friend Dual sqrt(const Dual &a) {
		using std::sqrt;
		const T r = sqrt(a.v);
		return {r, a.d / (r + r)};
	}
};
static double part(double x) { return x; }
template <class T> static double part(const Dual<T> &x) { return part(x.v); }

// descend moves x down f, whose gradient is that of dual numbers.
template <int n, class T, class F> static void descend(T *x, F f) {
	T g[n], next[n], at = f(x);
	const auto gradient = [&] {
		for (int i = 0; i < n; i++) {
			Dual<T> u[n];
			for (int j = 0; j < n; j++) u[j] = Dual<T>(x[j], T(j == i ? 1.0 : 0.0));
			g[i] = f(u).d;
		}
	};
	const auto length = [](const T *v) {
		double sum = 0;
		for (int i = 0; i < n; i++) sum += part(v[i]) * part(v[i]);
		return std::sqrt(sum);
	};
	gradient();
	double eta = 1e-5;
	for (int better = 0; length(g) > 1e-5;) {
		if (better == 10) {
			eta *= 2, better = 0;
			continue;
		}
		T move[n];
		for (int i = 0; i < n; i++) next[i] = x[i] - T(eta) * g[i], move[i] = x[i] - next[i];
		if (length(move) <= 1e-5) return;
		const T there = f(next);
		if (part(there) < part(at)) {
			std::copy(next, next + n, x);
			at = there, better++;
			gradient();
		} else {
			eta /= 2, better = 0;
		}
	}
}

template <class T> static T potential(const T *x, const T &w) {
	const T a = x[0] - T(10.0), b = x[1] - (T(10.0) - w), c = x[1];
	return T(1.0) / sqrt(a * a + b * b) + T(1.0) / sqrt(a * a + c * c);
}

// crossing returns the square of where the particle crosses y = 0.
template <class T> static T crossing(const T *w) {
	T x[2] = {T(0.0), T(8.0)}, v[2] = {T(0.75), T(0.0)};
	for (const T dt(0.1);;) {
		T force[2];
		for (int i = 0; i < 2; i++) {
			const Dual<T> u[2] = {{x[0], T(i == 0 ? 1.0 : 0.0)}, {x[1], T(i == 1 ? 1.0 : 0.0)}};
			force[i] = T(0.0) - potential(u, Dual<T>(w[0], T(0.0))).d;
		}
		x[0] = x[0] + dt * v[0], x[1] = x[1] + dt * v[1];
		if (part(x[1]) <= 0) {
			const T end = x[0] - x[1] / v[1] * v[0];
			return end * end;
		}
		v[0] = v[0] + dt * force[0], v[1] = v[1] + dt * force[1];
	}
}

static double particle() {
	double w = 0;
	descend<1>(&w, [](const auto *w) { return crossing(w); });
	return w;
}

// highest stores in y where the descent in y ends for x, from (1, 1).
template <class T> static void highest(const T *x, T *y) {
	const T below = x[0] * x[0] + x[1] * x[1];
	y[0] = y[1] = T(1.0);
	descend<2>(y, [&](const auto *u) {
		using U = std::decay_t<decltype(*u)>;
		if constexpr (std::is_same_v<U, T>) return u[0] * u[0] + u[1] * u[1] - below;
		else return u[0] * u[0] + u[1] * u[1] - U(below, T(0.0));
	});
}

static double saddle() {
	double x[2] = {1, 1};
	descend<2>(x, [](const auto *u) {
		std::decay_t<decltype(*u)> y[2];
		highest(u, y);
		return u[0] * u[0] + u[1] * u[1] - (y[0] * y[0] + y[1] * y[1]);
	});
	double y[2];
	highest(x, y);
	return x[0] + x[1] + y[0] + y[1];
}

int main() {
	for (int n : {1000, 10000, 100000}) {
		for (int s : {1, 10, 100}) {
			Ode k(n, s);
			const std::string size = "ode/n=" + std::to_string(n) + ",s=" + std::to_string(s);
			time(size + "/primal", [&] { return k.primal(); });
			time(size + "/gradient", [&] { return k.gradient(); });
		}
	}
	for (int n : {5, 8, 11}) {
		Det k(n);
		time("det/" + std::to_string(n) + "/primal", [&] { return k.minor(0, (1u << n) - 1); });
		time("det/" + std::to_string(n) + "/gradient", [&] { return k.gradient(); });
	}
	time("particle/ff", particle);
	time("saddle/ff", saddle);
}
