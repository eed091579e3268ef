package fixedpoint

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/dense"
)

//go:generate go run ./_gen

// tier is the vector code in use. AVX-512 without IFMA runs that of AVX2.
var tier = func() cpu.Tier {
	if t := cpu.InUse(); t < cpu.AVX512 || cpu.HasIFMA() {
		return t
	}
	return cpu.AVX2
}()

// Sizes of blocks. A panel of A and one of B stay in the first-level cache, and a block of A in
// the second. The sums of a block of C stay in memory if there are several blocks of products.
const (
	panel     = 8   // rows of A or columns of B
	gemmDepth = 256 // steps of a block, half as many if numbers have two limbs
	gemmRows  = 256
	gemmCols  = 256
	callRows  = 128 // of a call of assembly, so that it takes less than 100 µs
	panelSize = (gemmDepth + 2) * panel
)

// Gemm computes C += A·B, or C -= A·B if sign is negative. C is m×n, stored by rows with stride
// ldc. A is m×k with A[i,l] = a[i*rsa+l*csa], and B is k×n with B[l,j] = b[l*rsb+j*csb]. Strides
// must not be negative. An element of the product is exact, rounded once, and wraps. Gemm does
// nothing if m, n or k is 0, and panics if a slice is too short.
func Gemm(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) {
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	w := newGemm(m, n, k, a, rsa, csa, b, rsb, csb, c, ldc)
	switch {
	case w == nil:
		genericGemm(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	case n == 1 && csa == 1 && rsb == 1:
		for i := range m {
			c[i*ldc] += number.Signed(sign, Dot(a[i*rsa:][:k], b[:k]))
		}
	default:
		w.run(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	}
	w.free()
}

// newGemm checks the operands. It returns nil if plain Go multiplies them.
func newGemm(m, n, k int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) *gemm {
	if rsa < 0 || csa < 0 || rsb < 0 || csb < 0 || ldc < 0 {
		panic("fixedpoint: negative stride")
	}
	_ = a[(m-1)*rsa+(k-1)*csa]
	_ = b[(k-1)*rsb+(n-1)*csb]
	_ = c[(m-1)*ldc+n-1]
	if tier == cpu.Generic || tier == cpu.AVX2 && n <= 2 { // a panel would be nearly empty
		return nil
	}
	narrow := isNarrow(a, m, k, rsa, csa) && isNarrow(b, n, k, csb, rsb)
	if !narrow && runtime.GOARCH == "arm64" {
		// MUL and UMULH beat two limbs: 1.1 cycles a product to 1.8 (llvm-mca, Neoverse V2).
		return nil
	}
	w := gemmPool.Get().(*gemm)
	w.narrow, w.limbs, w.checks = narrow, 2, 0
	if w.narrow {
		w.limbs = 1
	}
	return w
}

func (w *gemm) free() {
	if w != nil {
		gemmPool.Put(w)
	}
}

// run is Gemm by tiles.
func (w *gemm) run(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) {
	w.minus = sign >> (bitsOfInt - 1)
	depth := gemmDepth / w.limbs
	for j := 0; j < n; j += gemmCols {
		cols := min(gemmCols, n-j)
		for i := 0; i < m; i += gemmRows {
			rows := min(gemmRows, m-i)
			for l := 0; l < k; l += depth {
				w.depth = min(depth, k-l)
				w.flags = w.checks
				if l > 0 {
					w.flags |= addsToSums
				}
				if l+w.depth < k {
					w.flags |= keepsSums
				}
				if i == 0 || k > depth {
					w.pack(w.b[:], b[j*csb+l*rsb:], cols, csb, rsb, false)
				}
				w.pack(w.a[:], a[i*rsa+l*csa:], rows, rsa, csa, true)
				w.multiply(rows, cols, c[i*ldc+j:], ldc)
			}
		}
	}
}

const bitsOfInt = int(unsafe.Sizeof(0)) * 8

// Flags of the assembly.
const (
	addsToSums = 1 << iota
	keepsSums
	checksRange
)

// topUnit is the exponent of the units of estimates of elements, by which the assembly checks their range.
// It is also in _gen/gemm.go.
const topUnit = 44

// gemm is a product in progress.
type gemm struct {
	narrow       bool
	limbs        int // 1 if narrow, else 2
	minus        int // -1 if the product is subtracted, else 0
	depth, flags int // of the current block of products
	checks       int // checksRange, or 0

	bad [panel]uint64 // has bits from 20 on if an element was out of range

	a     [gemmRows / panel * panelSize]uint64
	b     [gemmCols / panel * panelSize]uint64
	sums  [3 * gemmRows * gemmCols]uint64 // low and high words, and estimates
	steps [gemmDepth * panel]fixed.Q43    // of a panel, before they are split
	edge  [callRows * panel]fixed.Q43     // rows of C that are no whole panel
}

var gemmPool = sync.Pool{New: func() any { return new(gemm) }}

// isNarrow reports whether all numbers of n vectors of length k have a limb of 52 bits.
// Element l of vector i is x[i*inc+l*step].
func isNarrow(x []fixed.Q43, n, k, inc, step int) bool {
	if inc < step {
		n, k, inc, step = k, n, step, inc
	}
	var bits uint64
	for i := 0; i < n && bits>>limbBits == 0; i++ {
		v, whole := x[i*inc:], 0
		if step == 1 {
			whole = k &^ (panel - 1)
			for l := 0; l < whole; l += cpu.Chunk {
				bits |= vectorSpan(min(cpu.Chunk, whole-l), (*int64)(&v[l]))
			}
		}
		for l := whole; l < k; l++ {
			bits |= uint64(v[l*step]) + 1<<(limbBits-1)
		}
	}
	return bits>>limbBits == 0
}

const limbBits = 52

// panelSize returns the words of a panel: its limbs, the sums of its rows, and a constant.
func (w *gemm) panelSize() int {
	return (w.limbs*w.depth + 2) * panel
}

// pack writes the limbs of n vectors to dst, by panels. Element l of vector i is
// x[i*inc+l*step].
func (w *gemm) pack(dst []uint64, x []fixed.Q43, n, inc, step int, isA bool) {
	size := w.panelSize()
	for i := 0; i < n; i += panel {
		in, rows := x[i*inc:], min(panel, n-i)
		stride := step
		if inc != 1 || rows < panel {
			w.transpose(in, rows, inc, step)
			in, stride = w.steps[:], panel
		}
		to := dst[i/panel*size:][:size]
		switch {
		case w.narrow:
			vectorSplitNarrow(w.depth, (*int64)(&in[0]), stride, &to[0])
		case isA:
			vectorSplitRows(w.depth, (*int64)(&in[0]), stride, &to[0])
		default:
			vectorSplitColumns(w.depth, (*int64)(&in[0]), stride, &to[0])
		}
		w.setConstants(to[size-2*panel:], isA)
	}
}

// transpose copies rows of a panel to steps, with zeros in the rows that are missing.
func (w *gemm) transpose(x []fixed.Q43, rows, inc, step int) {
	steps := w.steps[:w.depth*panel]
	if rows < panel {
		clear(steps)
	}
	if step == 1 {
		Transpose(steps, panel, x, inc, rows, w.depth)
		return
	}
	for l := range w.depth {
		for i := range rows {
			steps[l*panel+i] = x[i*inc+l*step]
		}
	}
}

// Transpose computes dst[j*ldd+i] = x[i*ldx+j] for i < m and j < n. It panics if a slice is too short.
func Transpose(dst []fixed.Q43, ldd int, x []fixed.Q43, ldx, m, n int) {
	dense.Transpose(floats(dst), ldd, floats(x), ldx, m, n)
}

// floats returns x as numbers that are only copied.
func floats(x []fixed.Q43) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// setConstants adds to the end of a panel what the comment of the package subtracts from the
// high words.
func (w *gemm) setConstants(end []uint64, isA bool) {
	k := uint64(w.depth)
	switch {
	case isA:
	case tier == cpu.AVX512 && w.narrow:
		for j := range panel {
			end[j] += k << (2*51 - fixed.FracBits)
			end[panel+j] += k << (2*51 - fixed.FracBits - topUnit)
		}
	case tier == cpu.AVX512:
		for j := range panel {
			end[panel+j] += k << (2*63 - fixed.FracBits - topUnit)
		}
	case tier == cpu.AVX2:
		hi, bias := k*math.Float64bits(magicHi), uint64(1)<<62
		lack := hi<<(51-fixed.FracBits) + bias>>fixed.FracBits
		if !w.narrow {
			lack += hi<<(90-fixed.FracBits) + bias>>(fixed.FracBits-39)
		}
		for j := range panel {
			end[j] = lack
		}
		end[panel] = bias - k*math.Float64bits(magicLo)
		end[panel+1], end[panel+2] = bias-hi, bias>>(fixed.FracBits+topUnit-51)
		if !w.narrow {
			end[panel+2] += hi<<(90-fixed.FracBits-topUnit) + bias>>(fixed.FracBits+topUnit-39)
		}
	}
}

// The numbers that products of float64 are added to.
const (
	magicHi = 0x1.8p103
	magicLo = 0x1.8p52
)

// groupRows returns how many rows the assembly does at a time.
func (w *gemm) groupRows() int {
	switch {
	case tier == cpu.AVX512 && w.narrow:
		return 8
	case tier == cpu.AVX512:
		return 4
	case w.narrow:
		return 2
	}
	return 1
}

// multiply adds the product of the packed blocks to rows and columns of C.
func (w *gemm) multiply(rows, cols int, c []fixed.Q43, ldc int) {
	size, group := w.panelSize(), w.groupRows()
	for j := 0; j < cols; j += panel {
		b := &w.b[j/panel*size]
		var n int
		for i := 0; i < rows; i += n {
			n = min(callRows, rows-i)
			if n%group != 0 && n > panel {
				n &^= panel - 1
			}
			a, sums := &w.a[i/panel*size], &w.sums[3*(j*gemmRows+i*panel)]
			if n%group == 0 && cols-j >= panel {
				w.tile(n, a, b, c[i*ldc+j:], ldc, sums)
				continue
			}
			whole, width := (n+group-1)/group*group, min(panel, cols-j)
			clear(w.edge[:whole*panel])
			for r := range n {
				copy(w.edge[r*panel:], c[(i+r)*ldc+j:][:width])
			}
			w.tile(whole, a, b, w.edge[:], panel, sums)
			for r := range n {
				copy(c[(i+r)*ldc+j:][:width], w.edge[r*panel:])
			}
		}
	}
}

// tile adds the product of rows of A with a panel of B to C.
func (w *gemm) tile(rows int, a, b *uint64, c []fixed.Q43, ldc int, sums *uint64) {
	if w.narrow {
		vectorTileNarrow(rows, w.depth, a, b, (*int64)(&c[0]), ldc, w.minus, sums, w.flags, &w.bad[0])
	} else {
		vectorTileWide(rows, w.depth, a, b, (*int64)(&c[0]), ldc, w.minus, sums, w.flags, &w.bad[0])
	}
}

// PeakProducts runs rounds of the multiply-adds of 52 bits that bound the speed of Gemm, on
// registers. It returns how many products of numbers with so many limbs they would make, 0 if
// the tier does not multiply so. Time it to get the bound.
func PeakProducts(rounds, limbs int) int {
	if tier != cpu.AVX512 {
		return 0
	}
	for left := rounds; left > 0; left -= cpu.Chunk / 8 {
		vectorMadds(min(left, cpu.Chunk/8))
	}
	const aRound, lanes = 16, 8
	return rounds * aRound * lanes / []int{1: 2, 2: 6}[limbs]
}
