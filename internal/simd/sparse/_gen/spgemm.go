package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// The loops over products of sparse matrices do one number after the other. They are bound
// by the accesses to memory, so that there is one version for both vector tiers. Products
// are rounded before they are added, as in Go, so that the results are the same bits.

// A loop is over rows of A and C, with the element type and the type of indices of
// which it is.
type loop struct {
	ISA // of any tier
	IndexType

	rows, row Mem // of the call, and how many are done
	budget    Mem
	p, end    Mem // entries of the row of C
	bInd      GPVirtual
	col       Op // columns of B and C
}

const unroll = 4

// at returns element i of x.
func (l loop) at(x, i Register) Mem { return Mem{Base: x, Index: i, Scale: uint8(l.Size)} }

// loadIndex returns element i+n of the indices x.
func (l loop) loadIndex(x, i Register, n int) GPVirtual {
	r := GP64()
	l.LoadIndex(Mem{Base: x, Index: i, Scale: uint8(l.Bytes()), Disp: n * l.Bytes()}, r)
	return r
}

// The bits of Absent64 and Absent32 of package sparse.
const (
	absent64 = 0x7ff0_ab5e_4700_0000
	absent32 = 0x7f8a_b5e4
)

// begin keeps the operands of all loops.
func (l *loop) begin() {
	Keep("APtr", "AInd", "BPtr", "BInd", "CPtr", "CInd")
	KeepLen("AInd", "BInd", "CInd", "BPtr")
	DECQ(ArgAddr("len(BPtr)"))
	l.row, l.p, l.end = AllocLocal(8), AllocLocal(8), AllocLocal(8)
	lo := Arg("lo")
	MOVQ(lo, l.row)
	ADDQ(lo, ArgAddr("rows")) // where they end
	l.budget = ArgAddr("budget")
	l.col = Arg("Cols")
}

// rowRange loads where row i of a matrix begins and ends, and leaves if that is not
// within length.
func (l loop) rowRange(ptr, ind string, i Register) (from, to GPVirtual) {
	p := Arg(ptr)
	from, to = l.loadIndex(p, i, 0), l.loadIndex(p, i, 1)
	CMPQ(to, ArgAddr("len("+ind+")"))
	JA(LabelRef("leave"))
	CMPQ(from, to)
	JA(LabelRef("leave"))
	return from, to
}

// open begins a row. It keeps the range of the row's entries in C, and returns their range
// in A.
func (l *loop) open() (p, end GPVirtual) {
	Label("row")
	i := GP64()
	MOVQ(l.row, i)
	CMPQ(i, ArgAddr("rows"))
	JGE(LabelRef("leave"))
	left := GP64()
	MOVQ(l.budget, left)
	from, to := l.rowRange("CPtr", "CInd", i)
	MOVQ(from, l.p)
	MOVQ(to, l.end)
	SUBQ(to, left)
	ADDQ(from, left)
	p, end = l.rowRange("APtr", "AInd", i)
	SUBQ(end, left)
	ADDQ(p, left)
	aInd, bPtr := Arg("AInd"), Arg("BPtr")
	l.bInd = Arg("BInd")
	n := GP64()
	MOVQ(p, n)
	Label("look")
	TESTQ(left, left)
	JS(LabelRef("leave"))
	CMPQ(n, end)
	JGE(LabelRef("looked"))
	r := l.loadIndex(aInd, n, 0)
	CMPQ(r, ArgAddr("len(BPtr)"))
	JAE(LabelRef("leave"))
	first, last := l.loadIndex(bPtr, r, 0), l.loadIndex(bPtr, r, 1)
	CMPQ(last, ArgAddr("len(BInd)"))
	JA(LabelRef("leave"))
	CMPQ(first, last)
	JA(LabelRef("leave"))
	SUBQ(last, left)
	ADDQ(first, left)
	INCQ(n)
	JMP(LabelRef("look"))
	Label("looked")
	MOVQ(left, l.budget)
	return p, end
}

// entries does f for the entries of the row of C, forward, and checks their columns.
func (l *loop) entries(name string, f func(p, j Register)) {
	cols := Arg("CInd")
	p := GP64()
	MOVQ(l.p, p)
	CMPQ(p, l.end)
	JGE(LabelRef(name + "done"))
	Label(name)
	j := l.loadIndex(cols, p, 0)
	CMPQ(j, l.col)
	JAE(LabelRef("leave"))
	f(p, j)
	INCQ(p)
	CMPQ(p, l.end)
	JLT(LabelRef(name))
	Label(name + "done")
}

// rowsOfB does f for the entries p of the row of A, and inner for the entries of the rows
// of B that they meet, of which it checks the columns.
func (l *loop) rowsOfB(p Register, end Op, begin func(), inner func(q, j Register, n int), finish func()) {
	CMPQ(p, end)
	JGE(LabelRef("products"))
	Label("entry")
	// Values that only begin a row are loaded again for each, as registers are few.
	r, bPtr := l.loadIndex(Arg("AInd"), p, 0), Arg("BPtr")
	q, to := l.loadIndex(bPtr, r, 0), l.loadIndex(bPtr, r, 1)
	begin()
	SUBQ(U32(unroll), to)
	CMPQ(q, to)
	JGT(LabelRef("rest"))
	Label("some")
	for n := range unroll {
		j := l.loadIndex(l.bInd, q, n)
		CMPQ(j, l.col)
		JAE(LabelRef("leave"))
		inner(q, j, n)
	}
	ADDQ(U32(unroll), q)
	CMPQ(q, to)
	JLE(LabelRef("some"))
	Label("rest")
	ADDQ(U32(unroll), to)
	CMPQ(q, to)
	JGE(LabelRef("finish"))
	Label("one")
	j := l.loadIndex(l.bInd, q, 0)
	CMPQ(j, l.col)
	JAE(LabelRef("leave"))
	inner(q, j, 0)
	INCQ(q)
	CMPQ(q, to)
	JLT(LabelRef("one"))
	Label("finish")
	finish()
	INCQ(p)
	CMPQ(p, end)
	JLT(LabelRef("entry"))
	Label("products")
}

// rowsOfC emits the loop that computes some of C, the gradient of A and the gradient of B.
func (l loop) rowsOfC(product, left, right bool) {
	l.begin()
	var sums, w, a, b, gb, gc, absent GPVirtual
	if product {
		Keep("C", "Sums", "Sign")
	}
	if left || right {
		Keep("GC", "W")
	}
	if left {
		Keep("GA")
	}
	p, end := l.open()
	if product {
		sums = Arg("Sums")
	}
	if left || right {
		w, gc = Arg("W"), Arg("GC")
	}
	zero := XMM()
	VXORPD(zero, zero, zero)
	l.entries("open", func(q, j Register) {
		if product {
			l.MovOne(zero, l.at(sums, j))
		}
		if left || right {
			y := XMM()
			l.MovOne(l.at(gc, q), y)
			l.MovOne(y, l.at(w, j))
		}
	})
	if product || right {
		a = Arg("A")
	}
	if product || left {
		b = Arg("B")
	}
	if right {
		gb = Arg("GB")
	}
	if left || right {
		absent = l.absent()
	}
	x, dot := XMM(), XMM()
	inner := 0
	l.rowsOfB(p, end, func() {
		if left {
			VXORPD(dot, dot, dot)
		}
		if product || right {
			l.MovOne(l.at(a, p), x)
		}
	}, func(q, j Register, n int) {
		part := func(x Register) Mem {
			m := l.at(x, q)
			m.Disp = n * l.Size
			return m
		}
		y, z := XMM(), XMM()
		if product {
			l.MulOne(part(b), x, z)
			l.AddOne(l.at(sums, j), z, z)
			l.MovOne(z, l.at(sums, j))
		}
		if !left && !right {
			return
		}
		inner++
		skip := fmt.Sprintf("skip%d", inner)
		if l.Double() {
			CMPQ(l.at(w, j), absent)
		} else {
			CMPL(l.at(w, j), absent.As32())
		}
		JEQ(LabelRef(skip))
		l.MovOne(l.at(w, j), y)
		if right {
			l.MulOne(x, y, z)
			l.AddOne(part(gb), z, z)
			l.MovOne(z, part(gb))
		}
		if left {
			l.MulOne(part(b), y, z)
			l.AddOne(z, dot, dot)
		}
		Label(skip)
	}, func() {
		if left {
			ga := Arg("GA")
			l.AddOne(l.at(ga, p), dot, dot)
			l.MovOne(dot, l.at(ga, p))
		}
	})
	l.close(product, left || right)
}

// close ends the row and the function. It goes backward over the row of C, so that the
// last entry of a place gets all.
func (l *loop) close(product, gradient bool) {
	cols, q, first := Arg("CInd"), GP64(), GP64()
	MOVQ(l.end, q)
	MOVQ(l.p, first)
	DECQ(q)
	CMPQ(q, first)
	JLT(LabelRef("closed"))
	var c, sums, w, absent GPVirtual
	sign, zero := XMM(), XMM()
	if product {
		c, sums = Arg("C"), Arg("Sums")
		l.MovOne(ArgAddr("Sign"), sign)
		VXORPD(zero, zero, zero)
	}
	if gradient {
		w, absent = Arg("W"), l.absent()
	}
	entry := func(n int) {
		j := l.loadIndex(cols, q, n)
		if product {
			y, to := XMM(), l.at(c, q)
			to.Disp = n * l.Size
			l.MulOne(l.at(sums, j), sign, y)
			l.AddOne(to, y, y)
			l.MovOne(y, to)
			l.MovOne(zero, l.at(sums, j))
		}
		if gradient {
			if l.Size == 8 {
				MOVQ(absent, l.at(w, j))
			} else {
				MOVL(absent.As32(), l.at(w, j))
			}
		}
	}
	CMPQ(q, first)
	JEQ(LabelRef("last"))
	Label("close")
	entry(0)
	entry(-1)
	SUBQ(I8(2), q)
	CMPQ(q, first)
	JGT(LabelRef("close"))
	JLT(LabelRef("closed"))
	Label("last")
	entry(0)
	Label("closed")
	INCQ(l.row)
	JMP(LabelRef("row"))
	Label("leave")
	done := GP64()
	MOVQ(l.row, done)
	SUBQ(ArgAddr("lo"), done)
	Store(done, ReturnIndex(0))
}

// absent returns a register with the bits that mark a column without an entry in the row of C.
func (l loop) absent() GPVirtual {
	r := GP64()
	MOVQ(Pick[Op](l, U64(absent64), U32(absent32)), r)
	return r
}
