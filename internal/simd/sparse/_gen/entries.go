package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// ahead is how many entries a call has at most: MaxEntries.
const ahead = 1 << 12

// isa is a tier with an element type and a type of indices.
type isa struct {
	ISA
	IndexType
}

// prefetch fetches nv vectors at p.
func (g isa) prefetch(p Register, nv int) {
	for at := 0; at < nv*g.Width(); at += 64 {
		PREFETCHT0(Mem{Base: p, Disp: at})
	}
}

// rows emits a loop over the entries q of some rows i of a sparse matrix. The entries of
// row i end before end[i]-base. The rows u_q of a dense matrix that they meet, n
// elements of each, are read once for
//
//	dst_i += alpha·Σ_q a_q·u_q    if sum, kept in registers until the end of the row,
//	ga_q += gamma·(v_i·u_q)       if dots,
//	w_q += a_q·(beta·v_i)         if spread, where w_q is a row too.
//
// n is 8, 4 or 2 vectors, or at most one, and no more than 2 if spread. Strides are in
// bytes.
func (g isa) rows(sum, dots, spread bool) {
	// What a row needs once stays in memory.
	Keep("Base")
	r := rowLoop{isa: g, sum: sum, dots: dots, spread: spread, n: Arg("n"), end: Arg("End"), ind: Arg("Ind")}
	keepStride := func(name string) {
		Keep(name)
		g.ToBytes(ArgAddr(name))
	}
	if sum || dots {
		r.u, r.ldu = Arg("U"), g.Stride("LdU")
	}
	if sum || spread {
		r.a = Arg("A")
	}
	if sum {
		Keep("Out", "Alpha")
		keepStride("LdOut")
	}
	if dots || spread {
		r.v = Arg("V")
		keepStride("LdV")
	}
	if dots {
		r.ga = Arg("GA")
		Keep("Gamma")
	}
	if spread {
		r.w = Arg("W")
		Keep("Beta")
		keepStride("LdW")
	}
	r.q = GP64()
	XORQ(r.q, r.q)
	vectors := []int{8, 4, 2, 1}
	if spread {
		vectors = []int{2, 1}
	}
	for _, nv := range vectors[:len(vectors)-1] {
		CMPQ(r.n, U32(nv*g.Lanes()))
		JE(LabelRef(fmt.Sprintf("vectors%d", nv)))
	}
	JMP(LabelRef("vectors1"))
	for _, nv := range vectors {
		r.emit(nv)
	}
	Label("done")
}

// A rowLoop is what rows emits.
type rowLoop struct {
	isa
	sum, dots, spread                   bool
	n, end, ind, u, ldu, a, ga, v, w, q GPVirtual
	last                                GPVirtual // where the row ends
	nv                                  int
	k                                   *Mask
	acc, vs, scaled                     []VecVirtual // scaled are beta·v_i
}

// group is how many entries have their dots added up together.
const group = 4

func (r *rowLoop) at(base Register, j int) Mem { return Mem{Base: base, Disp: j * r.Width()} }

func (r *rowLoop) emit(nv int) {
	label := fmt.Sprintf("vectors%d", nv)
	Label(label)
	r.nv, r.k, r.acc, r.vs, r.scaled = nv, nil, nil, nil, nil
	if nv == 1 {
		r.k = r.HeldMask(r.n)
	}
	Label(label + "row")
	r.last = GP64()
	r.LoadIndex(Mem{Base: r.end}, r.last)
	ADDQ(U32(r.Bytes()), r.end)
	SUBQ(ArgAddr("Base"), r.last)
	CMPQ(r.q, r.last)
	JGE(LabelRef(label + "next"))
	if r.sum {
		r.acc = r.Zeros(nv)
	}
	// What comes next comes from far.
	next := GP64()
	if r.sum {
		MOVQ(ArgAddr("Out"), next)
		ADDQ(ArgAddr("LdOut"), next)
		r.prefetch(next, nv)
	}
	if r.dots || r.spread {
		// AVX2 has no registers for v where dst takes as many.
		if r.Wide || nv < 8 {
			for j := range nv {
				r.vs = append(r.vs, r.Load(r.at(r.v, j), r.k))
			}
		}
		MOVQ(r.v, next)
		ADDQ(ArgAddr("LdV"), next)
		r.prefetch(next, nv)
	}
	if r.spread {
		beta := r.Broadcast(ArgAddr("Beta"))
		for _, v := range r.vs {
			x := r.Reg()
			r.Mul(beta, v, x)
			r.scaled = append(r.scaled, x)
		}
	}
	if r.dots {
		SUBQ(U32(group-1), r.last)
		Label(label + "group")
		CMPQ(r.q, r.last)
		JGE(LabelRef(label + "rest"))
		r.addDots(r.entries(group))
		ADDQ(U32(group), r.q)
		JMP(LabelRef(label + "group"))
		Label(label + "rest")
		ADDQ(U32(group-1), r.last)
		Label(label + "loop")
		CMPQ(r.q, r.last)
		JGE(LabelRef(label + "end"))
	} else {
		Label(label + "loop")
	}
	d := r.entries(1)
	if r.dots {
		t, m := r.Total(d[0]), Mem{Base: r.ga, Index: r.q, Scale: uint8(r.Size)}
		r.MulOne(ArgAddr("Gamma"), t, t)
		r.AddOne(m, t, t)
		r.MovOne(t, m)
	}
	INCQ(r.q)
	if r.dots {
		JMP(LabelRef(label + "loop"))
		Label(label + "end")
	} else {
		CMPQ(r.q, r.last)
		JL(LabelRef(label + "loop"))
	}
	if r.sum {
		alpha, dst := r.Broadcast(ArgAddr("Alpha")), Arg("Out")
		for j := range nv {
			r.Mul(alpha, r.acc[j], r.acc[j])
			r.Add(r.Load(r.at(dst, j), r.k), r.acc[j], r.acc[j])
			r.Store(r.acc[j], r.at(dst, j), r.k)
		}
	}
	Label(label + "next")
	if r.sum {
		ldd := Arg("LdOut")
		ADDQ(ldd, ArgAddr("Out"))
	}
	if r.dots || r.spread {
		ADDQ(ArgAddr("LdV"), r.v)
	}
	DECQ(ArgAddr("rows"))
	JNE(LabelRef(label + "row"))
	JMP(LabelRef("done"))
}

// entries emits the operations on that many entries from q on, and returns the
// products of each with v_i, of which the caller adds up the lanes.
func (r *rowLoop) entries(count int) []VecVirtual {
	d := make([]VecVirtual, count)
	us, as := make([]Mem, count), make([]VecVirtual, count)
	begin := func(e int) {
		if r.sum || r.dots {
			us[e] = r.row(e)
		}
		if r.sum || r.spread {
			as[e] = r.Reg()
			r.BroadcastTo(Mem{Base: r.a, Index: r.q, Scale: uint8(r.Size), Disp: e * r.Size}, as[e])
		}
	}
	one := func(e, j int) {
		u := us[e]
		u.Disp = j * r.Width()
		r.element(j, u, as[e], &d[e])
	}
	if r.Wide && !r.spread {
		// The entries in turns: a product is not kept waiting by the one before.
		for e := range count {
			begin(e)
		}
		for j := range r.nv {
			for e := range count {
				one(e, j)
			}
		}
		return d
	}
	for e := range count {
		begin(e)
		for j := 0; j < r.nv && (r.sum || r.dots); j++ {
			one(e, j)
		}
		if r.spread {
			r.put(e, as[e])
		}
	}
	return d
}

// put adds x·(beta·v_i) to the row w_q of entry q+e.
func (r *rowLoop) put(e int, x VecVirtual) {
	i := GP64()
	r.LoadIndex(Mem{Base: r.ind, Index: r.q, Scale: uint8(r.Bytes()), Disp: e * r.Bytes()}, i)
	IMULQ(ArgAddr("LdW"), i)
	for j, y := range r.scaled {
		at := Mem{Base: r.w, Index: i, Scale: 1, Disp: j * r.Width()}
		z := r.Load(at, r.k)
		r.Fmadd231(y, x, z)
		r.Store(z, at, r.k)
	}
}

// row returns where the row u_q of entry q+e is.
func (r *rowLoop) row(e int) Mem {
	i := GP64()
	r.LoadIndex(Mem{Base: r.ind, Index: r.q, Scale: uint8(r.Bytes()), Disp: e * r.Bytes()}, i)
	IMULQ(r.ldu, i)
	if r.dots {
		return Mem{Base: r.u, Index: i, Scale: 1}
	}
	ADDQ(r.u, i) // an operand of a multiplication is cheaper without an index
	return Mem{Base: i}
}

// element does vector j of u_q, at u, for x = a_q, and adds to d what goes with v_i.
func (r *rowLoop) element(j int, u Mem, x VecVirtual, d *VecVirtual) {
	if !r.dots && r.k == nil {
		r.Fmadd231(u, x, r.acc[j])
		return
	}
	w := r.Load(u, r.k)
	if r.sum {
		r.Fmadd231(w, x, r.acc[j])
	}
	if !r.dots {
		return
	}
	var y Op = r.at(r.v, j)
	if r.vs != nil {
		y = r.vs[j]
	}
	if j == 0 {
		*d = w
		r.Mul(y, w, w)
	} else {
		r.Fmadd231(y, w, *d)
	}
}

// addDots adds gamma times the totals of the four vectors d to ga from q on.
func (r *rowLoop) addDots(d []VecVirtual) {
	t := r.SumFour(r.Neighbours(d[0], d[1]), r.Neighbours(d[2], d[3]))
	gamma, m := Like(t), Mem{Base: r.ga, Index: r.q, Scale: uint8(r.Size)}
	r.BroadcastTo(ArgAddr("Gamma"), gamma)
	r.Mul(gamma, t, t)
	r.Add(m, t, t)
	r.Mov(t, m)
}

// column emits a loop over the entries q of some rows i of a sparse matrix, four
// sums being kept of each row:
//
//	out_i += alpha·Σ_q a_q·u[ind_q]     if gather,
//	w[ind_q] += a_q·(beta·v_i)          if scatter,
//	ga_q += (gamma·v_i)·u[ind_q]        if grad.
//
// If far is set, the values and indices lie in memory, not in a cache: it prefetches those of later entries.
func (g isa) column(gather, scatter, grad, far bool) {
	Keep("Base")
	// What a row needs once stays in memory.
	end, a, ind := Arg("End"), Arg("A"), Arg("Ind")
	var u, v, w, ga GPVirtual
	if gather {
		u = Arg("U")
		Keep("Out", "Alpha")
	}
	if scatter || grad {
		v = Arg("V")
	}
	if scatter {
		w = Arg("W")
		Keep("Beta")
	}
	if grad {
		ga = Arg("GA")
		Keep("Gamma")
	}
	fma := Pick(g, VFMADD231SD, VFMADD231SS)

	q := GP64() // the next entry
	XORQ(q, q)
	Label("row")
	last := GP64()
	g.LoadIndex(Mem{Base: end}, last)
	ADDQ(U32(g.Bytes()), end)
	SUBQ(ArgAddr("Base"), last)
	var sums VecVirtual
	if gather {
		sums = g.Four()
		VXORPD(sums, sums, sums)
	}
	var fi, gi VecVirtual
	scaled := func(by string) VecVirtual {
		x := XMM()
		g.MovOne(Mem{Base: v}, x)
		g.MulOne(ArgAddr(by), x, x)
		return x
	}
	if scatter {
		fi = scaled("Beta")
	}
	if grad {
		x := scaled("Gamma")
		gi = g.Four()
		g.BroadcastTo(x, gi)
	}
	if scatter || grad {
		ADDQ(U32(g.Size), v)
	}
	of := func(base Register, k int) Mem {
		return Mem{Base: base, Index: q, Scale: uint8(g.Size), Disp: g.Size * k}
	}
	// index returns where entry q+k meets u and w.
	index := func(k int) (atU, atW Mem) {
		i := GP64()
		g.LoadIndex(Mem{Base: ind, Index: q, Scale: uint8(g.Bytes()), Disp: k * g.Bytes()}, i)
		return Mem{Base: u, Index: i, Scale: uint8(g.Size)}, Mem{Base: w, Index: i, Scale: uint8(g.Size)}
	}
	put := func(at Mem, k int) {
		z := XMM()
		g.MovOne(at, z)
		fma(of(a, k), fi, z)
		g.MovOne(z, at)
	}
	SUBQ(U32(3), last)
	CMPQ(q, last)
	JGE(LabelRef("after4"))
	Label("entries4")
	if far {
		PREFETCHT0(Mem{Base: ind, Index: q, Scale: uint8(g.Bytes()), Disp: fetched})
		PREFETCHT0(Mem{Base: a, Index: q, Scale: uint8(g.Size), Disp: 2 * fetched})
	}
	if scatter {
		// The next indices are looked through before they come here.
		PREFETCHT0(Mem{Base: ind, Index: q, Scale: uint8(g.Bytes()), Disp: ahead * g.Bytes()})
	}
	var us, ws [4]Mem
	for k := range 4 {
		us[k], ws[k] = index(k)
	}
	if gather {
		y := g.Four()
		if g.Size == 4 {
			VMOVSS(us[0], y)
			for k := 1; k < 4; k++ {
				VINSERTPS(U8(k<<4), us[k], y, y)
			}
		} else {
			h := XMM()
			VMOVSD(us[0], y.AsX())
			VMOVHPD(us[1], y.AsX(), y.AsX())
			VMOVSD(us[2], h)
			VMOVHPD(us[3], h, h)
			VINSERTF128(U8(1), h, y, y)
		}
		g.Fmadd231(of(a, 0), y, sums)
		if grad {
			z := g.Four()
			g.Mov(of(ga, 0), z)
			g.Fmadd231(y, gi, z)
			g.Mov(z, of(ga, 0))
		}
	}
	if scatter {
		for k := range 4 {
			put(ws[k], k)
		}
	}
	ADDQ(U32(4), q)
	CMPQ(q, last)
	JL(LabelRef("entries4"))
	Label("after4")
	ADDQ(U32(3), last)
	var upper VecVirtual
	if gather {
		upper = g.upper(sums)
	}
	Label("entries1")
	CMPQ(q, last)
	JGE(LabelRef("rowend"))
	one, oneW := index(0)
	if gather {
		x, y := XMM(), XMM()
		g.MovOne(of(a, 0), x)
		g.MovOne(one, y)
		fma(y, x, sums.AsX())
		if grad {
			z := XMM()
			g.MovOne(of(ga, 0), z)
			fma(y, gi.AsX(), z)
			g.MovOne(z, of(ga, 0))
		}
	}
	if scatter {
		put(oneW, 0)
	}
	INCQ(q)
	JMP(LabelRef("entries1"))
	Label("rowend")
	if gather {
		out := Arg("Out")
		g.addRow(sums.AsX(), upper, out)
		ADDQ(U32(g.Size), ArgAddr("Out"))
	}
	DECQ(ArgAddr("rows"))
	JNE(LabelRef("row"))
	VZEROUPPER() // the function has no tier
}

// upper saves bits 128 and up of sums, which a scalar VEX instruction would zero.
func (g isa) upper(sums VecVirtual) VecVirtual {
	if g.Size == 4 {
		return nil
	}
	return g.Upper(sums)
}

// addRow adds alpha times the four sums s and upper of a row to out.
func (g isa) addRow(s Register, upper VecVirtual, out Register) {
	h := XMM()
	if g.Size == 8 {
		VPERMILPD(U8(1), s, h)
		g.AddOne(h, s, s)
		VPERMILPD(U8(1), upper, h)
		g.AddOne(h, upper, upper)
		g.AddOne(upper, s, s)
	} else {
		VMOVSHDUP(s, h)
		VADDPS(h, s, s)
		VPERMILPD(U8(1), s, h)
		g.AddOne(h, s, s)
	}
	g.MulOne(ArgAddr("Alpha"), s, s)
	g.AddOne(Mem{Base: out}, s, s)
	g.MovOne(s, Mem{Base: out})
}

// A pairLoop is what pairs emits.
type pairLoop struct {
	isa
	grad           bool
	a, ind, uw, ga GPVirtual // of the next entry
	sums           VecVirtual
	fi, gi         VecVirtual // beta·v_i and gamma·v_i in all elements
	second         OpmaskVirtual
	top            VecVirtual // the largest index in all elements
}

// fetched is how many bytes ahead a loop fetches what it reads once, and
// pairsAhead how many entries ahead it fetches pairs.
const (
	fetched    = 512
	pairsAhead = 32
)

// pairs emits a loop over the entries q of some rows i of a sparse matrix, which
// meet pairs of elements u and w:
//
//	out_i += alpha·Σ_q a_q·uw[2ind_q]
//	uw[2ind_q+1] += a_q·(beta·v_i)
//	ga_q += (gamma·v_i)·uw[2ind_q]      if grad.
//
// A row's sum has the order of addition of column. Loads and stores limit the loop, so an
// entry takes one load and one store of a pair. The store has all of the pair, so
// that the next load of it need not wait until the store has left for the cache. The
// first entries, fetch of them, have the pairs of later ones fetched, which the processor
// would not come to in time where they are in no cache of its own.
func (g isa) pairs(grad bool) {
	Keep("Alpha", "Beta")
	if grad {
		Keep("Gamma")
	}
	rows, end, v, out := Arg("rows"), Arg("End"), Arg("V"), Arg("Out")
	l := pairLoop{isa: g, grad: grad, a: Arg("A"), ind: Arg("Ind"), uw: Arg("U")}
	if grad {
		l.ga = Arg("GA")
	}
	if g.Wide {
		l.second = K()
		two := GP32()
		MOVL(U32(2), two)
		KMOVW(two, l.second)
	}
	top, x := Arg("pairs"), XMM()
	DECQ(top)
	VMOVQ(top, x)
	l.top = g.Reg()
	if g.IndexType == "int32" {
		VPBROADCASTD(x, l.top)
	} else {
		VPBROADCASTQ(x, l.top)
	}
	fetch := Arg("fetch")
	LEAQ(Mem{Base: l.ind, Index: fetch, Scale: uint8(l.Bytes())}, fetch)
	MOVQ(fetch, ArgAddr("fetch")) // where they end
	before := Arg("Base")         // the end of the row before
	Label("row")
	left := GP64()
	g.LoadIndex(Mem{Base: end}, left)
	ADDQ(U32(g.Bytes()), end)
	SUBQ(before, left)
	ADDQ(left, before)
	l.sums = g.Four()
	VXORPD(l.sums, l.sums, l.sums)
	scaled := func(by string, to VecVirtual) VecVirtual {
		x := XMM()
		g.MovOne(Mem{Base: v}, x)
		g.MulOne(ArgAddr(by), x, x)
		g.BroadcastTo(x, to)
		return to
	}
	l.fi = scaled("Beta", g.Four())
	if grad {
		l.gi = scaled("Gamma", g.Four())
	}
	ADDQ(U32(g.Size), v)
	SUBQ(U32(8), left)
	JL(LabelRef("after8"))
	Label("entries8")
	l.check(8)
	PREFETCHT0(Mem{Base: l.ind, Disp: fetched})
	PREFETCHT0(Mem{Base: l.a, Disp: fetched})
	if grad {
		PREFETCHT0(Mem{Base: l.ga, Disp: fetched})
	}
	l.fetch(8)
	first, second := l.entries(0), l.entries(4)
	if grad { // side by side, as stores to the same line go together
		g.Mov(first, l.at(l.ga, 0))
		g.Mov(second, l.at(l.ga, 4))
	}
	l.advance(8)
	SUBQ(U32(8), left)
	JGE(LabelRef("entries8"))
	Label("after8")
	ADDQ(U32(4), left)
	JL(LabelRef("after4"))
	l.check(4)
	l.fetch(4)
	first = l.entries(0)
	if grad {
		g.Mov(first, l.at(l.ga, 0))
	}
	l.advance(4)
	SUBQ(U32(4), left)
	Label("after4")
	upper := g.upper(l.sums)
	ADDQ(U32(4), left)
	JEQ(LabelRef("rowend"))
	Label("entries1")
	l.fetch(1)
	l.entry()
	l.advance(1)
	DECQ(left)
	JNE(LabelRef("entries1"))
	Label("rowend")
	g.addRow(l.sums.AsX(), upper, out)
	ADDQ(U32(g.Size), out)
	DECQ(rows)
	JNE(LabelRef("row"))
	MOVB(U8(1), Result())
	JMP(LabelRef("done"))
	Label("outside")
	MOVB(U8(0), Result())
	Label("done")
}

// check leaves the loop if one of the next n indices is outside.
func (l *pairLoop) check(n int) {
	if l.Wide {
		const less = 1 // as numbers without a sign, which are large where an index is negative
		bytes, k := n*l.Bytes(), K()
		top := map[int]Register{64: l.top, 32: l.top.AsY(), 16: l.top.AsX()}[bytes]
		if l.IndexType == "int32" {
			VPCMPUD(U8(less), Mem{Base: l.ind}, top, k)
		} else {
			VPCMPUQ(U8(less), Mem{Base: l.ind}, top, k)
		}
		KORTESTW(k, k)
		JNE(LabelRef("outside"))
		return
	}
	var bad Register // negative where an index, or the last one less that, is
	for at := 0; at < n*l.Bytes(); at += 32 {
		m := Mem{Base: l.ind, Disp: at}
		var y, top Register = YMM(), l.top
		if n*l.Bytes() == 16 {
			y, top = XMM(), l.top.AsX()
		}
		if l.IndexType == "int32" {
			VPSUBD(m, top, y)
		} else {
			VPSUBQ(m, top, y)
		}
		VPOR(m, y, y)
		if bad != nil {
			VPOR(bad, y, y)
		}
		bad = y
	}
	signs := GP32()
	if l.IndexType == "int32" {
		VMOVMSKPS(bad, signs)
	} else {
		VMOVMSKPD(bad, signs)
	}
	TESTL(signs, signs)
	JNE(LabelRef("outside"))
}

// fetch has the pairs fetched of n entries that come later, where there are such.
func (l *pairLoop) fetch(n int) {
	skip := fmt.Sprintf("fetched%d", n)
	CMPQ(l.ind, ArgAddr("fetch"))
	JAE(LabelRef(skip))
	for k := range n {
		PREFETCHT0(l.pairOf(pairsAhead+k, false))
	}
	Label(skip)
}

// pairOf returns where the pair of entry k is, the index of which it checks if check is
// set.
func (l *pairLoop) pairOf(k int, check bool) Mem {
	i := GP64()
	l.LoadIndex(Mem{Base: l.ind, Disp: k * l.Bytes()}, i)
	if check {
		CMPQ(i, ArgAddr("pairs"))
		JAE(LabelRef("outside"))
	}
	if l.Size == 8 {
		ADDQ(i, i)
	}
	return Mem{Base: l.uw, Index: i, Scale: 8}
}

func (l *pairLoop) at(base Register, k int) Mem { return Mem{Base: base, Disp: l.Size * k} }

func (l *pairLoop) advance(n int) {
	ADDQ(U32(n*l.Size), l.a)
	ADDQ(U32(n*l.Bytes()), l.ind)
	if l.grad {
		ADDQ(U32(n*l.Size), l.ga)
	}
}

// pair adds to the pair of entry k, whose value is the second of x unless that is nil,
// and returns it. If alone is set it checks the index.
func (l *pairLoop) pair(k int, x Register, alone bool) VecVirtual {
	mov := Pick(l, VMOVUPD, VMOVSD) // of a pair
	at := l.pairOf(k, alone)
	uw, fi := XMM(), l.fi.AsX()
	mov(at, uw)
	switch {
	case l.Wide && x != nil:
		VFMADD231PD(x, fi, l.second, uw)
	case l.Wide:
		Pick(l, VFMADD231PD_BCST, VFMADD231PS_BCST)(l.at(l.a, k), fi, l.second, uw)
	default:
		y := XMM()
		Pick(l, VMOVDDUP, VBROADCASTSS)(l.at(l.a, k), y)
		Pick(l, VFMADD213PD, VFMADD213PS)(uw, fi, y)
		Pick(l, VBLENDPD, VBLENDPS)(U8(2), y, uw, uw)
	}
	mov(uw, at)
	return uw
}

// entries does four entries from k on, and returns the new elements of ga. A pair
// is stored before the next is loaded, which may be the same.
func (l *pairLoop) entries(k int) VecVirtual {
	a := l.Four()
	l.Mov(l.at(l.a, k), a)
	var odd [4]Register // where the second is the value
	if l.Size == 8 && l.Wide {
		odd[1], odd[3] = a.AsX(), l.upper(a)
	}
	var p [4]VecVirtual
	for n := range p {
		p[n] = l.pair(k+n, odd[n], false)
	}
	u, h := l.Four(), XMM()
	if l.Size == 8 {
		VUNPCKLPD(p[1], p[0], u.AsX())
		VUNPCKLPD(p[3], p[2], h)
		VINSERTF128(U8(1), h, u, u)
	} else {
		VUNPCKLPS(p[1], p[0], u)
		VUNPCKLPS(p[3], p[2], h)
		VUNPCKLPD(h, u, u)
	}
	l.Fmadd231(a, u, l.sums)
	if l.grad {
		Pick(l, VFMADD213PD, VFMADD213PS)(l.at(l.ga, k), l.gi, u)
	}
	return u
}

// entry does one entry.
func (l *pairLoop) entry() {
	fma := Pick(l, VFMADD231SD, VFMADD231SS)
	uw, x := l.pair(0, nil, true), XMM()
	l.MovOne(l.at(l.a, 0), x)
	fma(uw, x, l.sums.AsX())
	if l.grad {
		l.MovOne(l.at(l.ga, 0), x)
		fma(uw, l.gi.AsX(), x)
		l.MovOne(x, l.at(l.ga, 0))
	}
}

// indexRange emits the least and the largest of some indices, in each lane. Two vectors go at a time, so
// that one need not wait for the other.
func indexRange(g ISA, index IndexType) {
	ind, n, lo, hi := Arg("ind"), Arg("n"), Arg("lo"), Arg("hi")
	last, pairs := GP64(), GP64()
	LEAQ(Mem{Base: ind, Index: n, Scale: uint8(g.Size), Disp: -g.Width()}, last)
	LEAQ(Mem{Base: last, Disp: -g.Width()}, pairs)
	lower, higher := VPMINSD, VPMAXSD
	if index == "int" {
		lower, higher = VPMINSQ, VPMAXSQ
	}
	var least, most [2]VecVirtual
	for q := range least {
		least[q] = g.CopyOf(Mem{Base: last})
		most[q] = g.CopyOf(least[q])
	}
	take := func(q int) {
		v := g.CopyOf(Mem{Base: ind, Disp: q * g.Width()})
		lower(v, least[q], least[q])
		higher(v, most[q], most[q])
	}
	Label("loop")
	CMPQ(ind, pairs)
	JGE(LabelRef("end"))
	take(0)
	take(1)
	ADDQ(U32(2*g.Width()), ind)
	JMP(LabelRef("loop"))
	Label("end")
	CMPQ(ind, last)
	JGE(LabelRef("join"))
	take(0)
	Label("join")
	lower(least[1], least[0], least[0])
	higher(most[1], most[0], most[0])
	g.Mov(least[0], Mem{Base: lo})
	g.Mov(most[0], Mem{Base: hi})
}

// prefetchLines emits the prefetch of n > 0 bytes at p.
func prefetchLines() {
	p, end := Arg("p"), Arg("n")
	ADDQ(p, end)
	ANDQ(I8(-64), p)
	Label("loop")
	PREFETCHT0(Mem{Base: p})
	ADDQ(U32(64), p)
	CMPQ(p, end)
	JLT(LabelRef("loop"))
}
