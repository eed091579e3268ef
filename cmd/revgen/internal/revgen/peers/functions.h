// The functions of ../examples in C++, as a person would write them there. They assign where
// those in Go add.
#pragma once
#include <cmath>

// norm2 is out = ‖x‖.
template <class T> void norm2(T *out, const T *x, int n) {
	using std::sqrt;
	T s = 0;
	for (int i = 0; i < n; i++) s += x[i] * x[i];
	*out = sqrt(s);
}

// rotate turns x_i and x_i+1 by θ_i, one after the other, as three shears.
template <class T> void rotate(T *x, const T *theta, int n) {
	using std::cos, std::sin;
	for (int i = 0; i < n; i++) {
		T s = sin(theta[i]), c = cos(theta[i]);
		T t = s / (1 + c);
		x[i] -= t * x[i + 1];
		x[i + 1] += s * x[i];
		x[i] -= t * x[i + 1];
	}
}

// bessel is y_i = J_ν(x_i).
template <class T> void bessel(T *y, const T *x, int nu, int n) {
	using std::fabs;
	for (int i = 0; i < n; i++) {
		T h = x[i] / 2, term = 1;
		for (int k = 1; k <= nu; k++) term *= h / double(k);
		T sum = term;
		for (int k = 1; k < 100 && fabs(term) > 1e-18; k++) {
			term *= -h * h / double(k * (k + nu));
			sum += term;
		}
		y[i] = sum;
	}
}

// snavely is r = π(c, X) - x of reprojection errors.
template <class T>
void snavely(T *r, const T *cameras, const T *points, const double *features, const int *camera, const int *point, int n) {
	using std::cos, std::sin, std::sqrt;
	for (int i = 0; i < n; i++) {
		const T *c = cameras + 9 * camera[i], *x = points + 3 * point[i];
		T s = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
		T cs, a, b;
		if (s > 1e-6) {
			T theta = sqrt(s);
			cs = cos(theta), a = sin(theta) / theta, b = (1 - cs) / s;
		} else {
			cs = 1 - s / 2, a = 1 - s / 6, b = 0.5 - s / 24;
		}
		T d = b * (c[0] * x[0] + c[1] * x[1] + c[2] * x[2]);
		T y0 = cs * x[0] + a * (c[1] * x[2] - c[2] * x[1]) + d * c[0] + c[3];
		T y1 = cs * x[1] + a * (c[2] * x[0] - c[0] * x[2]) + d * c[1] + c[4];
		T y2 = cs * x[2] + a * (c[0] * x[1] - c[1] * x[0]) + d * c[2] + c[5];
		T u = -y0 / y2, v = -y1 / y2;
		T q = u * u + v * v;
		T f = c[6] * (1 + q * (c[7] + q * c[8]));
		r[2 * i] = f * u - features[2 * i];
		r[2 * i + 1] = f * v - features[2 * i + 1];
	}
}

template <class T> T sigmoid(const T &x) {
	using std::tanh;
	return 0.5 + 0.5 * tanh(0.5 * x);
}

// lstm is a cell with the gates i, f, o, g.
template <class T>
void lstm(T *h1, T *c1, const T *w, const T *u, const T *b, const T *x, const T *h0, const T *c0, int n, int m) {
	using std::tanh;
	for (int k = 0; k < n; k++) {
		T z[4];
		for (int gate = 0; gate < 4; gate++) {
			int row = gate * n + k;
			T s = b[row];
			for (int j = 0; j < m; j++) s += w[row * m + j] * x[j];
			for (int j = 0; j < n; j++) s += u[row * n + j] * h0[j];
			z[gate] = s;
		}
		T c = sigmoid<T>(z[1]) * c0[k] + sigmoid<T>(z[0]) * tanh(z[3]);
		c1[k] = c;
		h1[k] = sigmoid<T>(z[2]) * tanh(c);
	}
}

// leapfrog moves bodies that attract each other.
template <class T> void leapfrog(T *x, T *v, const T *m, const T *dt, double eps, int steps, int n) {
	using std::sqrt;
	for (int step = 0; step < steps; step++) {
		for (int i = 0; i < 3 * n; i++) x[i] += *dt / 2 * v[i];
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < i; j++) {
				T dx = x[3 * i] - x[3 * j], dy = x[3 * i + 1] - x[3 * j + 1], dz = x[3 * i + 2] - x[3 * j + 2];
				T r2 = dx * dx + dy * dy + dz * dz + eps;
				T f = *dt / (r2 * sqrt(r2));
				T fi = f * m[j], fj = f * m[i];
				v[3 * i] -= fi * dx;
				v[3 * i + 1] -= fi * dy;
				v[3 * i + 2] -= fi * dz;
				v[3 * j] += fj * dx;
				v[3 * j + 1] += fj * dy;
				v[3 * j + 2] += fj * dz;
			}
		}
		for (int i = 0; i < 3 * n; i++) x[i] += *dt / 2 * v[i];
	}
}
