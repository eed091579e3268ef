// Command trisolve generates the assembly of the triangular solves of package
// simd: the tiles of a matrix product, which end in a solve within the registers.
package main

import (
	"fmt"
	"strings"
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, g := range []isa{
		{name: "AVX2F64", elem: "float64", size: 8, width: 32, rows: 4},
		{name: "AVX2F32", elem: "float32", size: 4, width: 32, rows: 4},
		{name: "AVX512F64", elem: "float64", size: 8, width: 64, rows: 8},
		{name: "AVX512F32", elem: "float32", size: 4, width: 64, rows: 8},
	} {
		g.triSolve()
	}
	Generate()
}

// maxCols is the width of the widest tile, in vectors.
const maxCols = 3

// isa is a tier with an element type.
type isa struct {
	name, elem  string
	size, width int // bytes of an element, bytes of a vector
	rows        int // rows of the tallest tile
}

func (g isa) avx512() bool { return g.width == 64 }
func (g isa) lanes() int   { return g.width / g.size }

// byType returns the instruction for the element type.
func byType[F any](g isa, f64, f32 F) F {
	if g.size == 4 {
		return f32
	}
	return f64
}

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// stride loads a number of elements and makes it bytes.
func (g isa) stride(name string) GPVirtual {
	r := param(name)
	SHLQ(byType(g, U8(3), U8(2)), r)
	return r
}

func imm(n int) Op { return U32(n) }

// A walk addresses rows that lie a stride apart: row i is at a power of two
// times an odd multiple of the stride, and the odd multiples are registers.
type walk struct{ odd [8]GPVirtual }

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

// row returns the address of row i < 8.
func (w walk) row(base Register, i int) Mem {
	m := Mem{Base: base}
	if i > 0 {
		pow := i & -i
		m.Index, m.Scale = w.odd[i/pow], uint8(pow)
	}
	return m
}

func (g isa) vec() VecVirtual {
	if g.avx512() {
		return ZMM()
	}
	return YMM()
}

func (g isa) mov(x, y Op) { byType(g, VMOVUPD, VMOVUPS)(x, y) }

func (g isa) broadcast(m Op) VecVirtual {
	v := g.vec()
	byType(g, VBROADCASTSD, VBROADCASTSS)(m, v)
	return v
}

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
	m := GLOBL("triSolveOnes", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/4)))
	}
	return m
})

// opmasks holds the opmasks of the first 0, 1, ..., 16 lanes.
var opmasks = sync.OnceValue(func() Mem {
	m := GLOBL("triSolveOpmasks", RODATA|NOPTR)
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

func lastOnly(j, n int, k *mask) *mask {
	if j == n-1 {
		return k
	}
	return nil
}

// loadRow loads nv vectors, the last of them under the mask.
func (g isa) loadRow(p Register, nv int, k *mask) []VecVirtual {
	v := make([]VecVirtual, nv)
	for j := range v {
		v[j] = g.load(Mem{Base: p, Disp: j * g.width}, lastOnly(j, nv, k))
	}
	return v
}

// subtract emits acc[i][v] -= t_i·x_v for the rows from the given one on, where
// t_i is broadcast from row i of w at pt.
func (g isa) subtract(acc [][]VecVirtual, w walk, pt GPVirtual, x []VecVirtual, from int) {
	for i := from; i < len(acc); i++ {
		if g.avx512() && len(x) == 1 {
			byType(g, VFNMADD231PD_BCST, VFNMADD231PS_BCST)(w.row(pt, i), x[0], acc[i][0])
			continue
		}
		t := g.broadcast(w.row(pt, i))
		for v := range x {
			byType(g, VFNMADD231PD, VFNMADD231PS)(t, x[v], acc[i][v])
		}
	}
}

// triSolve: X <- T⁻¹·X over one panel of at most maxCols vectors of columns.
//
// A tile of X, of the rows i, i+1, ..., stays in registers while the rows l < i,
// which are solved, are multiplied by T and subtracted. Then each row is divided
// by its diagonal element and subtracted from those below.
func (g isa) triSolve() {
	TEXT("triSolve"+g.name, NOSPLIT, strings.ReplaceAll("func(i0, rows, n int, t *T, rst, cst int, r, x *T, ldx int)", "T", g.elem))
	Pragma("noescape")
	Doc(fmt.Sprintf("triSolve%s solves for the rows i0 <= i < i0+rows of X, of n columns, T·X = B, where those before are solved; t is row i0 of T, r the reciprocals of the diagonal from there, x row 0 of X. 1 <= n <= %d, rows >= 1.", g.name, maxCols*g.lanes()))
	n := param("n")
	i, left := param("i0"), param("rows")
	t, r := param("t"), param("r")
	rst, cst, ldx := g.stride("rst"), g.stride("cst"), g.stride("ldx")
	w := newWalk(rst, g.rows)
	at := GP64() // row i of X
	MOVQ(i, at)
	IMULQ(ldx, at)
	first := param("x")
	ADDQ(first, at)
	CMPQ(n, imm(2*g.lanes()))
	JG(LabelRef("cols3"))
	CMPQ(n, imm(g.lanes()))
	JG(LabelRef("cols2"))
	for nv := 1; nv <= maxCols; nv++ {
		cols := fmt.Sprintf("cols%d", nv)
		Label(cols)
		SUBQ(imm((nv-1)*g.lanes()), n)
		k := g.newMask(n)
		for rows := g.rows; rows >= 1; rows-- {
			if rows > 4 && rows < g.rows {
				continue
			}
			here := fmt.Sprintf("%srows%d", cols, rows)
			Label(here)
			CMPQ(left, imm(rows))
			JL(LabelRef(here + "end"))
			g.tile(here, rows, nv, k, w, i, t, r, at, cst, ldx)
			for range rows { // rst may be negative, and so are its multiples
				ADDQ(rst, t)
			}
			ADDQ(imm(rows), i)
			SUBQ(imm(rows), left)
			JMP(LabelRef(here))
			Label(here + "end")
		}
		VZEROUPPER()
		RET()
	}
}

// tile solves for some rows, and leaves at and r behind them.
func (g isa) tile(label string, rows, nv int, k *mask, w walk, i, t, r, at, cst, ldx GPVirtual) {
	acc := make([][]VecVirtual, rows)
	pt, px, l := GP64(), GP64(), GP64()
	MOVQ(at, px)
	for q := range acc {
		acc[q] = g.loadRow(px, nv, k)
		if q < rows-1 {
			ADDQ(ldx, px)
		}
	}
	Load(Param("x"), px)
	MOVQ(t, pt)
	MOVQ(i, l)
	TESTQ(l, l)
	JZ(LabelRef(label + "diagonal"))
	Label(label + "loop")
	g.subtract(acc, w, pt, g.loadRow(px, nv, k), 0)
	ADDQ(cst, pt)
	ADDQ(ldx, px)
	DECQ(l)
	JNE(LabelRef(label + "loop"))
	Label(label + "diagonal")
	for q, x := range acc {
		d := g.broadcast(Mem{Base: r, Disp: q * g.size})
		for v := range x {
			byType(g, VMULPD, VMULPS)(d, x[v], x[v])
			g.store(x[v], Mem{Base: at, Disp: v * g.width}, lastOnly(v, nv, k))
		}
		ADDQ(ldx, at)
		if q < rows-1 {
			g.subtract(acc, w, pt, x, q+1)
			ADDQ(cst, pt)
		}
	}
	ADDQ(imm(rows*g.size), r)
}
