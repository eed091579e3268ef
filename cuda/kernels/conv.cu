// Conv2D, with the equations of revnn. All are products of matrices of which one is C(X) or a part of
// its transpose. Its elements are found in X when a tile of it is loaded, so that it is nowhere in memory.
#include "matrix.h"

DEVICE i64 blocksZ() { return __nvvm_read_ptx_sreg_nctaid_z(); }

// A Shape is that of a convolution: a group has so many channels and filters. The filters have rows·cols
// places.
struct Shape {
	i64 inputs, groups, channels, filters, height, width, kernelHeight, kernelWidth, strideHeight, strideWidth, padHeight, padWidth, dilationHeight, dilationWidth, rows, cols;
	DEVICE i64 area() const { return kernelHeight * kernelWidth; }
	DEVICE i64 places() const { return rows * cols; }
	DEVICE i64 plane() const { return height * width; }
};

// A Rounded<T> is a sum of sums, each of which is rounded. Over floats it is one sum.
template <class T> struct Rounded : Sum<T> {
	DEVICE void round() {}
};
template <> struct Rounded<Q43> {
	Sum<Q43> s;
	Q43 total;
	DEVICE void addProduct(Q43 x, Q43 y) { s.addProduct(x, y); }
	DEVICE void round() { total = total + s.value(), s = Sum<Q43>::zero(); }
	DEVICE Q43 value() const { return total; }
};

template <class> struct IsPointer { static constexpr bool value = false; };
template <class T> struct IsPointer<T *> { static constexpr bool value = true; };

// A Tile of a product has size·16 elements to a side. A block of 16×16 threads computes it, and a thread
// size×size elements, which are 16 apart.
template <int size, class T> struct Tile {
	static constexpr int side = 16 * size;
	Rounded<T> s[size][size];
	i64 row, column;
	INLINE Tile(i64 row, i64 column) : row(row), column(column) {
#pragma unroll
		for (int i = 0; i < size; i++) {
#pragma unroll
			for (int j = 0; j < size; j++) s[i][j] = {};
		}
	}

	// load loads the elements l, l+1, ... of the lines of a matrix, where neighbouring threads have
	// neighbours of a line, if it is along them, or of an element else.
	template <bool along, class A> INLINE static void load(T (&tile)[depth][side + 1], A a, i64 from, i64 l, i64 terms) {
		int me = (int)(threadY() * 16 + threadX());
		if (along) {
			for (int e = me; e < side * depth; e += 256) {
				i64 p = l + e % depth;
				tile[e % depth][e / depth] = p < terms ? a.at(a.line(from + e / depth), p) : T{};
			}
			return;
		}
		auto line = a.line(from + me % side); // of all that the thread loads
		for (int e = me; e < side * depth; e += 256) {
			i64 p = l + e / side;
			tile[e / side][e % side] = p < terms ? a.at(line, p) : T{};
		}
	}

	// add adds the products of lines of a and b, rounded. If lines of b are pointers, it leaves out those
	// that are null, so that zeros are not multiplied with what is infinite.
	template <bool alongA, bool alongB, class A, class B> INLINE void add(A a, B b, i64 terms) {
		SHARED T as[depth][side + 1], bs[depth][side + 1];
		constexpr bool skips = IsPointer<decltype(b.line(0))>::value;
		SHARED int there[skips ? side : 1]; // the loop has barriers before and after it reads them
		if constexpr (skips) {
			int me = (int)(threadY() * 16 + threadX());
			if (me < side) there[me] = b.line(column + me % side) != nullptr;
		}
		for (i64 l = 0; l < terms; l += depth) {
			load<alongA>(as, a, row, l, terms);
			load<alongB>(bs, b, column, l, terms);
			barrier();
			auto step = [&](int p) __attribute__((always_inline)) {
				T u[size], v[size];
#pragma unroll
				for (int i = 0; i < size; i++) u[i] = as[p][16 * i + threadY()], v[i] = bs[p][16 * i + threadX()];
#pragma unroll
				for (int j = 0; j < size; j++) {
					if (skips && !there[16 * j + threadX()]) continue;
#pragma unroll
					for (int i = 0; i < size; i++) s[i][j].addProduct(u[i], v[j]);
				}
			};
			if constexpr (size == 1) {
#pragma unroll depth / 2 // all steps at once would take more registers than a small tile may have
				for (int p = 0; p < depth; p++) step(p);
			} else {
				for (int p = 0; p < depth; p++) step(p);
			}
			barrier();
		}
#pragma unroll
		for (int i = 0; i < size; i++) {
#pragma unroll
			for (int j = 0; j < size; j++) s[i][j].round();
		}
	}

	// store calls to for each element of the m×n product.
	template <class F> INLINE void store(i64 m, i64 n, F to) const {
#pragma unroll
		for (int j = 0; j < size; j++) {
			i64 q = column + 16 * j + threadX();
			if (q >= n) continue;
#pragma unroll
			for (int i = 0; i < size; i++) {
				i64 r = row + 16 * i + threadY();
				if (r < m) to(r, q, s[i][j].value());
			}
		}
	}
};

// The rows of W of a group.
template <class T> struct Filters {
	const T *data;
	i64 stride, n;
	DEVICE const T *line(i64 f) const { return f < n ? data + f * stride : nullptr; }
	DEVICE T at(const T *line, i64 k) const { return line ? line[k] : T{}; }
};

// The columns of C(X) of a group, of all inputs.
template <class T> struct Patches {
	const T *data;
	i64 stride;
	Shape f;
	struct Line {
		const T *data;
		i64 y, x;
	};
	DEVICE Line line(i64 q) const {
		i64 n = over(q, f.places()), p = q - n * f.places(), i = over(p, f.cols), j = p - i * f.cols;
		return {n < f.inputs ? data + n * stride : nullptr, i * f.strideHeight - f.padHeight, j * f.strideWidth - f.padWidth};
	}
	DEVICE T at(Line line, i64 k) const {
		i64 c = over(k, f.area()), r = k - c * f.area(), u = over(r, f.kernelWidth), v = r - u * f.kernelWidth;
		i64 y = line.y + u * f.dilationHeight, x = line.x + v * f.dilationWidth;
		return line.data && y >= 0 && y < f.height && x >= 0 && x < f.width ? line.data[(c * f.height + y) * f.width + x] : T{};
	}
};

// Y += sign·(W·C(X) + b·1ᵀ) of each input, where a W or X that is null counts as zeros, and a b too.
template <int size, class T>
DEVICE void convolve(T *y, i64 strideY, const T *w, i64 strideW, const T *x, i64 strideX, const T *b, i64 incb, i64 sign, Shape f) {
	constexpr int side = Tile<size, T>::side;
	i64 terms = w && x ? f.channels * f.area() : 0;
	for (i64 g = blockZ(); g < f.groups; g += blocksZ()) {
		for (i64 row = blockY() * side; row < f.filters; row += blocksY() * side) {
			Tile<size, T> t(row, blockX() * side);
			t.template add<true, false>(Filters<T>{w + g * f.filters * strideW, strideW, f.filters}, Patches<T>{x + g * f.channels * f.plane(), strideX, f}, terms);
			t.store(f.filters, f.inputs * f.places(), [&](i64 r, i64 q, T v) {
				i64 n = over(q, f.places()), filter = g * f.filters + r;
				T &to = y[n * strideY + filter * f.places() + q - n * f.places()];
				if (terms > 0) addSigned(to, sign, v);
				if (b) addSigned(to, sign, b[filter * incb]);
			});
		}
	}
}

// The element (u, v) of the filters of a group, with a line for each channel.
template <class T> struct Taps {
	const T *data;
	i64 stride, n, area;
	DEVICE const T *line(i64 c) const { return c < n ? data + c * area : nullptr; }
	DEVICE T at(const T *line, i64 filter) const { return line ? line[filter * stride] : T{}; }
};

// A Phase is the elements of a plane of X whose rows and columns have the remainders y and x by the strides.
// They meet the same elements of the filters.
struct Phase {
	int y, x, rows, cols;
	DEVICE i64 count() const { return (i64)rows * cols; }
	DEVICE Phase(const Shape &f, i64 i)
		: y((int)i / (int)f.strideWidth), x((int)i % (int)f.strideWidth),
		  rows(y < f.height ? ((int)f.height - 1 - y) / (int)f.strideHeight + 1 : 0), cols(x < f.width ? ((int)f.width - 1 - x) / (int)f.strideWidth + 1 : 0) {}
};

// The places of Ȳ at which an element of the filters meets an element of a phase, with a line for each
// of these, of all inputs. A thread asks for one line only, its own: that of place (y, x) of data.
template <class T> struct Meeting {
	const T *data; // or null, after the last input
	Shape f;
	int y, x;
	DEVICE const T *line(i64) const { return data && y >= 0 && y < f.rows && x >= 0 && x < f.cols ? data + y * f.cols + x : nullptr; }
	DEVICE T at(const T *line, i64 filter) const { return line ? line[filter * f.places()] : T{}; }
};

// X̄ += Cᵀ(Wᵀ·Ȳ) of each input. Each element of Wᵀ·Ȳ is rounded. The first tiles are of the first phase, and
// as many of each other, of which some may be empty.
template <int size, class T>
INLINE void convolveBack(T *gx, i64 strideX, const T *w, i64 strideW, const T *gy, i64 strideY, Shape f) {
	constexpr int side = Tile<size, T>::side;
	i64 tiles = (f.inputs * Phase(f, 0).count() + side - 1) / side, phase = over(blockX(), tiles), column = (blockX() - phase * tiles) * side;
	Phase of(f, phase);
	if (column >= f.inputs * of.count()) return;
	// Element e of the phase of input n is that of the line of the thread, and down and across are its place.
	i64 q = column + (int)(threadY() * 16 + threadX()) % side, n = over(q, of.count());
	int e = (int)(q - n * of.count()), down = e / of.cols, across = e - down * of.cols;
	gy = n < f.inputs ? gy + n * strideY : nullptr;
	for (i64 g = blockZ(); g < f.groups; g += blocksZ()) {
		for (i64 row = blockY() * side; row < f.channels; row += blocksY() * side) {
			Tile<size, T> t(row, column);
			for (int u = 0; u < (int)f.kernelHeight; u++) {
				int y = of.y + (int)f.padHeight - u * (int)f.dilationHeight, i = y / (int)f.strideHeight;
				if (i * (int)f.strideHeight != y) continue;
				for (int v = 0; v < (int)f.kernelWidth; v++) {
					int x = of.x + (int)f.padWidth - v * (int)f.dilationWidth, j = x / (int)f.strideWidth;
					if (j * (int)f.strideWidth != x) continue;
					Taps<T> a{w + g * f.filters * strideW + u * (int)f.kernelWidth + v, strideW, f.channels, f.area()};
					t.template add<false, false>(a, Meeting<T>{gy ? gy + g * f.filters * f.places() : nullptr, f, down + i, across + j}, f.filters);
				}
			}
			t.store(f.channels, f.inputs * of.count(), [&](i64 r, i64 q, T v) {
				if (size > 1) n = over(q, of.count()), e = (int)(q - n * of.count()); // else they are those of q already
				i64 y = of.y + e / of.cols * f.strideHeight, x = of.x + e % of.cols * f.strideWidth;
				addSigned(gx[n * strideX + (g * f.channels + r) * f.plane() + y * f.width + x], 1, v);
			});
		}
	}
}

// Places of Ȳ from a first one on, with a line for each filter of a group.
template <class T> struct Outputs {
	const T *data;
	i64 n, places;
	DEVICE const T *line(i64 filter) const { return filter < n ? data + filter * places : nullptr; }
	DEVICE T at(const T *line, i64 p) const { return line ? line[p] : T{}; }
};

// Places of C(X) of an input from a first one on, with a line for each of its rows of a group.
template <class T> struct PatchRows {
	const T *data;
	Shape f;
	i64 from;
	struct Line {
		const T *data;
		i64 y, x;
	};
	DEVICE Line line(i64 k) const {
		i64 c = over(k, f.area()), r = k - c * f.area(), u = over(r, f.kernelWidth), v = r - u * f.kernelWidth;
		return {c < f.channels ? data + c * f.plane() : nullptr, u * f.dilationHeight - f.padHeight, v * f.dilationWidth - f.padWidth};
	}
	DEVICE T at(Line line, i64 p) const {
		i64 i = over(from + p, f.cols), j = from + p - i * f.cols;
		i64 y = line.y + i * f.strideHeight, x = line.x + j * f.strideWidth;
		return line.data && y >= 0 && y < f.height && x >= 0 && x < f.width ? line.data[y * f.width + x] : T{};
	}
};

// W̄ += Σ Ȳ·C(X)ᵀ over the inputs. The sum over each part of the places of an input is rounded. There are
// several matrices W̄, size elements apart, if each has a sum over fewer parts than there are: over each of
// them.
template <int size, class T>
DEVICE void convolveFilters(T *gw, i64 strideW, i64 apart, const T *gy, i64 strideY, const T *x, i64 strideX, i64 part, i64 each, Shape f) {
	constexpr int side = Tile<size, T>::side;
	i64 ofInput = (f.places() + part - 1) / part, parts = f.inputs * ofInput, sums = (parts + each - 1) / each;
	for (i64 z = blockZ(); z < f.groups * sums; z += blocksZ()) {
		i64 g = z / sums, from = (z - g * sums) * each, end = from + each < parts ? from + each : parts;
		for (i64 row = blockY() * side; row < f.filters; row += blocksY() * side) {
			Tile<size, T> t(row, blockX() * side);
			for (i64 i = from; i < end; i++) {
				i64 n = i / ofInput, lo = (i - n * ofInput) * part, left = f.places() - lo;
				Outputs<T> a{gy + n * strideY + g * f.filters * f.places() + lo, f.filters, f.places()};
				t.template add<true, true>(a, PatchRows<T>{x + n * strideX + g * f.channels * f.plane(), f, lo}, left < part ? left : part);
			}
			t.store(f.filters, f.channels * f.area(), [&](i64 r, i64 k, T v) {
				addSigned(gw[(z - g * sums) * apart + (g * f.filters + r) * strideW + k], 1, v);
			});
		}
	}
}

// b̄_f += the sum of the planes f of Ȳ, each of so many places. A block has a filter.
template <class T> DEVICE void addPlanes(T *gb, i64 incb, const T *gy, i64 strideY, i64 inputs, i64 filters, i64 places) {
	for (i64 f = blockX(); f < filters; f += blocks()) {
		Sum<T> s = Sum<T>::zero();
		for (i64 n = 0; n < inputs; n++) {
			for (i64 p = threadX(); p < places; p += threads()) s.add(gy[n * strideY + f * places + p]);
		}
		s = blockSum(s);
		if (threadX() == 0) addSigned(gb[f * incb], 1, s.value());
		barrier(); // before the next sum takes the place of this one
	}
}

#define SHAPE i64 inputs, i64 groups, i64 channels, i64 filters, i64 height, i64 width, i64 kh, i64 kw, i64 sh, i64 sw, i64 ph, i64 pw, i64 dh, i64 dw, i64 rows, i64 cols
#define OF {inputs, groups, channels, filters, height, width, kh, kw, sh, sw, ph, pw, dh, dw, rows, cols}
#define TILES(T, size, name) \
	KERNEL convolve##name(T *y, i64 strideY, const T *w, i64 strideW, const T *x, i64 strideX, const T *b, i64 incb, i64 sign, SHAPE) { convolve<size, T>(y, strideY, w, strideW, x, strideX, b, incb, sign, OF); } \
	KERNEL __attribute__((launch_bounds(256, size == 1 ? 3 : 2))) convolveBack##name(T *gx, i64 strideX, const T *w, i64 strideW, const T *gy, i64 strideY, SHAPE) { convolveBack<size, T>(gx, strideX, w, strideW, gy, strideY, OF); } \
	KERNEL convolveFilters##name(T *gw, i64 strideW, i64 apart, const T *gy, i64 strideY, const T *x, i64 strideX, i64 part, i64 each, SHAPE) { convolveFilters<size, T>(gw, strideW, apart, gy, strideY, x, strideX, part, each, OF); }
#define KERNELS(T, size, name) \
	TILES(T, 1, name) \
	TILES(T, size, Large##name) \
	KERNEL addPlanes##name(T *gb, i64 incb, const T *gy, i64 strideY, i64 inputs, i64 filters, i64 places) { addPlanes<T>(gb, incb, gy, strideY, inputs, filters, places); }
KERNELS(double, 4, F64)
KERNELS(float, 4, F32)
KERNELS(Q43, 2, Q43)
