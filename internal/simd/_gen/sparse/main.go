// Command sparse generates the assembly of the loops of package simd over rows
// of a sparse matrix.
//
// Every loop is written once, over an isa: a tier (AVX2 or AVX-512) with an
// element type and a type of indices.
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
	for _, width := range []int{32, 64} {
		for _, size := range []int{8, 4} {
			for _, index := range []string{"int", "int32"} {
				g := isa{size: size, width: width, index: index}
				g.row("sparseRow", true, false)
				g.row("sparseDots", false, true)
				g.row("sparseRowDots", true, true)
				if width == 32 {
					g.column("sparseGather", true, false, false)
					g.column("sparseScatter", false, true, false)
					g.column("sparseGatherScatter", true, true, false)
					g.column("sparseGatherGrad", true, false, true)
					g.column("sparseGatherScatterGrad", true, true, true)
				}
			}
		}
	}
	isa{width: 32, index: "int32"}.indexRange()
	isa{width: 64, index: "int32"}.indexRange()
	isa{width: 64, index: "int"}.indexRange()
	Generate()
}

// ahead is how many entries a call has at most: SparseEntries.
const ahead = 1 << 12

// isa is a tier with an element type and a type of indices.
type isa struct {
	size, width int // bytes of an element, bytes of a vector
	index       string
}

func (g isa) avx512() bool { return g.width == 64 }
func (g isa) lanes() int   { return g.width / g.size }

func (g isa) name() string {
	tier := "AVX2"
	if g.avx512() {
		tier = "AVX512"
	}
	return fmt.Sprintf("%sF%d%s", tier, 8*g.size, map[string]string{"int": "I64", "int32": "I32"}[g.index])
}

// byType returns the instruction for the element type.
func byType[F any](g isa, f64, f32 F) F {
	if g.size == 4 {
		return f32
	}
	return f64
}

func param(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

func (g isa) vec() VecVirtual {
	if g.avx512() {
		return ZMM()
	}
	return YMM()
}

func (g isa) zeros(n int) []VecVirtual {
	all := make([]VecVirtual, n)
	for i := range all {
		v := g.vec()
		all[i] = v
		if !g.avx512() {
			VXORPD(v, v, v)
			continue
		}
		x, err := x86.VPXORQ(v, v, v)
		if err != nil {
			panic(err)
		}
		x.CancellingInputs = true // avo knows it of VEX only; without, v would be live before
		Instruction(x)
	}
	return all
}

func (g isa) broadcast(name string) VecVirtual {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := g.vec()
	byType(g, VBROADCASTSD, VBROADCASTSS)(b.Addr, v)
	return v
}

func (g isa) mov(x, y Op)    { byType(g, VMOVUPD, VMOVUPS)(x, y) }
func (g isa) add(x, y, z Op) { byType(g, VADDPD, VADDPS)(x, y, z) }
func (g isa) mul(x, y, z Op) { byType(g, VMULPD, VMULPS)(x, y, z) }
func (g isa) fma(x, y, z Op) { byType(g, VFMADD231PD, VFMADD231PS)(x, y, z) }

// A mask selects the first lanes of a vector: an opmask on AVX-512, a vector of
// ones and zeros on AVX2. A nil mask selects all.
type mask struct {
	k OpmaskVirtual
	v VecVirtual
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
	v := g.vec()
	VMOVUPD(Mem{Base: p}, v)
	return &mask{v: v}
}

// ones is 32 bytes of ones and then 32 of zeros.
var ones = sync.OnceValue(func() Mem {
	m := GLOBL("sparseOnes", 8|16 /* RODATA|NOPTR */)
	for i := range 8 {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/4)))
	}
	return m
})

// opmasks holds the opmasks of the first 0, 1, ..., 16 lanes.
var opmasks = sync.OnceValue(func() Mem {
	m := GLOBL("sparseOpmasks", 8|16 /* RODATA|NOPTR */)
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
		byType(g, VMASKMOVPD, VMASKMOVPS)(m, k.v, v)
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
		byType(g, VMASKMOVPD, VMASKMOVPS)(v, k.v, m)
	}
}

// total adds the lanes of v, in its first one, which it returns.
func (g isa) total(v VecVirtual) Register {
	y := v.AsY()
	if g.avx512() {
		h := YMM()
		VEXTRACTF64X4(U8(1), v, h)
		g.add(h, y, y)
	}
	x, h := v.AsX(), XMM()
	if g.avx512() {
		VEXTRACTF64X2(U8(1), y, h) // of any registers
	} else {
		VEXTRACTF128(U8(1), y, h)
	}
	g.add(h, x, x)
	VPERMILPD(U8(1), x, h)
	g.add(h, x, x)
	if g.size == 4 {
		VMOVSHDUP(x, h)
		VADDSS(h, x, x)
	}
	return x
}

// prefetch fetches nv vectors at p.
func (g isa) prefetch(p Register, nv int) {
	for at := 0; at < nv*g.width; at += 64 {
		PREFETCHT0(Mem{Base: p, Disp: at})
	}
}

// row emits a loop over the entries q of a row of a sparse matrix. The rows u_q
// of a dense matrix that they meet, n elements of each, are read once for
//
//	dst += alpha·Σ_q a_q·u_q    if sum, kept in registers until the end,
//	ga_q += gamma·(v·u_q)       if dots.
//
// n is 8, 4 or 2 vectors, or at most one.
func (g isa) row(name string, sum, dots bool) {
	elem := byType(g, "float64", "float32")
	sig, does := "n int", []string{}
	if sum {
		sig += ", dst *T, alpha T, a *T"
		does = append(does, "dst += alpha·Σ_q a_q·u_q")
	}
	if dots {
		sig += ", ga *T, gamma T, v *T"
		does = append(does, "ga_q += gamma·(v·u_q)")
	}
	sig += ", ind *" + g.index + ", entries int, u *T, ld int"
	if dots {
		sig += ", ldv int"
	}
	TEXT(name+g.name(), 4 /* NOSPLIT */, "func("+strings.ReplaceAll(sig, "T", elem)+")")
	Pragma("noescape")
	Doc(name + g.name() + " computes " + strings.Join(does, " and ") + " for rows u_q = u[ind_q·ld:][:n], entries >= 1, and n 8, 4 or 2 vectors or at most one.")

	n, ind, u, ld := param("n"), param("ind"), param("u"), param("ld")
	SHLQ(byType(g, U8(3), U8(2)), ld)
	var dst, a, ga, v GPVirtual
	if sum {
		dst, a = param("dst"), param("a")
	}
	if dots {
		ga, v = param("ga"), param("v")
	}
	left := param("entries")
	size := map[string]int{"int32": 4, "int": 8}[g.index]
	end, ldv := GP64(), GPVirtual(nil)
	if dots {
		LEAQ(Mem{Base: ind, Index: left, Scale: uint8(size), Disp: -size}, end)
		ldv = param("ldv")
		SHLQ(byType(g, U8(3), U8(2)), ldv)
	}
	for _, nv := range []int{8, 4, 2} {
		CMPQ(n, U32(nv*g.lanes()))
		JE(LabelRef(fmt.Sprintf("vectors%d", nv)))
	}
	JMP(LabelRef("vectors1"))
	for _, nv := range []int{8, 4, 2, 1} {
		label := fmt.Sprintf("vectors%d", nv)
		Label(label)
		var k *mask
		if nv == 1 {
			k = g.newMask(n)
		}
		at := func(base Register, j int) Mem { return Mem{Base: base, Disp: j * g.width} }
		var acc, vs []VecVirtual
		if sum {
			acc = g.zeros(nv)
		}
		// AVX2 has no registers for v where dst takes as many.
		held := dots && (g.avx512() || !sum || nv < 8)
		if held {
			for j := range nv {
				vs = append(vs, g.load(at(v, j), k))
			}
		}
		if dots {
			// What comes next comes from far. The loop without dots does better without
			// this.
			ADDQ(v, ldv)
			g.prefetch(ldv, nv)
		}
		Label(label + "loop")
		i := GP64()
		if g.index == "int32" {
			MOVLQSX(Mem{Base: ind}, i)
			ADDQ(U32(4), ind)
		} else {
			MOVQ(Mem{Base: ind}, i)
			ADDQ(U32(8), ind)
		}
		IMULQ(ld, i)
		ADDQ(u, i)
		if dots && nv == 8 {
			soon := GP64()
			LEAQ(Mem{Base: ind, Disp: 3 * size}, soon)
			CMPQ(soon, end)
			CMOVQHI(end, soon)
			if g.index == "int32" {
				MOVLQSX(Mem{Base: soon}, soon)
			} else {
				MOVQ(Mem{Base: soon}, soon)
			}
			IMULQ(ld, soon)
			ADDQ(u, soon)
			g.prefetch(soon, nv)
		}
		var x VecVirtual
		if sum {
			x = g.vec()
			byType(g, VBROADCASTSD, VBROADCASTSS)(Mem{Base: a}, x)
			ADDQ(U32(g.size), a)
		}
		var d []VecVirtual
		for j := range nv {
			if !dots {
				if k == nil {
					g.fma(at(i, j), x, acc[j])
				} else {
					g.fma(g.load(at(i, j), k), x, acc[j])
				}
				continue
			}
			w := g.load(at(i, j), k)
			if sum {
				g.fma(w, x, acc[j])
			}
			var y Op = at(v, j)
			if held {
				y = vs[j]
			}
			if c := j % 4; j < 4 {
				d = append(d, w)
				g.mul(y, w, w)
			} else {
				g.fma(y, w, d[c])
			}
		}
		if dots {
			for len(d) > 1 {
				for j := range len(d) / 2 {
					g.add(d[j+len(d)/2], d[j], d[j])
				}
				d = d[:len(d)/2]
			}
			t := g.total(d[0])
			gamma, err := Param("gamma").Resolve()
			if err != nil {
				panic(err)
			}
			byType(g, VMULSD, VMULSS)(gamma.Addr, t, t)
			byType(g, VADDSD, VADDSS)(Mem{Base: ga}, t, t)
			byType(g, VMOVSD, VMOVSS)(t, Mem{Base: ga})
			ADDQ(U32(g.size), ga)
		}
		DECQ(left)
		JNE(LabelRef(label + "loop"))
		if sum {
			alpha := g.broadcast("alpha")
			for j := range nv {
				g.mul(alpha, acc[j], acc[j])
				g.add(g.load(at(dst, j), k), acc[j], acc[j])
				g.store(acc[j], at(dst, j), k)
			}
		}
		VZEROUPPER()
		RET()
	}
}

// column emits a loop over the entries q of some rows i of a sparse matrix, one by
// one, four sums being kept of each row:
//
//	out_i += alpha·Σ_q a_q·u[ind_q]     if gather,
//	w[ind_q] += a_q·(beta·v_i)          if scatter,
//	ga_q += (gamma·v_i)·u[ind_q]        if grad.
func (g isa) column(name string, gather, scatter, grad bool) {
	tier := g.name()[len("AVX2"):]
	elem := byType(g, "float64", "float32")
	sig, does := "rows int, end *I, base int, a *T, ind *I", []string{}
	if gather {
		sig += ", out *T, alpha T, u *T"
		does = append(does, "out_i += alpha·Σ_q a_q·u[ind_q]")
	}
	if scatter || grad {
		sig += ", v *T"
	}
	if scatter {
		sig += ", beta T, w *T, lo int"
		does = append(does, "w[ind_q-lo] += a_q·(beta·v_i)")
	}
	if grad {
		sig += ", ga *T, gamma T"
		does = append(does, "ga_q += (gamma·v_i)·u[ind_q]")
	}
	sig = strings.ReplaceAll(strings.ReplaceAll(sig, "T", elem), "*I", "*"+g.index)
	TEXT(name+tier, 4 /* NOSPLIT */, "func("+sig+")")
	Pragma("noescape")
	Doc(name + tier + " computes " + strings.Join(does, ", ") + " for the entries q of rows i, rows >= 1, of which the last is end[i]-base-1.")

	rows, end, base, a, ind := param("rows"), param("end"), param("base"), param("a"), param("ind")
	var out, u, v, w, ga GPVirtual
	if gather {
		out, u = param("out"), param("u")
	}
	if scatter || grad {
		v = param("v")
	}
	if scatter {
		w = param("w")
		lo := param("lo")
		SHLQ(byType(g, U8(3), U8(2)), lo)
		SUBQ(lo, w)
	}
	if grad {
		ga = param("ga")
	}
	mul := byType(g, VMULSD, VMULSS)
	mov := byType(g, VMOVSD, VMOVSS)
	fma := byType(g, VFMADD231SD, VFMADD231SS)
	add := byType(g, VADDSD, VADDSS)

	q := GP64() // the next entry
	XORQ(q, q)
	Label("row")
	last := GP64()
	if g.index == "int32" {
		MOVLQSX(Mem{Base: end}, last)
		ADDQ(U32(4), end)
	} else {
		MOVQ(Mem{Base: end}, last)
		ADDQ(U32(8), end)
	}
	SUBQ(base, last)
	var sums []VecVirtual
	if gather {
		for range 4 {
			x := XMM()
			VXORPD(x, x, x)
			sums = append(sums, x)
		}
	}
	var fi, gi VecVirtual
	scaled := func(by string) VecVirtual {
		factor, err := Param(by).Resolve()
		if err != nil {
			panic(err)
		}
		x := XMM()
		mov(Mem{Base: v}, x)
		mul(factor.Addr, x, x)
		return x
	}
	if scatter {
		fi = scaled("beta")
	}
	if grad {
		gi = scaled("gamma")
	}
	if scatter || grad {
		ADDQ(U32(g.size), v)
	}
	entry := func(k int) {
		i := GP64()
		if g.index == "int32" {
			MOVLQSX(Mem{Base: ind, Index: q, Scale: 4, Disp: 4 * k}, i)
		} else {
			MOVQ(Mem{Base: ind, Index: q, Scale: 8, Disp: 8 * k}, i)
		}
		of := func(base Register) Mem { return Mem{Base: base, Index: q, Scale: uint8(g.size), Disp: g.size * k} }
		at := func(base Register) Mem { return Mem{Base: base, Index: i, Scale: uint8(g.size)} }
		x := XMM()
		mov(of(a), x)
		if grad {
			y, z := XMM(), XMM()
			mov(at(u), y)
			fma(y, x, sums[k])
			mov(of(ga), z)
			fma(y, gi, z)
			mov(z, of(ga))
		} else if gather {
			fma(at(u), x, sums[k])
		}
		if scatter {
			z := XMM()
			mov(at(w), z)
			fma(x, fi, z)
			mov(z, at(w))
		}
	}
	four := GP64()
	MOVQ(last, four)
	SUBQ(U32(3), four)
	Label("entries4")
	CMPQ(q, four)
	JGE(LabelRef("entries1"))
	if scatter {
		// The next indices are looked through before they come here.
		PREFETCHT0(Mem{Base: ind, Index: q, Scale: map[string]uint8{"int32": 4, "int": 8}[g.index], Disp: ahead * map[string]int{"int32": 4, "int": 8}[g.index]})
	}
	for k := range 4 {
		entry(k)
	}
	ADDQ(U32(4), q)
	JMP(LabelRef("entries4"))
	Label("entries1")
	CMPQ(q, last)
	JGE(LabelRef("rowend"))
	entry(0)
	INCQ(q)
	JMP(LabelRef("entries1"))
	Label("rowend")
	if gather {
		add(sums[1], sums[0], sums[0])
		add(sums[3], sums[2], sums[2])
		add(sums[2], sums[0], sums[0])
		alpha, err := Param("alpha").Resolve()
		if err != nil {
			panic(err)
		}
		mul(alpha.Addr, sums[0], sums[0])
		add(Mem{Base: out}, sums[0], sums[0])
		mov(sums[0], Mem{Base: out})
		ADDQ(U32(g.size), out)
	}
	DECQ(rows)
	JNE(LabelRef("row"))
	RET()
}

// indexRange emits the least and the largest of some indices, in each lane.
func (g isa) indexRange() {
	name := "indexRange" + map[int]string{32: "AVX2", 64: "AVX512"}[g.width] + map[string]string{"int": "I64", "int32": "I32"}[g.index]
	size := 4
	if g.index == "int" {
		size = 8
	}
	TEXT(name, 4 /* NOSPLIT */, "func(ind *"+g.index+", n int, lo, hi *"+g.index+")")
	Pragma("noescape")
	Doc(name + fmt.Sprintf(" stores the least and the largest of each %dth of n indices, n at least as many.", g.width/size))
	ind, n, lo, hi := param("ind"), param("n"), param("lo"), param("hi")
	last := GP64()
	LEAQ(Mem{Base: ind, Index: n, Scale: uint8(size), Disp: -g.width}, last)
	least, most := g.vec(), g.vec()
	move := func(x, y Op) {
		if g.avx512() {
			VMOVDQU64(x, y)
		} else {
			VMOVDQU(x, y)
		}
	}
	move(Mem{Base: last}, least)
	move(least, most)
	Label("loop")
	CMPQ(ind, last)
	JGE(LabelRef("end"))
	v := g.vec()
	move(Mem{Base: ind}, v)
	if g.index == "int" {
		VPMINSQ(v, least, least)
		VPMAXSQ(v, most, most)
	} else {
		VPMINSD(v, least, least)
		VPMAXSD(v, most, most)
	}
	ADDQ(U32(g.width), ind)
	JMP(LabelRef("loop"))
	Label("end")
	move(least, Mem{Base: lo})
	move(most, Mem{Base: hi})
	VZEROUPPER()
	RET()
}
