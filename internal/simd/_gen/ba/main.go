// Command ba writes the assembly of the reprojections of package simd. Each
// function holds the AVX-512 and the AVX2 version, and takes the one that the
// package variable tier asks for.
package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The rows of a block, as package simd has them.
const (
	stride    = 64 + 8
	rowShift  = 6
	rowF      = 9
	rowPoint  = 24
	rowTurn   = rowPoint + 3
	jacobian  = rowTurn + 3
	lensRows  = 12 // of the camera without a principal point
	snavely   = false
	weighted  = true
	columnsOf = 4 // columns that gather and scatter move at a time
)

func main() {
	ConstraintExpr("!noasm")
	for _, m := range []struct {
		name     string
		weighted bool
	}{{"Snavely", snavely}, {"Weighted", weighted}} {
		for _, f := range []struct {
			name     string
			jacobian bool
		}{{"Residuals", false}, {"Jacobian", true}} {
			sig := "func(v, x, w, r, z *T, n int, sign T)"
			doc := "adds sign times the residuals of n observations to r"
			if m.weighted {
				doc += ", and those of the weights to z"
			}
			if f.jacobian {
				doc += ", and stores their Jacobian"
			}
			function("reproject"+m.name+f.name, sig, doc, []int{8, 4}, func(v vec) { reproject(v, m.weighted, f.jacobian) })
		}
	}
	function("gatherRows", "func(v, src *T, rows, lds, cols int, index *int, n int) bool",
		"copies cols elements from each of n rows of src, n a multiple of 8, to the columns of v, until an index is not below rows", []int{8}, gatherRows)
	function("scatterRows", "func(dst *T, ldd int, v *T, cols, n int)",
		"copies cols elements of n columns of v, n a multiple of 8, to the rows of dst", []int{8}, scatterRows)
	function("streamRows", "func(dst *T, v *T, cols, n int, tile *T)",
		"is scatterRows to rows without gaps, past the caches; dst is aligned to 64 bytes, and tile has room for 8 rows", []int{8}, streamRows)
	function("prefetchRows", "func(src *T, lds int, index *int, n int)",
		"asks for the lines that n rows of src begin in and those 16 bytes on, n a multiple of 8", []int{8}, prefetchRows)
	TEXT("streamFence", attr.NOSPLIT, "func()")
	Doc("streamFence orders the stores of streamLines before later ones.")
	SFENCE()
	RET()
	emitConstants()
	Generate()
}

// A vec emits vector instructions for one tier and type of elements. Operands are
// in Go's order: sources from last to first, then the destination.
type vec struct {
	wide bool // AVX-512, else AVX2
	size int  // bytes of an element
}

// function emits name64 and name32, those of sizes. In sig, T stands for the type
// of elements.
func function(name, sig, doc string, sizes []int, body func(vec)) {
	for _, size := range sizes {
		typ := map[int]string{8: "float64", 4: "float32"}[size]
		name := fmt.Sprint(name, 8*size)
		TEXT(name, attr.NOSPLIT, strings.ReplaceAll(sig, "T", typ))
		Doc(name + " " + doc + ".")
		Pragma("noescape")
		CMPQ(NewDataAddr(Symbol{Name: "·tier"}, 0), Imm(2)) // AVX512
		JNE(LabelRef("avx2"))
		body(vec{wide: true, size: size})
		VZEROUPPER()
		RET()
		Label("avx2")
		body(vec{wide: false, size: size})
		VZEROUPPER()
		RET()
	}
}

// labels counts the labels given out, which makes them unique.
var labels int

func label(name string) string {
	labels++
	return fmt.Sprint(name, labels)
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func (v vec) reg() reg.VecVirtual {
	if v.wide {
		return ZMM()
	}
	return YMM()
}

// bytes returns the length of a register.
func (v vec) bytes() int {
	if v.wide {
		return 64
	}
	return 32
}

func (v vec) pick(pd, ps func(...Op), ops ...Op) {
	if v.size == 8 {
		pd(ops...)
	} else {
		ps(ops...)
	}
}

// The operations return a new register. At most the last operand of a
// difference or quotient, and any of a sum or product, may be in memory.

func (v vec) add(a, b Op) reg.VecVirtual { return v.commute(VADDPD, VADDPS, a, b) }
func (v vec) mul(a, b Op) reg.VecVirtual { return v.commute(VMULPD, VMULPS, a, b) }
func (v vec) sub(a, b Op) reg.VecVirtual { return v.binary(VSUBPD, VSUBPS, a, b) }
func (v vec) div(a, b Op) reg.VecVirtual { return v.binary(VDIVPD, VDIVPS, a, b) }

func (v vec) commute(pd, ps func(...Op), a, b Op) reg.VecVirtual {
	if _, ok := a.(Mem); ok {
		a, b = b, a
	}
	return v.binary(pd, ps, a, b)
}

func (v vec) binary(pd, ps func(...Op), a, b Op) reg.VecVirtual {
	if m, ok := a.(Mem); ok {
		a = v.load(m)
	}
	r := v.reg()
	v.pick(pd, ps, b, a, r)
	return r
}

func (v vec) load(m Mem) reg.VecVirtual {
	r := v.reg()
	VMOVUPS(m, r)
	return r
}

// sum returns a₀·b₀ + a₁·b₁ + a₂·b₂.
func (v vec) sum(a, b [3]Op) reg.VecVirtual {
	return v.add(v.add(v.mul(a[0], b[0]), v.mul(a[1], b[1])), v.mul(a[2], b[2]))
}

// cross returns a·d - b·c.
func (v vec) cross(a, b, c, d Op) reg.VecVirtual {
	t := v.mul(b, c)
	return v.sub(v.mul(a, d), t)
}

// negate returns -a.
func (v vec) negate(a Op) reg.VecVirtual {
	r := v.reg()
	VXORPS(v.constant(math.Copysign(0, -1)), a, r)
	return r
}

func (v vec) broadcastParam(name string) reg.VecVirtual {
	r := v.reg()
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v.pick(VBROADCASTSD, VBROADCASTSS, p.Addr, r)
	return r
}

// halves exchanges the quarters of a register so that what the two-operand
// shuffles leave apart comes together, or back.
func (v vec) halves(a reg.VecVirtual, back bool) reg.VecVirtual {
	r := v.reg()
	if !v.wide {
		VPERMPD(Imm(0xd8), a, r) // its own inverse
		return r
	}
	order := [8]uint64{0, 2, 4, 6, 1, 3, 5, 7}
	if back {
		order = [8]uint64{0, 4, 1, 5, 2, 6, 3, 7}
	}
	VPERMPD(a, v.load(entry(order)), r)
	return r
}

// pairs returns the first and the second elements of the pairs at m.
func (v vec) pairs(m Mem) (x, y reg.VecVirtual) {
	a := v.load(m)
	b := m.Offset(v.bytes())
	x, y = v.reg(), v.reg()
	if v.size == 8 {
		VUNPCKLPD(b, a, x)
		VUNPCKHPD(b, a, y)
	} else {
		VSHUFPS(Imm(0x88), b, a, x)
		VSHUFPS(Imm(0xdd), b, a, y)
	}
	return v.halves(x, false), v.halves(y, false)
}

// addPairs adds x and y to the first and the second elements of the pairs at m.
func (v vec) addPairs(m Mem, x, y reg.VecVirtual) {
	x, y = v.halves(x, true), v.halves(y, true)
	a, b := v.reg(), v.reg()
	v.pick(VUNPCKLPD, VUNPCKLPS, y, x, a)
	v.pick(VUNPCKHPD, VUNPCKHPS, y, x, b)
	VMOVUPS(v.add(a, m), m)
	m = m.Offset(v.bytes())
	VMOVUPS(v.add(b, m), m)
}

// reproject runs along the columns of a block. What is needed again is read again
// from the block, as AVX2 has no more than 16 registers.
func reproject(v vec, weighted, derivatives bool) {
	block, x, w, r, z, n := param("v"), param("x"), param("w"), param("r"), param("z"), param("n")
	sign := v.broadcastParam("sign")
	i := GP64() // in bytes
	XORQ(i, i)
	if v.size == 8 {
		SHLQ(Imm(3), n)
	} else {
		SHLQ(Imm(2), n)
	}
	at := func(row int) Mem { return Mem{Base: block, Index: i, Scale: 1, Disp: row * stride * v.size} }
	store := func(a reg.VecVirtual, row int) { VMOVUPS(a, at(row)) }
	weight := Mem{Base: w, Index: i, Scale: 1}
	one := v.constant(1)

	loop := label("loop")
	Label(loop)

	// The third row of the rotation is the product of the others.
	turn := func(k int) Op {
		if k >= 6 {
			return at(rowTurn + k - 6)
		}
		return at(k)
	}
	{
		r1, r2 := v.load(at(1)), v.load(at(2))
		store(v.cross(r1, r2, turn(4), turn(5)), rowTurn)
		r0 := v.load(at(0))
		store(v.cross(r2, r0, turn(5), turn(3)), rowTurn+1)
		store(v.cross(r0, r1, turn(3), turn(4)), rowTurn+2)
	}
	var p3, t [3]Op
	for k := range p3 {
		a := v.load(at(rowPoint + k))
		if weighted {
			a = v.sub(a, at(rowShift+k))
		}
		p3[k] = a
	}
	for k := range t {
		t[k] = v.sum([3]Op{turn(3 * k), turn(3*k + 1), turn(3*k + 2)}, p3)
	}
	y := t
	if !weighted {
		for k := range y {
			y[k] = v.add(t[k], at(rowShift+k))
		}
	}
	numerator := 1.0
	if !weighted {
		numerator = -1
	}
	s := v.div(v.constant(numerator), y[2])
	p := [2]Op{v.mul(y[0], s), v.mul(y[1], s)}
	square := v.add(v.mul(p[0], p[0]), v.mul(p[1], p[1]))
	bend := v.mul(square, at(rowF+2))
	slope := v.add(bend, at(rowF+1))
	radial := v.add(v.mul(slope, square), one)

	row := func(c, k int) int {
		if weighted {
			return jacobian + 15*c + k
		}
		return jacobian + 12*c + k
	}
	// The columns that are at hand go to the block before the residuals change.
	fx, fy := v.pairs(Mem{Base: x, Index: i, Scale: 2})
	feature := [2]Op{fx, fy}
	var e [2]reg.VecVirtual
	for c := range e {
		distorted := v.mul(radial, p[c])
		if derivatives {
			if weighted {
				store(v.mul(distorted, weight), row(c, 6))
			} else {
				store(distorted, row(c, 6))
			}
		}
		e[c] = v.mul(distorted, at(rowF))
		if weighted {
			e[c] = v.add(e[c], at(lensRows+c))
		}
		e[c] = v.sub(e[c], feature[c])
		if weighted {
			if derivatives {
				store(e[c], row(c, 14))
			}
			e[c] = v.mul(e[c], weight)
		}
		e[c] = v.mul(e[c], sign)
	}
	v.addPairs(Mem{Base: r, Index: i, Scale: 2}, e[0], e[1])
	if weighted {
		square := v.load(weight)
		square = v.mul(square, square)
		zi := Mem{Base: z, Index: i, Scale: 1}
		VMOVUPS(v.add(v.mul(v.sub(one, square), sign), zi), zi)
	}
	if derivatives {
		bend = v.add(bend, slope)
		bend = v.add(bend, bend)
		stretch := v.add(v.mul(bend, square), radial)
		g := v.load(at(rowF))
		if weighted {
			g = v.mul(g, weight)
		}
		h := v.mul(g, s)
		m := [2]reg.VecVirtual{v.mul(bend, p[0]), v.mul(bend, p[1])}
		// d[c][k] is the derivative of residual c by y[k].
		corner := v.mul(h, v.mul(m[0], p[1]))
		d := [2][3]Op{{v.mul(h, v.add(v.mul(m[0], p[0]), radial)), corner}, {corner, v.mul(h, v.add(v.mul(m[1], p[1]), radial))}}
		if weighted {
			h = v.negate(h)
		}
		for c := range d {
			d[c][2] = v.mul(h, v.mul(stretch, p[c]))
		}
		lens := 7
		if weighted {
			lens = 9
			u := v.load(weight)
			zero := v.zero()
			for c := range d {
				store(u, row(c, 7+c))
				store(zero, row(c, 8-c))
			}
		}
		for c := range d {
			far := v.mul(square, p[c])
			store(v.mul(g, far), row(c, lens))
			store(v.mul(g, v.mul(square, far)), row(c, lens+1))
		}
		left := lensRows
		if weighted {
			left += 2
		}
		for c := range d {
			turned := [3]Op{
				v.cross(t[1], t[2], d[c][1], d[c][2]),
				v.cross(t[2], t[0], d[c][2], d[c][0]),
				v.cross(t[0], t[1], d[c][0], d[c][1]),
			}
			for k := range 3 {
				store(v.sum([3]Op{at(left + k), at(left + 3 + k), at(left + 6 + k)}, turned), row(c, k))
			}
			for k := range 3 {
				point := v.sum([3]Op{turn(k), turn(3 + k), turn(6 + k)}, d[c])
				if weighted {
					store(point, row(c, 11+k))
					store(v.negate(point), row(c, 3+k))
				} else {
					store(point, row(c, 9+k))
					store(d[c][k].(reg.VecVirtual), row(c, 3+k))
				}
			}
		}
	}
	ADDQ(Imm(uint64(v.bytes())), i)
	CMPQ(i, n)
	JL(LabelRef(loop))
}

// gatherRows transposes tiles of 4 columns by as many rows as a register has
// elements.
func gatherRows(v vec) {
	to, src, rows, lds := param("v"), param("src"), param("rows"), param("lds")
	cols, index, n := param("cols"), param("index"), param("n")
	SHLQ(Imm(3), lds)
	result, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	MOVB(Imm(0), result.Addr)
	lanes := v.bytes() / 8
	block, column, last := label("block"), label("column"), label("last")
	done, bad := label("done"), label("bad")
	Label(block)
	for i := range lanes {
		CMPQ(Mem{Base: index, Disp: 8 * i}, rows)
		JCC(LabelRef(bad))
	}
	from, dst, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(to, dst)
	MOVQ(cols, left)
	row := func(i int) Mem {
		at := GP64()
		MOVQ(Mem{Base: index, Disp: 8 * i}, at)
		IMULQ(lds, at)
		return Mem{Base: from, Index: at, Scale: 1}
	}
	SUBQ(Imm(columnsOf), left)
	JL(LabelRef(last))
	Label(column)
	v.tile(func(i int, dst reg.VecVirtual) { VMOVUPD(row(i), dst.AsY()) },
		func(i int, dst reg.VecVirtual) { VINSERTF64X4(Imm(1), row(i), dst, dst) },
		func(k int, a reg.VecVirtual) { VMOVUPD(a, Mem{Base: dst, Disp: k * stride * 8}) })
	ADDQ(Imm(columnsOf*8), from)
	ADDQ(I32(columnsOf*stride*8), dst)
	SUBQ(Imm(columnsOf), left)
	JGE(LabelRef(column))
	Label(last)
	ADDQ(Imm(columnsOf), left)
	JZ(LabelRef(done))
	mask := v.firstColumns(left)
	part := func(i int, dst reg.VecVirtual) {
		if v.wide {
			VMOVUPD_Z(row(i), mask, dst.AsY())
		} else {
			VMASKMOVPD(row(i), mask, dst)
		}
	}
	stored := label("stored")
	v.tile(part,
		func(i int, dst reg.VecVirtual) {
			high := v.reg()
			part(i, high)
			VINSERTF64X4(Imm(1), high.AsY(), dst, dst)
		},
		func(k int, a reg.VecVirtual) {
			if k > 0 {
				CMPQ(left, Imm(uint64(k)))
				JE(LabelRef(stored))
			}
			VMOVUPD(a, Mem{Base: dst, Disp: k * stride * 8})
		})
	Label(stored)
	Label(done)
	ADDQ(Imm(uint64(8*lanes)), index)
	ADDQ(Imm(uint64(8*lanes)), to)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef(block))
	MOVB(Imm(1), result.Addr)
	Label(bad)
}

// tile transposes: load and insert fill the low and the high half of a register
// with four elements of row i, and store gets the elements of column k. The high
// half of each register is two rows on, so that the last shuffle brings the rows
// in order.
func (v vec) tile(load, insert func(i int, dst reg.VecVirtual), store func(k int, a reg.VecVirtual)) {
	var a [4]reg.VecVirtual
	for i := range a {
		a[i] = v.reg()
		if !v.wide {
			load(i, a[i])
			continue
		}
		first := []int{0, 1, 4, 5}[i]
		load(first, a[i])
		insert(first+2, a[i])
	}
	var u [4]reg.VecVirtual // even and odd columns of the first rows, then of the others
	for i := range u {
		u[i] = v.reg()
		if i%2 == 0 {
			VUNPCKLPD(a[i+1], a[i], u[i])
		} else {
			VUNPCKHPD(a[i], a[i-1], u[i])
		}
	}
	for k := range 4 {
		low, high, dst := u[k%2], u[2+k%2], v.reg()
		switch {
		case v.wide:
			VSHUFF64X2(Imm([]uint64{0x88, 0xdd}[k/2]), high, low, dst)
		default:
			VPERM2F128(Imm([]uint64{0x20, 0x31}[k/2]), high, low, dst)
		}
		store(k, dst)
	}
}

// scatterRows transposes tiles of 4 rows of the block.
func scatterRows(v vec) {
	to, ldd, from, cols, n := param("dst"), param("ldd"), param("v"), param("cols"), param("n")
	SHLQ(Imm(3), ldd)
	lanes := v.bytes() / 8
	block := label("block")
	Label(block)
	dst := GP64()
	MOVQ(to, dst)
	v.scatterTile(dst, ldd, from, cols)
	step := GP64()
	IMUL3Q(Imm(uint64(lanes)), ldd, step)
	ADDQ(step, to)
	ADDQ(Imm(uint64(8*lanes)), from)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef(block))
}

// scatterTile transposes as many columns as a register has elements to rows from
// dst on, which it changes.
func (v vec) scatterTile(dst, ldd, from, cols reg.GPVirtual) {
	column, last, done := label("column"), label("last"), label("done")
	src, left := GP64(), GP64()
	MOVQ(from, src)
	MOVQ(cols, left)
	rows := func(store func(a reg.VecVirtual, m Mem)) {
		at := GP64()
		MOVQ(dst, at)
		v.rows(src, func(a reg.VecVirtual, last bool) {
			store(a, Mem{Base: at})
			if !last {
				ADDQ(ldd, at)
			}
		})
	}
	SUBQ(Imm(columnsOf), left)
	JL(LabelRef(last))
	Label(column)
	rows(func(a reg.VecVirtual, m Mem) { VMOVUPD(a.AsY(), m) })
	ADDQ(Imm(columnsOf*8), dst)
	ADDQ(I32(columnsOf*stride*8), src)
	SUBQ(Imm(columnsOf), left)
	JGE(LabelRef(column))
	Label(last)
	ADDQ(Imm(columnsOf), left)
	JZ(LabelRef(done))
	mask := v.firstColumns(left)
	rows(func(a reg.VecVirtual, m Mem) {
		if v.wide {
			VMOVUPD(a.AsY(), mask, m)
		} else {
			VMASKMOVPD(a, mask, m)
		}
	})
	Label(done)
}

// rows loads 4 rows of a block and hands their columns to store one by one, in the
// low halves of registers. What is below the rows wanted is loaded too.
func (v vec) rows(src reg.GPVirtual, store func(a reg.VecVirtual, last bool)) {
	var a [4]reg.VecVirtual
	for k := range a {
		a[k] = v.load(Mem{Base: src, Disp: k * stride * 8})
	}
	var u [4]reg.VecVirtual // even and odd columns of rows 0 and 1, then of rows 2 and 3
	for i := range u {
		u[i] = v.reg()
		if i%2 == 0 {
			VUNPCKLPD(a[i+1], a[i], u[i])
		} else {
			VUNPCKHPD(a[i], a[i-1], u[i])
		}
	}
	if !v.wide {
		for i := range 4 {
			r := v.reg()
			VPERM2F128(Imm([]uint64{0x20, 0x31}[i/2]), u[2+i%2], u[i%2], r)
			store(r, i == 3)
		}
		return
	}
	// Each register has columns i and i+2 in its halves; they go out in order.
	for half := range 2 {
		order := [8]uint64{0, 1, 8, 9, 2, 3, 10, 11}
		if half == 1 {
			order = [8]uint64{4, 5, 12, 13, 6, 7, 14, 15}
		}
		var r [2]reg.VecVirtual
		for i := range r {
			r[i] = v.reg()
			VMOVUPD(u[i], r[i])
			VPERMT2PD(u[2+i], v.load(entry(order)), r[i])
		}
		for i := range 4 {
			a := r[i%2]
			if i >= 2 {
				high := v.reg()
				VEXTRACTF64X4(Imm(1), a, high.AsY())
				a = high
			}
			store(a, half == 1 && i == 3)
		}
	}
}

// streamRows leaves the order of its stores to streamFence. They go by whole lines:
// as many as there are columns for 8 rows.
func streamRows(v vec) {
	to, from, cols, n, tile := param("dst"), param("v"), param("cols"), param("n"), param("tile")
	lanes := v.bytes() / 8
	ldd := GP64()
	MOVQ(cols, ldd)
	SHLQ(Imm(3), ldd)
	block, line := label("block"), label("line")
	Label(block)
	dst, left := GP64(), GP64()
	MOVQ(tile, dst)
	v.scatterTile(dst, ldd, from, cols)
	MOVQ(tile, dst)
	MOVQ(cols, left)
	Label(line)
	VMOVNTPD(v.load(Mem{Base: dst}), Mem{Base: to})
	ADDQ(Imm(uint64(v.bytes())), dst)
	ADDQ(Imm(uint64(v.bytes())), to)
	DECQ(left)
	JNZ(LabelRef(line))
	ADDQ(Imm(uint64(8*lanes)), from)
	SUBQ(Imm(uint64(lanes)), n)
	JG(LabelRef(block))
}

func prefetchRows(v vec) {
	src, lds, index, n := param("src"), param("lds"), param("index"), param("n")
	SHLQ(Imm(3), lds)
	loop := label("loop")
	Label(loop)
	for i := range 8 {
		at := GP64()
		MOVQ(Mem{Base: index, Disp: 8 * i}, at)
		IMULQ(lds, at)
		PREFETCHT0(Mem{Base: src, Index: at, Scale: 1})
		PREFETCHT0(Mem{Base: src, Index: at, Scale: 1, Disp: 16})
	}
	ADDQ(Imm(64), index)
	SUBQ(Imm(8), n)
	JG(LabelRef(loop))
}

// firstColumns returns the mask of the first n < 4 elements.
func (v vec) firstColumns(n reg.GPVirtual) reg.Register {
	if v.wide {
		bits, mask := GP64(), K()
		MOVQ(I32(-1), bits)
		SHLXQ(n, bits, bits)
		NOTQ(bits)
		KMOVW(bits.As32(), mask)
		return mask
	}
	// The table is 32 bytes of ones, then 32 bytes of zeros.
	base, back, mask := GP64(), GP64(), YMM()
	LEAQ(NewDataAddr(NewStaticSymbol("viewMask"), 32), base)
	MOVQ(n, back)
	NEGQ(back)
	VMOVDQU(Mem{Base: base, Index: back, Scale: 8}, mask)
	return mask
}

// zero returns a register of zeros.
func (v vec) zero() reg.VecVirtual {
	r := v.reg()
	VMOVUPS(v.constant(0), r)
	return r
}

// --- Constants -------------------------------------------------------------

// table holds the constants in use, each of 64 bytes.
var table struct {
	offset map[[8]uint64]int
	values [][8]uint64
}

func entry(x [8]uint64) Mem {
	off, ok := table.offset[x]
	if !ok {
		if table.offset == nil {
			table.offset = make(map[[8]uint64]int)
		}
		off = 64 * len(table.values)
		table.offset[x] = off
		table.values = append(table.values, x)
	}
	return NewDataAddr(NewStaticSymbol("viewConstants"), off)
}

// constant returns x in all lanes, in memory.
func (v vec) constant(x float64) Mem {
	bits := math.Float64bits(x)
	if v.size == 4 {
		b := uint64(math.Float32bits(float32(x)))
		bits = b<<32 | b
	}
	var e [8]uint64
	for i := range e {
		e[i] = bits
	}
	return entry(e)
}

func emitConstants() {
	GLOBL("viewConstants", attr.RODATA|attr.NOPTR)
	for i, x := range table.values {
		for k, bits := range x {
			DATA(64*i+8*k, U64(bits))
		}
	}
	GLOBL("viewMask", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		ones := uint64(math.MaxUint64)
		if i >= 4 {
			ones = 0
		}
		DATA(8*i, U64(ones))
	}
}
