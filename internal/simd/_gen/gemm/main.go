// Command gemm generates the assembly of the matrix products of package simd.
//
// Every primitive is written once, over an isa: a tier (AVX2 or AVX-512) with
// an element type. The tiles are as large as the vector registers allow: the
// accumulators, and beside them the operands of one step.
package main

import (
	"fmt"
	"strings"
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, g := range []isa{
		{name: "AVX2F64", elem: "float64", size: 8, width: 32, rows: 4, dotRows: 3, dotCols: []int{4, 2, 1}, order: 6},
		{name: "AVX2F32", elem: "float32", size: 4, width: 32, rows: 4, dotRows: 3, dotCols: []int{4, 2, 1}, order: 6},
		{name: "AVX512F64", elem: "float64", size: 8, width: 64, rows: 8, dotRows: 4, dotCols: []int{6, 3, 2, 1}, order: 12},
		{name: "AVX512F32", elem: "float32", size: 4, width: 64, rows: 8, dotRows: 4, dotCols: []int{6, 3, 2, 1}, order: 12},
	} {
		g.gemmNN()
		g.gemmNT()
		g.triNorms()
		g.moments()
		if !g.avx512() {
			g.transpose()
		}
	}
	Generate()
}

// maxCols is the width of the widest row-vector tile, in vectors.
const maxCols = 3

// isa is a tier with an element type.
type isa struct {
	name, elem  string
	size, width int   // bytes of an element, bytes of a vector
	rows        int   // rows of the tallest row-vector tile
	dotRows     int   // rows of the tallest dot-product tile
	dotCols     []int // columns of the dot-product tiles, the widest first
	order       int   // of the diagonal blocks of weighted moments
}

func (g isa) avx512() bool { return g.width == 64 }
func (g isa) f32() bool    { return g.size == 4 }
func (g isa) lanes() int   { return g.width / g.size }

// byType returns the instruction for the element type.
func byType[F any](g isa, f64, f32 F) F {
	if g.f32() {
		return f32
	}
	return f64
}

// text begins a function. In its signature T stands for the element type.
func (g isa) text(name, sig, doc string) {
	TEXT(name+g.name, 4 /* NOSPLIT */, "func("+strings.ReplaceAll(sig, "T", g.elem)+")")
	Pragma("noescape")
	Doc(name + g.name + " " + doc)
}

// Scalars and addresses.

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// frame returns where in the frame a parameter lies.
func frame(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// stride loads a number of elements and makes it bytes.
func (g isa) stride(name string) GPVirtual {
	r := param(name)
	SHLQ(byType(g, U8(3), U8(2)), r)
	return r
}

func (g isa) log2Lanes() (n uint8) {
	for 1<<n < g.lanes() {
		n++
	}
	return n
}

// A walk addresses rows that lie a stride apart: row i is at a power of two
// times an odd multiple of the stride, and the odd multiples are registers.
type walk struct{ odd [12]GPVirtual }

func newWalk(stride GPVirtual, rows int) (w walk) {
	w.odd[1] = stride
	for i := 3; i < rows; i += 2 {
		top := 2
		for 2*top < i {
			top *= 2
		}
		w.odd[i] = GP64()
		LEAQ(Mem{Base: w.odd[i-top], Index: stride, Scale: uint8(top)}, w.odd[i])
	}
	return w
}

// row returns the address of row i < 13.
func (w walk) row(base Register, i int) Mem {
	m := Mem{Base: base}
	if i > 0 {
		pow := i & -i
		m.Index, m.Scale = w.odd[i/pow], uint8(pow)
	}
	return m
}

// advance adds n = 1, 2, 4 or 8 strides to base.
func (w walk) advance(base GPVirtual, n int) {
	LEAQ(Mem{Base: base, Index: w.odd[1], Scale: uint8(n)}, base)
}

// Vectors.

func (g isa) vec() VecVirtual {
	if g.avx512() {
		return ZMM()
	}
	return YMM()
}

func (g isa) zero() VecVirtual {
	v := g.vec()
	if !g.avx512() {
		VXORPD(v, v, v)
		return v
	}
	i, err := x86.VPXORQ(v, v, v)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true // avo knows it of VEX only; without, v would be live before
	Instruction(i)
	return v
}

func (g isa) zeros(n int) []VecVirtual {
	v := make([]VecVirtual, n)
	for i := range v {
		v[i] = g.zero()
	}
	return v
}

func (g isa) broadcast(m Op) VecVirtual {
	v := g.vec()
	byType(g, VBROADCASTSD, VBROADCASTSS)(m, v)
	return v
}

// fma computes z += x·y.
func (g isa) fma(x, y, z Op) { byType(g, VFMADD231PD, VFMADD231PS)(x, y, z) }

func (g isa) add(x, y, z Op) { byType(g, VADDPD, VADDPS)(x, y, z) }

func (g isa) mov(x, y Op) { byType(g, VMOVUPD, VMOVUPS)(x, y) }

// A mask selects the first lanes of a vector: an opmask on AVX-512, the address
// of a vector of ones and zeros on AVX2. A nil mask selects all.
type mask struct {
	k OpmaskVirtual
	p GPVirtual
}

// newMask makes the mask of the first n lanes; n is destroyed.
func (g isa) newMask(n GPVirtual) *mask {
	p := GP64()
	if g.avx512() {
		LEAQ(opmasks(), p)
		k := K()
		KMOVW(Mem{Base: p, Index: n, Scale: 2}, k)
		return &mask{k: k}
	}
	LEAQ(ones().Offset(32), p)
	SHLQ(byType(g, U8(3), U8(2)), n)
	SUBQ(n, p)
	return &mask{p: p}
}

// ones is 32 bytes of ones and then 32 of zeros.
var ones = sync.OnceValue(func() Mem {
	m := GLOBL("gemmOnes", 8|16 /* RODATA|NOPTR */)
	for i := range 8 {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/4)))
	}
	return m
})

// opmasks holds the opmasks of the first 0, 1, ..., 16 lanes.
var opmasks = sync.OnceValue(func() Mem {
	m := GLOBL("gemmOpmasks", 8|16 /* RODATA|NOPTR */)
	for i := range 17 {
		DATA(2*i, U16(1<<i-1))
	}
	return m
})

func (g isa) load(m Mem, k *mask) VecVirtual {
	v := g.vec()
	switch {
	case k == nil:
		g.mov(m, v)
	case g.avx512():
		byType(g, VMOVUPD_Z, VMOVUPS_Z)(m, k.k, v)
	default:
		g.mov(Mem{Base: k.p}, v)
		byType(g, VMASKMOVPD, VMASKMOVPS)(m, v, v)
	}
	return v
}

func (g isa) store(v VecVirtual, m Mem, k *mask) {
	switch {
	case k == nil:
		g.mov(v, m)
	case g.avx512():
		byType(g, VMOVUPD, VMOVUPS)(v, k.k, m)
	default:
		t := g.vec()
		g.mov(Mem{Base: k.p}, t)
		byType(g, VMASKMOVPD, VMASKMOVPS)(v, t, m)
	}
}

// loadRow loads nv vectors, the last of them under the mask.
func (g isa) loadRow(p Register, nv int, k *mask) []VecVirtual {
	v := make([]VecVirtual, nv)
	for j := range v {
		v[j] = g.load(Mem{Base: p, Disp: j * g.width}, lastOnly(j, nv, k))
	}
	return v
}

func lastOnly(j, n int, k *mask) *mask {
	if j == n-1 {
		return k
	}
	return nil
}

// A cols is a width of row-vector tiles: nv vectors, the last one full or not.
type cols struct {
	nv   int
	full bool
}

func (c cols) label() string {
	if c.full {
		return fmt.Sprintf("cols%dfull", c.nv)
	}
	return fmt.Sprintf("cols%d", c.nv)
}

// widths lists the widths of row-vector tiles. On AVX-512 a mask costs nothing;
// on AVX2 the widest tile also comes without.
func (g isa) widths() []cols {
	w := []cols{{nv: 1}, {nv: 2}, {nv: 3}}
	if !g.avx512() {
		w = append(w, cols{nv: 3, full: true})
	}
	return w
}

// overRows emits tile for each of the rows counted by left, with the tallest
// tiles that fit, and then jumps to done.
func (g isa) overRows(label string, left GPVirtual, done string, tile func(rows int, label string)) {
	for r := g.rows; r >= 4; r /= 2 {
		here := fmt.Sprintf("%srows%d", label, r)
		Label(here)
		CMPQ(left, imm(r))
		JL(LabelRef(here + "end"))
		tile(r, here)
		SUBQ(imm(r), left)
		JMP(LabelRef(here))
		Label(here + "end")
	}
	for r := 3; r >= 1; r-- {
		here := fmt.Sprintf("%srows%d", label, r)
		CMPQ(left, imm(r))
		JNE(LabelRef(here + "end"))
		tile(r, here)
		JMP(LabelRef(done))
		Label(here + "end")
	}
	JMP(LabelRef(done))
}

// outer emits one step of a row-vector tile: acc[i][v] += a_i·b_v, where a_i is
// broadcast from row i of w at pa and b is the row vector at pb.
func (g isa) outer(acc [][]VecVirtual, w walk, pa, pb GPVirtual, nv int, k *mask) {
	g.outerFrom(acc, w, pa, g.loadRow(pb, nv, k), 0)
}

// outerFrom is outer for the rows from the given one on, with b in registers.
func (g isa) outerFrom(acc [][]VecVirtual, w walk, pa GPVirtual, b []VecVirtual, from int) {
	nv := len(b)
	for i := from; i < len(acc); i++ {
		if g.avx512() && nv == 1 {
			byType(g, VFMADD231PD_BCST, VFMADD231PS_BCST)(w.row(pa, i), b[0], acc[i][0])
			continue
		}
		a := g.broadcast(w.row(pa, i))
		for v := range nv {
			g.fma(a, b[v], acc[i][v])
		}
	}
}

// centred loads the row vector at pb less the number at mu.
func (g isa) centred(pb, mu GPVirtual, nv int, k *mask) []VecVirtual {
	b := g.loadRow(pb, nv, k)
	m := g.broadcast(Mem{Base: mu})
	for _, v := range b {
		byType(g, VSUBPD, VSUBPS)(m, v, v)
	}
	return b
}

func (g isa) tileZeros(rows, cols int) [][]VecVirtual {
	acc := make([][]VecVirtual, rows)
	for i := range acc {
		acc[i] = g.zeros(cols)
	}
	return acc
}

// gemmNN: C += alpha·A·B over one panel of at most maxCols vectors of columns.
//
// A tile of C stays in registers while l runs over k: row l of B is loaded as
// vectors and multiplied by the broadcast elements l of the rows of A.
func (g isa) gemmNN() {
	g.text("gemmNN", "m, n, k int, alpha T, a *T, rsa, csa int, b *T, rsb int, c *T, ldc int",
		fmt.Sprintf("computes C += alpha·A·B for 1 <= n <= %d and k >= 1, B and C stored by rows.", maxCols*g.lanes()))
	m, a, c := param("m"), param("a"), param("c")
	rsa, csa, rsb, ldc := g.stride("rsa"), g.stride("csa"), g.stride("rsb"), g.stride("ldc")
	w := newWalk(rsa, g.rows)
	n := param("n")
	if !g.avx512() {
		CMPQ(n, imm(3*g.lanes()))
		JE(LabelRef("cols3full"))
	}
	CMPQ(n, imm(2*g.lanes()))
	JG(LabelRef("cols3"))
	CMPQ(n, imm(g.lanes()))
	JG(LabelRef("cols2"))
	for _, cols := range g.widths() {
		Label(cols.label())
		var k *mask
		if !cols.full {
			SUBQ(imm((cols.nv-1)*g.lanes()), n)
			k = g.newMask(n)
		}
		g.overRows(cols.label(), m, "done", func(rows int, label string) {
			acc := g.tileZeros(rows, cols.nv)
			pa, pb, l := GP64(), param("b"), param("k")
			MOVQ(c, pa)
			for i := range rows { // C may come from afar
				for v := range cols.nv {
					PREFETCHT0(Mem{Base: pa, Disp: v * g.width})
				}
				if i < rows-1 {
					ADDQ(ldc, pa)
				}
			}
			MOVQ(a, pa)
			Label(label + "loop")
			g.outer(acc, w, pa, pb, cols.nv, k)
			ADDQ(csa, pa)
			ADDQ(rsb, pb)
			DECQ(l)
			JNE(LabelRef(label + "loop"))

			// All loads before the stores: the footprint of a masked store
			// reaches into the next row, and a load of that would wait for it.
			alpha := g.broadcast(frame("alpha"))
			at := GP64()
			MOVQ(c, at)
			for i := range rows {
				for v, t := range g.loadRow(at, cols.nv, k) {
					g.fma(alpha, acc[i][v], t)
					acc[i][v] = t
				}
				if i < rows-1 {
					ADDQ(ldc, at)
				}
			}
			for i := range rows {
				for v := range cols.nv {
					g.store(acc[i][v], Mem{Base: c, Disp: v * g.width}, lastOnly(v, cols.nv, k))
				}
				ADDQ(ldc, c)
			}
			if rows >= 4 {
				w.advance(a, rows)
			}
		})
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// triNorms: the squared norms of the columns of L·C.
//
// A tile holds the rows i, i+1, ... of L·C for a panel of columns. The steps
// j < i are those of a matrix product; the step of a diagonal element touches
// only its row and those below. Its squares are added to the sums, which wait in
// registers, or in the frame where registers are scarce.
func (g isa) triNorms() {
	g.text("triNorms", "i0, rows, n int, q *T, l *T, ldl int, c *T, ldc int, mu *T",
		"computes q[p] = Σ_i (Σ_{j<=i} L[i,j]·(C[j,p] - mu[j]))² for p < n, rows i0 <= i < i0+rows; l is row i0. It adds to q if i0 > 0. rows, n >= 1.")
	var spilled Mem
	if !g.avx512() {
		spilled = AllocLocal(maxCols * g.width)
	}
	n, q, c := param("n"), param("q"), param("c")
	ldl, ldc := g.stride("ldl"), g.stride("ldc")
	w := newWalk(ldl, g.rows)

	// Four vectors are two and two.
	Label("panel")
	widest := "cols3"
	if !g.avx512() {
		widest = "cols3full"
		CMPQ(n, imm(3*g.lanes()))
		JE(LabelRef(widest))
	}
	for _, s := range []struct {
		vectors int
		to      string
	}{{4, widest}, {3, "cols2"}, {2, "cols3"}, {1, "cols2"}} {
		CMPQ(n, imm(s.vectors*g.lanes()))
		JG(LabelRef(s.to))
	}
	for _, cols := range g.widths() {
		Label(cols.label())
		var k *mask
		if !cols.full {
			last, all := GP64(), GP64()
			LEAQ(Mem{Base: n, Disp: -(cols.nv - 1) * g.lanes()}, last)
			MOVQ(imm(g.lanes()), all)
			CMPQ(last, all)
			CMOVQGT(all, last)
			k = g.newMask(last)
		}
		i, left, l := param("i0"), param("rows"), param("l")
		sums := g.zeros(cols.nv)
		TESTQ(i, i)
		JZ(LabelRef(cols.label() + "begin"))
		for v := range sums {
			g.mov(g.load(Mem{Base: q, Disp: v * g.width}, lastOnly(v, cols.nv, k)), sums[v])
		}
		Label(cols.label() + "begin")
		for v := range sums {
			if !g.avx512() {
				g.mov(sums[v], spilled.Offset(v*g.width))
			}
		}
		done := cols.label() + "done"
		g.overRows(cols.label(), left, done, func(rows int, label string) {
			acc := g.tileZeros(rows, cols.nv)
			pl, pc, j, mu := GP64(), GP64(), GP64(), param("mu")
			MOVQ(l, pl)
			MOVQ(c, pc)
			MOVQ(i, j)
			TESTQ(j, j)
			JZ(LabelRef(label + "diagonal"))
			Label(label + "loop")
			g.outerFrom(acc, w, pl, g.centred(pc, mu, cols.nv, k), 0)
			ADDQ(imm(g.size), pl)
			ADDQ(imm(g.size), mu)
			ADDQ(ldc, pc)
			DECQ(j)
			JNE(LabelRef(label + "loop"))
			Label(label + "diagonal")
			for r := range rows {
				g.outerFrom(acc, w, pl, g.centred(pc, mu, cols.nv, k), r)
				if r < rows-1 {
					ADDQ(imm(g.size), pl)
					ADDQ(imm(g.size), mu)
					ADDQ(ldc, pc)
				}
			}
			for v := range cols.nv {
				s := sums[v]
				if !g.avx512() {
					s = g.load(spilled.Offset(v*g.width), nil)
				}
				for r := range rows {
					g.fma(acc[r][v], acc[r][v], s)
				}
				if !g.avx512() {
					g.mov(s, spilled.Offset(v*g.width))
				}
			}
			if rows >= 4 {
				ADDQ(imm(rows), i)
				w.advance(l, rows)
			}
		})
		Label(done)
		for v := range cols.nv {
			s := sums[v]
			if !g.avx512() {
				s = g.load(spilled.Offset(v*g.width), nil)
			}
			g.store(s, Mem{Base: q, Disp: v * g.width}, lastOnly(v, cols.nv, k))
		}
		ADDQ(imm(cols.nv*g.width), q)
		ADDQ(imm(cols.nv*g.width), c)
		SUBQ(imm(cols.nv*g.lanes()), n)
		JG(LabelRef("panel"))
		VZEROUPPER()
		RET()
	}
}

// Dot-product tiles: acc[i][j] is a vector of partial sums of a_i·b_j, two rows
// that are contiguous along the contraction.

// A dots is a tile of dot products. A triangular one ends at the diagonal: its
// last rows columns are those of its own rows, and it has only j <= i.
type dots struct {
	rows, cols int
	triangular bool
	weighted   bool // a_i are multiplied by weights, and in triangular tiles summed
	wa, wb     walk
}

// has says whether the tile has the product i, j.
func (t dots) has(i, j int) bool { return !t.triangular || j <= t.cols-t.rows+i }

// dotStep adds the products of the vectors at pa and pb, with weights at pw.
func (g isa) dotStep(t dots, acc [][]VecVirtual, sums []VecVirtual, pa, pb, pw GPVirtual, k *mask) {
	a := make([]VecVirtual, t.rows)
	for i := range a {
		a[i] = g.load(t.wa.row(pa, i), k)
	}
	if t.weighted {
		w := g.load(Mem{Base: pw}, k)
		for i := range a {
			byType(g, VMULPD, VMULPS)(w, a[i], a[i])
		}
		for i := range sums {
			g.add(a[i], sums[i], sums[i])
		}
	}
	for j := range t.cols {
		b := g.load(t.wb.row(pb, j), k)
		for i := range a {
			if t.has(i, j) {
				g.fma(a[i], b, acc[i][j])
			}
		}
	}
}

// dotTile adds alpha times the tile of A·Bᵀ, or the tile itself if alpha is nil,
// to the tile of C at c, and leaves c at the row after it. pb is the first row
// of B and is destroyed, as is pw, that of the weights. The contraction has k
// lanes in its last, partial step. It returns the vectors of the weighted sums
// of the rows of a triangular tile.
func (g isa) dotTile(t dots, label string, a, pb, pw, c, ldc GPVirtual, k *mask, alpha Op) (sums []VecVirtual) {
	acc := make([][]VecVirtual, t.rows)
	for i := range acc {
		acc[i] = make([]VecVirtual, t.cols)
		for j := range acc[i] {
			if t.has(i, j) {
				acc[i][j] = g.zero()
			}
		}
	}
	if t.weighted && t.triangular {
		sums = g.zeros(t.rows)
	}
	pa, l := GP64(), param("k")
	MOVQ(a, pa)
	SHRQ(U8(g.log2Lanes()), l)
	JZ(LabelRef(label + "tail"))
	Label(label + "loop")
	g.dotStep(t, acc, sums, pa, pb, pw, nil)
	ADDQ(imm(g.width), pa)
	ADDQ(imm(g.width), pb)
	if t.weighted {
		ADDQ(imm(g.width), pw)
	}
	DECQ(l)
	JNE(LabelRef(label + "loop"))
	Label(label + "tail")
	TESTQ(imm(g.lanes()-1), frame("k"))
	JZ(LabelRef(label + "sum"))
	g.dotStep(t, acc, sums, pa, pb, pw, k)
	Label(label + "sum")
	var s VecVirtual
	if alpha != nil {
		s = YMM()
		byType(g, VBROADCASTSD, VBROADCASTSS)(alpha, s)
	}
	for i := range acc {
		n := t.cols
		for !t.has(i, n-1) {
			n--
		}
		for j := 0; j < n; j += 4 {
			g.addSums(acc[i][j:min(j+4, n)], Mem{Base: c, Disp: j * g.size}, s)
		}
		ADDQ(ldc, c)
	}
	return sums
}

// upper returns the upper half of a vector.
func (g isa) upper(v VecVirtual) VecVirtual {
	switch {
	case v.Size() == 64:
		u := YMM()
		VEXTRACTF64X4(Imm(1), v, u)
		return u
	case g.avx512():
		u := XMM()
		VEXTRACTF64X2(Imm(1), v, u)
		return u
	default:
		u := XMM()
		VEXTRACTF128(Imm(1), v, u)
		return u
	}
}

// sums returns a vector whose first lanes are the sums of the lanes of each of
// up to four vectors: 4 float64 or 8 float32, of which 4 matter.
func (g isa) sums(acc []VecVirtual) VecVirtual {
	half := make([]VecVirtual, 4)
	for i := range half {
		if i >= len(acc) {
			half[i] = half[0]
			continue
		}
		half[i] = acc[i]
		if g.avx512() {
			half[i] = YMM()
			g.add(g.upper(acc[i]), acc[i].AsY(), half[i])
		}
	}
	// pair returns the sums of neighbours of x and y, those of x and y alternating.
	pair := func(lo, hi func(...Op), x, y VecVirtual) VecVirtual {
		l, h := YMM(), YMM()
		lo(y, x, l)
		hi(y, x, h)
		g.add(l, h, h)
		return h
	}
	s := pair(byType(g, VUNPCKLPD, VUNPCKLPS), byType(g, VUNPCKHPD, VUNPCKHPS), half[0], half[1])
	t := s
	if len(acc) > 2 {
		t = pair(byType(g, VUNPCKLPD, VUNPCKLPS), byType(g, VUNPCKHPD, VUNPCKHPS), half[2], half[3])
	}
	if g.f32() {
		s = pair(VUNPCKLPD, VUNPCKHPD, s, t)
		x := XMM()
		g.add(g.upper(s), s.AsX(), x)
		return x
	}
	if len(acc) <= 2 {
		x := XMM()
		g.add(g.upper(s), s.AsX(), x)
		return x
	}
	l, h := YMM(), YMM()
	if g.avx512() {
		VSHUFF64X2(Imm(0), t, s, l)
		VSHUFF64X2(Imm(3), t, s, h)
	} else {
		VPERM2F128(Imm(0x20), t, s, l)
		VPERM2F128(Imm(0x31), t, s, h)
	}
	g.add(l, h, h)
	return h
}

// addSums adds the sums of the lanes of each of up to four vectors, or alpha
// times them, to as many elements at m.
func (g isa) addSums(acc []VecVirtual, m Mem, alpha VecVirtual) {
	s := g.sums(acc)
	into := func(m Mem, s VecVirtual, t VecVirtual, mov func(x, y Op)) {
		mov(m, t)
		if alpha == nil {
			g.add(s, t, t)
		} else {
			g.fma(partOf(alpha, t), s, t)
		}
		mov(t, m)
	}
	move64 := func(x, y Op) { VMOVSD(x, y) }
	move32 := func(x, y Op) { VMOVSS(x, y) }
	one, two := move64, g.mov
	if g.f32() {
		one, two = move32, move64
	}
	switch n := len(acc); {
	case n == 4:
		into(m, s, like(s), g.mov)
	default:
		if n >= 2 {
			into(m, asX(s), XMM(), two)
		} else {
			into(m, asX(s), XMM(), one)
		}
		if n == 3 {
			var third VecVirtual
			if g.f32() {
				third = XMM()
				VUNPCKHPD(s, s, third)
			} else {
				third = g.upper(s)
			}
			into(m.Offset(2*g.size), third, XMM(), one)
		}
	}
}

func like(v VecVirtual) VecVirtual {
	if v.Size() == 16 {
		return XMM()
	}
	return YMM()
}

func asX(v VecVirtual) VecVirtual { return v.AsX().(VecVirtual) }

// partOf returns v in the width of t.
func partOf(v, t VecVirtual) Op {
	if t.Size() == 16 {
		return v.AsX()
	}
	return v
}

// contractionMask returns the mask of the last, partial step over k.
func (g isa) contractionMask() *mask {
	r := param("k")
	ANDQ(imm(g.lanes()-1), r)
	return g.newMask(r)
}

// gemmNT: C += alpha·A·Bᵀ over one panel of columns of C, A and B stored by rows.
func (g isa) gemmNT() {
	g.text("gemmNT", "m, n, k int, alpha T, a *T, lda int, b *T, ldb int, c *T, ldc int",
		fmt.Sprintf("computes C += alpha·A·Bᵀ for n one of %v; m, k >= 1.", g.dotCols))
	m, a, c := param("m"), param("a"), param("c")
	lda, ldb, ldc := g.stride("lda"), g.stride("ldb"), g.stride("ldc")
	t := dots{wa: newWalk(lda, g.dotRows), wb: newWalk(ldb, g.dotCols[0])}
	k := g.contractionMask()
	for _, t.cols = range g.dotCols[1:] {
		CMPQ(frame("n"), imm(t.cols))
		JE(LabelRef(fmt.Sprintf("cols%d", t.cols)))
	}
	for _, t.cols = range g.dotCols {
		cols := fmt.Sprintf("cols%d", t.cols)
		Label(cols)
		for t.rows = g.dotRows; t.rows >= 1; t.rows-- {
			here := fmt.Sprintf("%srows%d", cols, t.rows)
			Label(here)
			CMPQ(m, imm(t.rows))
			JL(LabelRef(here + "end"))
			g.dotTile(t, here, a, param("b"), nil, c, ldc, k, frame("alpha"))
			if t.rows == g.dotRows {
				for range t.rows {
					ADDQ(lda, a)
				}
				SUBQ(imm(t.rows), m)
				JMP(LabelRef(here))
			} else {
				JMP(LabelRef("done"))
			}
			Label(here + "end")
		}
		JMP(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// moments: M += C·diag(w)·Cᵀ, and s += C·w.
//
// The columns of M come in blocks of the given order. The rows of C that belong
// to a block stay in the first-level cache while the rows from the diagonal
// downward go by, two at a time, and are weighted on the way.
func (g isa) moments() {
	g.text("momentsDiagonal", "n, k int, w *T, c *T, ldc int, s *T, m *T, ldm int",
		fmt.Sprintf("computes the lower triangle of M += C·diag(w)·Cᵀ, and s += C·w unless s is nil, for a diagonal block of order 1 <= n <= %d; k >= 1.", g.order))
	a, s, m := param("c"), param("s"), param("m")
	ldc, ldm := g.stride("ldc"), g.stride("ldm")
	walk := newWalk(ldc, g.order)
	t := dots{triangular: true, weighted: true, wa: walk, wb: walk}
	k := g.contractionMask()
	tile := func(label string) {
		Label(label)
		sums := g.dotTile(t, label, a, param("c"), param("w"), m, ldm, k, nil)
		TESTQ(s, s)
		JZ(LabelRef(label + "next"))
		g.addSums(sums, Mem{Base: s}, nil)
		ADDQ(imm(t.rows*g.size), s)
		Label(label + "next")
	}
	for i := 0; i < g.order; i += 2 {
		last := fmt.Sprintf("last%d", i)
		CMPQ(frame("n"), imm(i+1))
		JL(LabelRef("done"))
		JE(LabelRef(last))
		t.rows, t.cols = 2, i+2
		tile(fmt.Sprintf("pair%d", i))
		walk.advance(a, 2)
		if i == g.order-2 {
			JMP(LabelRef("done"))
		}
	}
	for i := 0; i < g.order; i += 2 {
		t.rows, t.cols = 1, i+1
		tile(fmt.Sprintf("last%d", i))
		JMP(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()

	g.text("momentsBelow", "rows, k int, w *T, a *T, c *T, ldc int, m *T, ldm int",
		fmt.Sprintf("computes %d columns of M += A·diag(w)·Cᵀ, where A and C have the same stride; rows, k >= 1.", g.order))
	left, a, m := param("rows"), param("a"), param("m")
	ldc, ldm = g.stride("ldc"), g.stride("ldm")
	walk = newWalk(ldc, g.order)
	t = dots{rows: 2, cols: g.order, weighted: true, wa: walk, wb: walk}
	k = g.contractionMask()
	Label("pairs")
	CMPQ(left, imm(2))
	JL(LabelRef("last"))
	g.dotTile(t, "pairs", a, param("c"), param("w"), m, ldm, k, nil)
	walk.advance(a, 2)
	SUBQ(imm(2), left)
	JMP(LabelRef("pairs"))
	Label("last")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	t.rows = 1
	g.dotTile(t, "last", a, param("c"), param("w"), m, ldm, k, nil)
	Label("done")
	VZEROUPPER()
	RET()
}

// transpose: four rows become columns of four elements, by squares of order four.
func (g isa) transpose() {
	TEXT("transpose"+map[bool]string{false: "64", true: "32"}[g.f32()], 4 /* NOSPLIT */, strings.ReplaceAll("func(dst *T, ldd int, x *T, ldx, n int)", "T", g.elem))
	Pragma("noescape")
	Doc("transpose" + map[bool]string{false: "64", true: "32"}[g.f32()] + " computes dst[j*ldd+i] = x[i*ldx+j] for i < 4 and j < n, where n >= 4 is a multiple of 4.")
	dst, x, n := param("dst"), param("x"), param("n")
	ldd, ldx := g.stride("ldd"), g.stride("ldx")
	to, from := newWalk(ldd, 4), newWalk(ldx, 4)
	reg := func() VecVirtual {
		if g.f32() {
			return XMM()
		}
		return YMM()
	}
	Label("loop")
	r, t, c := make([]VecVirtual, 4), make([]VecVirtual, 4), make([]VecVirtual, 4)
	for i := range r {
		r[i], t[i], c[i] = reg(), reg(), reg()
		g.mov(from.row(x, i), r[i])
	}
	for i := 0; i < 4; i += 2 { // what is next to each other in the columns
		byType(g, VUNPCKLPD, VUNPCKLPS)(r[i+1], r[i], t[i])
		byType(g, VUNPCKHPD, VUNPCKHPS)(r[i+1], r[i], t[i+1])
	}
	if g.f32() { // t is columns 0 and 1, and columns 2 and 3
		for i := range 2 {
			VUNPCKLPD(t[2+i], t[i], c[2*i])
			VUNPCKHPD(t[2+i], t[i], c[2*i+1])
		}
	} else { // columns 0 and 2, and columns 1 and 3
		for i := range 2 {
			VPERM2F128(Imm(0x20), t[2+i], t[i], c[i])
			VPERM2F128(Imm(0x31), t[2+i], t[i], c[2+i])
		}
	}
	for i := range c {
		g.mov(c[i], to.row(dst, i))
	}
	ADDQ(imm(4*g.size), x)
	to.advance(dst, 4)
	SUBQ(imm(4), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func imm(n int) Op { return U32(n) }
