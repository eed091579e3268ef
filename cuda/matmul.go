package cuda

import (
	"strconv"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// MatMul is the kernel
//
//	C += op(A)·op(B)
//
// of revlinalg.MatMul over real numbers, where op(A) is A or its transpose, for one product or many.
// Count is the number of products, whose matrices stand below each other in C, in A and in B; 0 means
// 1. If neither factor is transposed, the derivatives are
//
//	Ā += C̄·Bᵀ,  B̄ += Aᵀ·C̄,  Ċ += Ȧ·B + A·Ḃ
//
// and, of second order,
//
//	ġA += ġC·Bᵀ + C̄·Ḃᵀ,  ġB += Aᵀ·ġC + Ȧᵀ·C̄.
//
// An element of the product is the sum of its terms in their order, each a fused multiply-add over
// floats, and so within (k+1)·ε·Σ_l |a_il·b_lj|. Where there are few elements and many terms, it
// is the sum of such sums of 512 terms or more each, within the same bound. How many there are depends
// on the shape. In fixed point it is exact and rounded once, to the bits of the host. A derivative of two products is
// one sum over floats, of the terms of the first and then of the second, where both need the same kernel and no parts.
// It is within (2k+1)·ε of the sum of their magnitudes, for k terms each, and overflows where a sum of its first terms does.
//
// Up to 65,535 products are one launch. Each of them has the bits that it has alone, except that its sums
// are not in parts. To multiply many matrices by one, multiply them as one matrix: they stand below each other.
//
// Products of float64 with at least 32 rows and columns run on the tensor cores of cards of
// compute capability 8.0 and later. NVIDIA does not say in which order these add four terms at
// a time. The bits are the same on every run of a card, but may differ from the bits of a card
// without tensor cores, of small products, and of factors whose rows are not aligned to 16 bytes.
type MatMul[T rev.Real] struct {
	C              General[T] `rev:"acc" shape:"rows,n"`
	A              General[T] `rev:"in" shape:"TransA ? terms,rows/max(Count,1) : rows,k"`
	B              General[T] `rev:"in" shape:"TransB ? max(Count,1)*n,k : terms,n"`
	TransA, TransB bool
	Count          int
}

// Run implements rev.Kernel. It returns the errors of the device. It panics with a *rev.OperandError if
// the rows of an operand are not those of Count matrices.
func (k MatMul[T]) Run(p rev.Pass[MatMul[T]]) error {
	s := stacks[T]{count: max(k.Count, 1)}
	for name, a := range map[string][]General[T]{"C": {k.C, p.G.C, p.T.C, p.GT.C}, "A": {k.A}, "B": {k.B}} {
		for _, a := range a {
			checkStack[MatMul[T]](name, a, s.count)
		}
	}
	if a, b := s.of(k.A).op(k.TransA), s.of(k.B).op(k.TransB); a.cols != b.rows {
		panic(rev.ShapeError[MatMul[T]]("B", "has %d terms for the sums of products, but A has %d", b.rows, a.cols))
	}
	w := begin(&k, &p)
	s.pass = &w
	k.run(s, p)
	return w.end()
}

// run makes the launches of a pass.
func (k MatMul[T]) run(s stacks[T], p rev.Pass[MatMul[T]]) {
	a, b := s.of(k.A).op(k.TransA), s.of(k.B).op(k.TransB)
	ta, tb := s.of(p.T.A).op(k.TransA), s.of(p.T.B).op(k.TransB)
	c, tc := s.of(k.C), s.of(p.T.C)
	s.reserve(a.rows, b.cols, a.cols)
	if p.Adjoint {
		s.reserve(a.rows, a.cols, b.cols)
		s.reserve(b.rows, b.cols, a.rows)
	}
	s.multiply(c, p.Sign(), a, b)
	s.multiplyBoth(tc, p.Sign(), ta, b, a, tb)
	gc, gtc := s.of(p.G.C), s.of(p.GT.C)
	s.multiply(s.of(p.G.A).op(k.TransA), 1, gc, b.t())
	s.multiply(s.of(p.G.B).op(k.TransB), 1, a.t(), gc)
	s.multiplyBoth(s.of(p.GT.A).op(k.TransA), 1, gtc, b.t(), gc, tb.t())
	s.multiplyBoth(s.of(p.GT.B).op(k.TransB), 1, a.t(), gtc, ta.t(), gc)
}

// strided is a matrix whose element (i, j) is at i·down + j·across.
type strided[T any] struct {
	rows, cols   int
	data         Memory[T]
	down, across int
}

func (s strided[T]) t() strided[T] { return strided[T]{s.cols, s.rows, s.data, s.across, s.down} }

// The sides of the tiles that a block computes, as in kernels/matrix.cu and tensor_sm80.cu.
const (
	smallTile  = 16
	fixedTile  = 32 // the large one of Q43
	largeTile  = 64
	widestTile = 128 // of products with asynchronous copies
	maxBlocksY = 1<<16 - 1
)

// enoughTiles is how many of the widest tiles keep a card busy.
var enoughTiles = 96

// addProduct computes C += sign·A·B, unless one of them is nil.
func addProduct[T rev.Real](w *pass, c strided[T], sign int, a, b strided[T]) {
	launchProducts(w, 1, stack[T]{c, 0}, sign, stack[T]{a, 0}, stack[T]{b, 0}, a.cols, whole)
}

// launchProducts computes C += sign·A·B for each matrix of a stack, or C = A·B if sign is 0, unless one of them is nil.
// Their sums have so many terms together. There are fewer in the last matrices if the others have all columns of A. If only
// the lower triangle is wanted, tiles above it are left out. A second pair of factors has the shapes and the kernel of the first,
// and its product is added to that.
func launchProducts[T rev.Real](w *pass, count int, c stack[T], sign int, a, b stack[T], terms int, in triangle, second ...stack[T]) {
	if c.data == nil || a.data == nil || b.data == nil || c.rows == 0 || c.cols == 0 || a.cols == 0 {
		return
	}
	name, tile, threads := productKernel(w.dev, c.strided, a, b)
	var a2, b2 stack[T]
	if len(second) > 0 {
		a2, b2 = second[0], second[1]
	}
	// A grid has few blocks in its second and third dimensions.
	for z := 0; z < count; z += bounds.rows {
		for most, rows := bounds.rows*tile[0], c.rows; rows > 0; rows -= most {
			g := grid{[3]int{across(c.cols, tile[1]), across(min(rows, most), tile[0]), min(count-z, bounds.rows)}, threads}
			from := c.rows - rows
			top := -1
			if in == lowerTriangle {
				top = from
			}
			w.launch(typed[T](name), g,
				c.from(z, from), uint64(c.down), uint64(c.across), uint64(min(rows, most)), uint64(c.cols), uint64(terms-z*a.cols),
				a.from(z, from), uint64(a.down), uint64(a.across), b.from(z, 0), uint64(b.down), uint64(b.across),
				a2.from(z, from), uint64(a2.down), uint64(a2.across), b2.from(z, 0), uint64(b2.down), uint64(b2.across), uint64(sign), uint64(top),
				uint64(a.cols), uint64(c.batch), uint64(a.batch), uint64(b.batch), uint64(a2.batch), uint64(b2.batch))
		}
	}
}

// enoughBlocks is how many blocks keep a card busy, and shortPart how many terms of a sum are worth
// a block.
var enoughBlocks, shortPart = 264, 512

// partsOf returns how many terms of the sums of a product of floats are in a part of them, so that
// blocks for the parts keep the card busy where there are few elements.
func partsOf[T rev.Real](rows, cols, terms int) (each, parts int) {
	const piece = 16
	if _, isFixed := any(*new(T)).(fixed.Q43); isFixed || rows == 0 || cols == 0 || terms == 0 {
		return terms, 1
	}
	side := smallTile
	if min(rows, cols) >= fixedTile {
		side = largeTile
	}
	parts = max(1, min(enoughBlocks/(across(rows, side)*across(cols, side)), terms/shortPart))
	each = across(across(terms, parts), piece) * piece
	return each, across(terms, each)
}

// reserveParts reserves what addLongProduct needs.
func reserveParts[T rev.Real](w *pass, rows, cols, terms int) (at uintptr) {
	if _, parts := partsOf[T](rows, cols, terms); parts > 1 {
		at = w.room(2, parts*rows*cols*int(unsafe.Sizeof(*new(T))))
	}
	return at
}

// addLongProduct does what addProduct does, or C = A·B if sign is 0, with long sums in parts. Call reserveParts before the
// pass writes.
func addLongProduct[T rev.Real](w *pass, c strided[T], sign int, a, b strided[T]) {
	each, parts := partsOf[T](c.rows, c.cols, a.cols)
	if c.data == nil || a.data == nil || b.data == nil || parts < 2 {
		launchProducts(w, 1, stack[T]{c, 0}, sign, stack[T]{a, 0}, stack[T]{b, 0}, a.cols, whole)
		return
	}
	at, n := reserveParts[T](w, c.rows, c.cols, a.cols), c.rows*c.cols
	sums := memoryAt[T](at, parts*n)
	terms := a.cols
	a.cols, b.rows = each, each
	launchProducts(w, parts, stack[T]{strided[T]{c.rows, c.cols, sums, c.cols, 1}, n}, 0, stack[T]{a, each * a.across}, stack[T]{b, each * b.down}, terms, whole)
	w.launch(typed[T]("addPartialProducts"), vectorGrid(n), uint64(c.data.address()), uint64(c.down), uint64(c.across), uint64(c.rows), uint64(c.cols), uint64(at), uint64(parts), uint64(sign))
}

// productKernel returns the kernel for a product, the rows and columns of its tiles, and its threads.
// Cards of compute capability 8.0 and later copy factors asynchronously, in pieces of 16 bytes for the
// widest tiles, so factors must be aligned for these.
func productKernel[T rev.Real](d *Device, c strided[T], a, b stack[T]) (name string, tile [2]int, threads [3]int) {
	if min(c.rows, c.cols) < fixedTile {
		return "addProduct", square(smallTile), [3]int{16, 16, 1}
	}
	capability := 0
	if d != nil && a.byLines() && b.byLines() {
		capability = d.Properties().Capability
	}
	widest := capability >= 80 && across(c.rows, widestTile)*across(c.cols, widestTile) >= enoughTiles && a.aligned() && b.aligned()
	letters := a.letter() + b.letter()
	switch any(*new(T)).(type) {
	case fixed.Q43:
		return "addLargeProduct", square(fixedTile), [3]int{16, 16, 1}
	case float32:
		if widest {
			return "addWideProduct" + letters, square(widestTile), [3]int{256, 1, 1}
		}
	case float64:
		if capability < 80 {
			break
		}
		tile = square(largeTile)
		if widest {
			tile[0] = widestTile
		}
		if capability >= 90 {
			letters += "Hopper"
		}
		return "addTensorProduct" + strconv.Itoa(tile[0]) + letters, tile, [3]int{128, 1, 1}
	}
	return "addLargeProduct", square(largeTile), [3]int{16, 16, 1}
}

func square(side int) [2]int { return [2]int{side, side} }

// across returns how many tiles of a side cover n.
func across(n, side int) int { return (n + side - 1) / side }

// byLines reports whether rows or columns have their elements side by side.
func (s strided[T]) byLines() bool { return s.down == 1 || s.across == 1 }

// letter is N for a matrix whose rows have their elements side by side, and T for others, whose columns
// have.
func (s strided[T]) letter() string {
	if s.across == 1 {
		return "N"
	}
	return "T"
}

// aligned reports whether all rows, or columns, of all matrices begin at multiples of 16 bytes.
func (s stack[T]) aligned() bool {
	const bytes = 16
	size := unsafe.Sizeof(*new(T))
	return s.data.address()%bytes == 0 && uintptr(s.down*s.across)*size%bytes == 0 && uintptr(s.batch)*size%bytes == 0
}
