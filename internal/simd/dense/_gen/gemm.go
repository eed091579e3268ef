package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// maxCols is the width of the widest row-vector tile, in vectors.
const maxCols = 3

// isa is a tier with an element type, and the tiles that suit it. They are as large as
// the vector registers allow: the accumulators, and beside them the operands of one step.
type isa struct {
	ISA
	rows    int   // rows of the tallest row-vector tile
	dotRows int   // rows of the tallest dot-product tile
	dotCols []int // columns of the dot-product tiles, the widest first
	order   int   // of the diagonal blocks of weighted moments
}

func newISA(g ISA) isa {
	if g.Wide {
		return isa{g, 8, 4, []int{6, 3, 2, 1}, 12}
	}
	return isa{g, 4, 3, []int{4, 2, 1}, 6}
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
	if !g.Wide {
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
		CMPQ(left, U32(r))
		JL(LabelRef(here + "end"))
		tile(r, here)
		SUBQ(U32(r), left)
		JMP(LabelRef(here))
		Label(here + "end")
	}
	for r := 3; r >= 1; r-- {
		here := fmt.Sprintf("%srows%d", label, r)
		CMPQ(left, U32(r))
		JNE(LabelRef(here + "end"))
		tile(r, here)
		JMP(LabelRef(done))
		Label(here + "end")
	}
	JMP(LabelRef(done))
}

// addOuter emits one step of a row-vector tile: acc[i][v] += a_i·b_v for the rows from
// the given one on, or -= if minus, where a_i is broadcast from row i of w at pa.
func (g isa) addOuter(acc [][]VecVirtual, w Walk, pa GPVirtual, b []VecVirtual, from int, minus bool) {
	fma, broadcast := g.Fmadd231, Pick(g, VFMADD231PD_BCST, VFMADD231PS_BCST)
	if minus {
		fma, broadcast = g.Fnmadd231, Pick(g, VFNMADD231PD_BCST, VFNMADD231PS_BCST)
	}
	for i := from; i < len(acc); i++ {
		if g.Wide && len(b) == 1 {
			broadcast(w.Row(pa, i), b[0], acc[i][0])
			continue
		}
		a := g.Broadcast(w.Row(pa, i))
		for v := range b {
			fma(a, b[v], acc[i][v])
		}
	}
}

// centred loads the row vector at pb less the number at mu.
func (g isa) centred(pb, mu GPVirtual, nv int, k *Mask) []VecVirtual {
	b := g.LoadRow(pb, nv, k)
	m := g.Broadcast(Mem{Base: mu})
	for _, v := range b {
		g.Sub(m, v, v)
	}
	return b
}

func (g isa) tileZeros(rows, cols int) [][]VecVirtual {
	acc := make([][]VecVirtual, rows)
	for i := range acc {
		acc[i] = g.Zeros(cols)
	}
	return acc
}

// gemmNN: C += alpha·A·B over one panel of at most maxCols vectors of columns.
func (g isa) gemmNN() {
	rsb := g.Stride("rsb")
	g.outer(func() GPVirtual { return Arg("b") }, func(pb GPVirtual) { ADDQ(rsb, pb) }, func(pb GPVirtual) Register { return pb })
}

// outer is gemmNN for any order of the rows of B. first returns a pointer to the first, at
// returns the row of a pointer, and next moves a pointer on.
//
// A tile of C stays in registers while l runs over k: row l of B is loaded as
// vectors and multiplied by the broadcast elements l of the rows of A.
func (g isa) outer(first func() GPVirtual, next func(GPVirtual), at func(GPVirtual) Register) {
	m, a, c := Arg("m"), Arg("a"), Arg("c")
	rsa, csa, ldc := g.Stride("rsa"), g.Stride("csa"), g.Stride("ldc")
	w := NewWalk(rsa, g.rows)
	n := Arg("n")
	if !g.Wide {
		CMPQ(n, U32(3*g.Lanes()))
		JE(LabelRef("cols3full"))
	}
	CMPQ(n, U32(2*g.Lanes()))
	JG(LabelRef("cols3"))
	CMPQ(n, U32(g.Lanes()))
	JG(LabelRef("cols2"))
	for _, cols := range g.widths() {
		Label(cols.label())
		var k *Mask
		if !cols.full {
			SUBQ(U32((cols.nv-1)*g.Lanes()), n)
			k = g.NewMask(n)
		}
		g.overRows(cols.label(), m, "done", func(rows int, _ string) {
			acc := g.tileZeros(rows, cols.nv)
			pa, pb, l := GP64(), first(), Arg("k")
			MOVQ(c, pa)
			for i := range rows { // C may come from afar
				for v := range cols.nv {
					PREFETCHT0(Mem{Base: pa, Disp: v * g.Width()})
				}
				if i < rows-1 {
					ADDQ(ldc, pa)
				}
			}
			MOVQ(a, pa)
			Times(l, func() {
				g.addOuter(acc, w, pa, g.LoadRow(at(pb), cols.nv, k), 0, false)
				ADDQ(csa, pa)
				next(pb)
			})

			// All loads before the stores: the footprint of a masked store
			// reaches into the next row, and a load of that would wait for it.
			alpha := g.Broadcast(ArgAddr("alpha"))
			at := GP64()
			MOVQ(c, at)
			for i := range rows {
				for v, t := range g.LoadRow(at, cols.nv, k) {
					g.Fmadd231(alpha, acc[i][v], t)
					acc[i][v] = t
				}
				if i < rows-1 {
					ADDQ(ldc, at)
				}
			}
			for i := range rows {
				for v := range cols.nv {
					g.Store(acc[i][v], Mem{Base: c, Disp: v * g.Width()}, k.LastOf(v, cols.nv))
				}
				ADDQ(ldc, c)
			}
			if rows >= 4 {
				w.Advance(a, rows)
			}
		})
	}
	Label("done")
}

// triNorms: the squared norms of the columns of L·C.
//
// A tile holds the rows i, i+1, ... of L·C for a panel of columns. The steps
// j < i are steps of a matrix product; the step of a diagonal element touches
// only its row and those below. Its squares are added to the sums, which wait in
// registers, or in the frame where registers are scarce.
func (g isa) triNorms() {
	var spilled Mem
	if !g.Wide {
		spilled = AllocLocal(maxCols * g.Width())
	}
	n, q, c := Arg("n"), Arg("q"), Arg("c")
	ldl, ldc := g.Stride("ldl"), g.Stride("ldc")
	w := NewWalk(ldl, g.rows)

	// Four vectors are two and two.
	Label("panel")
	widest := "cols3"
	if !g.Wide {
		widest = "cols3full"
		CMPQ(n, U32(3*g.Lanes()))
		JE(LabelRef(widest))
	}
	for _, s := range []struct {
		vectors int
		to      string
	}{{4, widest}, {3, "cols2"}, {2, "cols3"}, {1, "cols2"}} {
		CMPQ(n, U32(s.vectors*g.Lanes()))
		JG(LabelRef(s.to))
	}
	for _, cols := range g.widths() {
		Label(cols.label())
		var k *Mask
		if !cols.full {
			last, all := GP64(), GP64()
			LEAQ(Mem{Base: n, Disp: -(cols.nv - 1) * g.Lanes()}, last)
			MOVQ(U32(g.Lanes()), all)
			CMPQ(last, all)
			CMOVQGT(all, last)
			k = g.NewMask(last)
		}
		i, left, l := Arg("i0"), Arg("rows"), Arg("l")
		sums := g.Zeros(cols.nv)
		TESTQ(i, i)
		JZ(LabelRef(cols.label() + "begin"))
		for v := range sums {
			g.Mov(g.Load(Mem{Base: q, Disp: v * g.Width()}, k.LastOf(v, cols.nv)), sums[v])
		}
		Label(cols.label() + "begin")
		for v := range sums {
			if !g.Wide {
				g.Mov(sums[v], spilled.Offset(v*g.Width()))
			}
		}
		done := cols.label() + "done"
		g.overRows(cols.label(), left, done, func(rows int, label string) {
			acc := g.tileZeros(rows, cols.nv)
			pl, pc, j, mu := GP64(), GP64(), GP64(), Arg("mu")
			MOVQ(l, pl)
			MOVQ(c, pc)
			MOVQ(i, j)
			TESTQ(j, j)
			JZ(LabelRef(label + "diagonal"))
			next := func() {
				ADDQ(U32(g.Size), pl)
				ADDQ(U32(g.Size), mu)
				ADDQ(ldc, pc)
			}
			Times(j, func() {
				g.addOuter(acc, w, pl, g.centred(pc, mu, cols.nv, k), 0, false)
				next()
			})
			Label(label + "diagonal")
			for r := range rows {
				g.addOuter(acc, w, pl, g.centred(pc, mu, cols.nv, k), r, false)
				if r < rows-1 {
					next()
				}
			}
			for v := range cols.nv {
				s := sums[v]
				if !g.Wide {
					s = g.Load(spilled.Offset(v*g.Width()), nil)
				}
				for r := range rows {
					g.Fmadd231(acc[r][v], acc[r][v], s)
				}
				if !g.Wide {
					g.Mov(s, spilled.Offset(v*g.Width()))
				}
			}
			if rows >= 4 {
				ADDQ(U32(rows), i)
				w.Advance(l, rows)
			}
		})
		Label(done)
		for v := range cols.nv {
			s := sums[v]
			if !g.Wide {
				s = g.Load(spilled.Offset(v*g.Width()), nil)
			}
			g.Store(s, Mem{Base: q, Disp: v * g.Width()}, k.LastOf(v, cols.nv))
		}
		ADDQ(U32(cols.nv*g.Width()), q)
		ADDQ(U32(cols.nv*g.Width()), c)
		SUBQ(U32(cols.nv*g.Lanes()), n)
		JG(LabelRef("panel"))
		JMP(LabelRef("done"))
	}
	Label("done")
}

// Dot-product tiles: acc[i][j] is a vector of partial sums of a_i·b_j, two rows
// that are contiguous along the contraction.

// A dots is a tile of dot products. A triangular one ends at the diagonal: its
// last columns have the numbers of its rows, and it has only j <= i.
type dots struct {
	rows, cols int
	triangular bool
	weighted   bool // a_i are multiplied by weights, and in triangular tiles summed
	wa, wb     Walk
}

// has says whether the tile has the product i, j.
func (t dots) has(i, j int) bool { return !t.triangular || j <= t.cols-t.rows+i }

// dotStep adds the products of the vectors at pa and pb, with weights at pw.
func (g isa) dotStep(t dots, acc [][]VecVirtual, sums []VecVirtual, pa, pb, pw GPVirtual, k *Mask) {
	a := make([]VecVirtual, t.rows)
	for i := range a {
		a[i] = g.Load(t.wa.Row(pa, i), k)
	}
	if t.weighted {
		w := g.Load(Mem{Base: pw}, k)
		for i := range a {
			g.Mul(w, a[i], a[i])
		}
		for i := range sums {
			g.Add(a[i], sums[i], sums[i])
		}
	}
	for j := range t.cols {
		b := g.Load(t.wb.Row(pb, j), k)
		for i := range a {
			if t.has(i, j) {
				g.Fmadd231(a[i], b, acc[i][j])
			}
		}
	}
}

// dotTile adds alpha times the tile of A·Bᵀ, or the tile itself if alpha is nil,
// to the tile of C at c, and leaves c at the row after it. pb is the first row
// of B, and pw points to the weights; both are destroyed. The contraction has k
// lanes in its last, partial Step. It returns the vectors of the weighted sums
// of the rows of a triangular tile.
func (g isa) dotTile(t dots, label string, a, pb, pw, c, ldc GPVirtual, k *Mask, alpha Op) (sums []VecVirtual) {
	acc := make([][]VecVirtual, t.rows)
	for i := range acc {
		acc[i] = make([]VecVirtual, t.cols)
		for j := range acc[i] {
			if t.has(i, j) {
				acc[i][j] = g.Zeros(1)[0]
			}
		}
	}
	if t.weighted && t.triangular {
		sums = g.Zeros(t.rows)
	}
	pa, l := GP64(), Arg("k")
	MOVQ(a, pa)
	SHRQ(U8(bits.TrailingZeros(uint(g.Lanes()))), l)
	JZ(LabelRef(label + "tail"))
	Times(l, func() {
		g.dotStep(t, acc, sums, pa, pb, pw, nil)
		ADDQ(U32(g.Width()), pa)
		ADDQ(U32(g.Width()), pb)
		if t.weighted {
			ADDQ(U32(g.Width()), pw)
		}
	})
	Label(label + "tail")
	TESTQ(U32(g.Lanes()-1), ArgAddr("k"))
	JZ(LabelRef(label + "sum"))
	g.dotStep(t, acc, sums, pa, pb, pw, k)
	Label(label + "sum")
	var s VecVirtual
	if alpha != nil {
		s = YMM()
		Pick(g, VBROADCASTSD, VBROADCASTSS)(alpha, s)
	}
	for i := range acc {
		n := t.cols
		for !t.has(i, n-1) {
			n--
		}
		for j := 0; j < n; j += 4 {
			g.addSums(acc[i][j:min(j+4, n)], Mem{Base: c, Disp: j * g.Size}, s)
		}
		ADDQ(ldc, c)
	}
	return sums
}

// addSums adds the sums of the lanes of each of up to four vectors, or alpha
// times them, to as many elements at m.
func (g isa) addSums(acc []VecVirtual, m Mem, alpha VecVirtual) {
	half := make([]VecVirtual, 4)
	for i := range half {
		switch {
		case i >= len(acc):
			half[i] = half[0]
		case g.Wide:
			half[i] = g.Fold(acc[i])
		default:
			half[i] = acc[i]
		}
	}
	s := g.Neighbours(half[0], half[1])
	switch {
	case len(acc) > 2:
		s = g.SumFour(s, g.Neighbours(half[2], half[3]))
	case g.Double():
		s = g.Fold(s)
	default:
		s = g.SumFour(s, s)
	}
	into := func(m Mem, s, t VecVirtual, mov func(x, y Op)) {
		mov(m, t)
		switch {
		case alpha == nil:
			g.Add(s, t, t)
		case t.Size() == 16:
			g.Fmadd231(alpha.AsX(), s, t)
		default:
			g.Fmadd231(alpha, s, t)
		}
		mov(t, m)
	}
	low, two := s.AsX().(VecVirtual), g.Mov
	if !g.Double() {
		two = func(x, y Op) { VMOVSD(x, y) }
	}
	switch len(acc) {
	case 4:
		into(m, s, Like(s), g.Mov)
		return
	case 1:
		into(m, low, XMM(), g.MovOne)
		return
	}
	into(m, low, XMM(), two)
	if len(acc) == 3 {
		third := XMM()
		if g.Double() {
			third = g.Upper(s)
		} else {
			VUNPCKHPD(s, s, third)
		}
		into(m.Offset(2*g.Size), third, XMM(), g.MovOne)
	}
}

// contractionMask returns the mask of the last, partial Step over k.
func (g isa) contractionMask() *Mask {
	r := Arg("k")
	ANDQ(U32(g.Lanes()-1), r)
	return g.NewMask(r)
}

// gemmNT: C += alpha·A·Bᵀ over one panel of columns of C, A and B stored by rows.
func (g isa) gemmNT() {
	m, a, c := Arg("m"), Arg("a"), Arg("c")
	lda, ldb, ldc := g.Stride("lda"), g.Stride("ldb"), g.Stride("ldc")
	t := dots{wa: NewWalk(lda, g.dotRows), wb: NewWalk(ldb, g.dotCols[0])}
	k := g.contractionMask()
	for _, t.cols = range g.dotCols[1:] {
		CMPQ(ArgAddr("n"), U32(t.cols))
		JE(LabelRef(fmt.Sprintf("cols%d", t.cols)))
	}
	for _, t.cols = range g.dotCols {
		cols := fmt.Sprintf("cols%d", t.cols)
		Label(cols)
		for t.rows = g.dotRows; t.rows >= 1; t.rows-- {
			here := fmt.Sprintf("%srows%d", cols, t.rows)
			Label(here)
			CMPQ(m, U32(t.rows))
			JL(LabelRef(here + "end"))
			g.dotTile(t, here, a, Arg("b"), nil, c, ldc, k, ArgAddr("alpha"))
			if t.rows == g.dotRows {
				for range t.rows {
					ADDQ(lda, a)
				}
				SUBQ(U32(t.rows), m)
				JMP(LabelRef(here))
			} else {
				JMP(LabelRef("done"))
			}
			Label(here + "end")
		}
		JMP(LabelRef("done"))
	}
	Label("done")
}

// The columns of M += C·diag(w)·Cᵀ, and s += C·w, come in blocks of the given order. The
// rows of C that belong to a block stay in the first-level cache while the rows from the
// diagonal downward go by, two at a time, and are weighted on the way.

func (g isa) momentsDiagonal() {
	a, s, m := Arg("c"), Arg("s"), Arg("m")
	ldc, ldm := g.Stride("ldc"), g.Stride("ldm")
	walk := NewWalk(ldc, g.order)
	t := dots{triangular: true, weighted: true, wa: walk, wb: walk}
	k := g.contractionMask()
	tile := func(label string) {
		Label(label)
		sums := g.dotTile(t, label, a, Arg("c"), Arg("w"), m, ldm, k, nil)
		TESTQ(s, s)
		JZ(LabelRef(label + "next"))
		g.addSums(sums, Mem{Base: s}, nil)
		ADDQ(U32(t.rows*g.Size), s)
		Label(label + "next")
	}
	for i := 0; i < g.order; i += 2 {
		last := fmt.Sprintf("last%d", i)
		CMPQ(ArgAddr("n"), U32(i+1))
		JL(LabelRef("done"))
		JE(LabelRef(last))
		t.rows, t.cols = 2, i+2
		tile(fmt.Sprintf("pair%d", i))
		walk.Advance(a, 2)
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
}

func (g isa) momentsBelow() {
	left, a, m := Arg("rows"), Arg("a"), Arg("m")
	ldc, ldm := g.Stride("ldc"), g.Stride("ldm")
	walk := NewWalk(ldc, g.order)
	t := dots{rows: 2, cols: g.order, weighted: true, wa: walk, wb: walk}
	k := g.contractionMask()
	Label("pairs")
	CMPQ(left, U32(2))
	JL(LabelRef("last"))
	g.dotTile(t, "pairs", a, Arg("c"), Arg("w"), m, ldm, k, nil)
	walk.Advance(a, 2)
	SUBQ(U32(2), left)
	JMP(LabelRef("pairs"))
	Label("last")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	t.rows = 1
	g.dotTile(t, "last", a, Arg("c"), Arg("w"), m, ldm, k, nil)
	Label("done")
}

// transpose: four rows become columns of four elements, by squares of order four.
func (g isa) transpose() {
	dst, x, n := Arg("dst"), Arg("x"), Arg("n")
	ldd, ldx := g.Stride("ldd"), g.Stride("ldx")
	to, from := NewWalk(ldd, 4), NewWalk(ldx, 4)
	Label("loop")
	r, t, c := make([]VecVirtual, 4), make([]VecVirtual, 4), make([]VecVirtual, 4)
	for i := range r {
		r[i], t[i], c[i] = g.Four(), g.Four(), g.Four()
		g.Mov(from.Row(x, i), r[i])
	}
	for i := 0; i < 4; i += 2 { // neighbours in the columns
		Pick(g, VUNPCKLPD, VUNPCKLPS)(r[i+1], r[i], t[i])
		Pick(g, VUNPCKHPD, VUNPCKHPS)(r[i+1], r[i], t[i+1])
	}
	if !g.Double() { // t is columns 0 and 1, and columns 2 and 3
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
		g.Mov(c[i], to.Row(dst, i))
	}
	ADDQ(U32(4*g.Size), x)
	to.Advance(dst, 4)
	SUBQ(U32(4), n)
	JNE(LabelRef("loop"))
	VZEROUPPER() // the function has no tier
}
