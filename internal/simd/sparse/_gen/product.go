package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "revnum/internal/simd/_gen/asm"
)

// The set of columns of a row has a bit for each column in words of 64, and a byte for each word, which
// is 255 if the word is not zero. A byte is stored without a load, so that the products of a row, whose words are few,
// need not wait for each other. The instructions that make masks of bytes then find the words in order.

const (
	slack = 4  // ProductSlack
	few   = 40 // words
)

// product emits the loop that takes rows of the product, with their values or without.
func (l loop) product(values bool) {
	Keep("APtr", "AInd", "BPtr", "BInd", "Cols", "Used", "Ind")
	KeepLen("AInd", "BInd", "BPtr", "Ind")
	DECQ(ArgAddr("len(BPtr)"))
	SUBQ(U32(slack), ArgAddr("len(Ind)"))
	l.row, l.end = AllocLocal(8), AllocLocal(8)
	row := Arg("lo")
	MOVQ(row, l.row)
	ADDQ(row, ArgAddr("rows")) // where they end
	l.budget = ArgAddr("budget")
	l.col = ArgAddr("Cols")
	used := ArgAddr("Used")

	Label("row")
	i := GP64()
	MOVQ(l.row, i)
	CMPQ(i, ArgAddr("rows"))
	JGE(LabelRef("leave"))
	p, end := l.rowRange("APtr", "AInd", i)
	MOVQ(end, l.end)
	products := GP64()
	XORQ(products, products)
	aInd, bPtr := Arg("AInd"), Arg("BPtr")
	n, left := GP64(), GP64()
	MOVQ(p, n)
	MOVQ(l.budget, left)
	Label("look")
	CMPQ(n, end)
	JGE(LabelRef("looked"))
	l.prefetchRow(n, values)
	r := l.loadIndex(aInd, n, 0)
	CMPQ(r, ArgAddr("len(BPtr)"))
	JAE(LabelRef("leave"))
	first, last := l.loadIndex(bPtr, r, 0), l.loadIndex(bPtr, r, 1)
	CMPQ(last, ArgAddr("len(BInd)"))
	JA(LabelRef("leave"))
	CMPQ(first, last)
	JA(LabelRef("leave"))
	ADDQ(last, products)
	SUBQ(first, products)
	DECQ(left)
	JS(LabelRef("leave"))
	CMPQ(products, left)
	JG(LabelRef("leave"))
	INCQ(n)
	JMP(LabelRef("look"))
	Label("looked")
	SUBQ(products, left)
	DECQ(left) // rows without entries take time too
	JS(LabelRef("leave"))
	MOVQ(left, l.budget)
	CMPQ(products, l.col)
	most := GP64()
	MOVQ(l.col, most)
	CMPQ(products, most)
	CMOVQGT(most, products)
	ADDQ(used, products)
	CMPQ(products, ArgAddr("len(Ind)"))
	JG(LabelRef("leave"))

	var sums, a, b GPVirtual
	if values {
		sums, a, b = Arg("Sums"), Arg("A"), Arg("B")
	}
	l.bInd = Arg("BInd")
	has, flags := Arg("Has"), Arg("Flags")
	lo, hi := GP64(), GP64()
	MOVQ(I32(0x7fffffff), lo)
	MOVQ(I32(-1), hi)
	x := XMM()
	l.rowsOfB(p, l.end, func() {
		if values {
			l.MovOne(l.at(a, p), x)
		}
	}, func(q, j Register, n int) {
		if values {
			part, z := l.at(b, q), XMM()
			part.Disp = n * l.Size
			l.MulOne(part, x, z)
			l.AddOne(l.at(sums, j), z, z)
			l.MovOne(z, l.at(sums, j))
		}
		word, bits := GP64(), GP64()
		MOVQ(j, word)
		SHRQ(U8(6), word)
		at := Mem{Base: has, Index: word, Scale: 8}
		MOVQ(at, bits)
		BTSQ(j, bits)
		MOVQ(bits, at)
		MOVB(U8(255), Mem{Base: flags, Index: word, Scale: 1})
		CMPQ(word, lo)
		CMOVQLT(word, lo)
		CMPQ(word, hi)
		CMOVQGT(word, hi)
	}, func() {})

	list, listed := Arg("List"), GP64()
	XORQ(listed, listed)
	CMPQ(lo, hi)
	JG(LabelRef("counted"))
	flags, has = Arg("Flags"), Arg("Has")
	// A load of many flags waits until all stores of single ones are done. Of few words it takes less time
	// to look at each.
	range_ := GP64()
	MOVQ(hi, range_)
	SUBQ(lo, range_)
	CMPQ(range_, I8(few))
	JG(LabelRef("many"))
	Label("few")
	MOVQ(lo, Mem{Base: list, Index: listed, Scale: 8})
	CMPQ(Mem{Base: has, Index: lo, Scale: 8}, I8(1)) // carries if it is 0
	SBBQ(I8(-1), listed)
	MOVB(I8(0), Mem{Base: flags, Index: lo, Scale: 1})
	INCQ(lo)
	CMPQ(lo, hi)
	JLE(LabelRef("few"))
	JMP(LabelRef("words"))

	Label("many") // which takes time too, if columns are far apart
	SHRQ(U8(6), range_)
	SUBQ(range_, l.budget)
	ANDQ(I8(-64), lo)
	zero, mask := YMM(), YMM()
	VPXOR(zero, zero, zero)
	Label("flags")
	set, upper := GP64(), GP64()
	at := Mem{Base: flags, Index: lo, Scale: 1}
	for _, half := range []GPVirtual{set, upper} {
		VMOVDQU(at, mask)
		VMOVDQU(zero, at)
		VPMOVMSKB(mask, half.As32())
		at.Disp = 32
	}
	SHLQ(U8(32), upper)
	ORQ(upper, set)
	// Whether a row of few entries has any here is anyone's guess.
	take("flag", set, lo, func(at GPVirtual, n int) { MOVQ(at, Mem{Base: list, Index: listed, Scale: 8, Disp: 8 * n}) }, listed)
	ADDQ(I8(64), lo)
	CMPQ(lo, hi)
	JLE(LabelRef("flags"))

	Label("words")
	ind, to, k := Arg("Ind"), GP64(), GP64()
	MOVQ(used, to)
	has = Arg("Has")
	XORQ(k, k)
	Label("word")
	w, bits := GP64(), GP64()
	MOVQ(Mem{Base: list, Index: k, Scale: 8}, w)
	at = Mem{Base: has, Index: w, Scale: 8}
	MOVQ(at, bits)
	MOVQ(I32(0), at)
	SHLQ(U8(6), w)
	take("bit", bits, w, func(j GPVirtual, n int) {
		m := Mem{Base: ind, Index: to, Scale: uint8(l.Bytes()), Disp: n * l.Bytes()}
		if l.Bytes() == 8 {
			MOVQ(j, m)
		} else {
			MOVL(j.As32(), m)
		}
	}, to)
	INCQ(k)
	CMPQ(k, listed)
	JLT(LabelRef("word"))

	if values {
		c, q := Arg("C"), GP64()
		sums, zero, y := Arg("Sums"), XMM(), XMM()
		VXORPD(zero, zero, zero)
		MOVQ(used, q)
		Label("value")
		j := l.loadIndex(ind, q, 0)
		l.MovOne(l.at(sums, j), y)
		l.MovOne(zero, l.at(sums, j))
		l.MovOne(y, l.at(c, q))
		INCQ(q)
		CMPQ(q, to)
		JLT(LabelRef("value"))
	}
	MOVQ(to, used)
	Label("counted")
	ends, e, u := Arg("Ends"), GP64(), GP64()
	MOVQ(l.row, e)
	MOVQ(used, u)
	m := Mem{Base: ends, Index: e, Scale: uint8(l.Bytes())}
	if l.Bytes() == 8 {
		MOVQ(u, m)
	} else {
		MOVL(u.As32(), m)
	}
	INCQ(l.row)
	JMP(LabelRef("row"))
	Label("leave")
	done := GP64()
	MOVQ(l.row, done)
	SUBQ(ArgAddr("lo"), done)
	Store(done, ReturnIndex(0))
	VZEROUPPER()
}

// rowsAhead is how many entries of A ahead rows of B are fetched.
const rowsAhead = 16

// prefetchRow asks for the row of B of an entry of A after entry n, if there is one.
func (l loop) prefetchRow(n Register, values bool) {
	none, next := LabelRef("fetched"), GP64()
	LEAQ(Mem{Base: n, Disp: rowsAhead}, next)
	CMPQ(next, ArgAddr("len(AInd)"))
	JGE(none)
	r := l.loadIndex(Arg("AInd"), next, 0)
	CMPQ(r, ArgAddr("len(BPtr)"))
	JAE(none)
	q := l.loadIndex(Arg("BPtr"), r, 0)
	PREFETCHT0(Mem{Base: Arg("BInd"), Index: q, Scale: uint8(l.Bytes())})
	if values {
		row := l.at(Arg("B"), q)
		PREFETCHT0(row)
		row.Disp = 64
		PREFETCHT0(row)
	}
	Label("fetched")
}

// take does f for base plus the number of each bit of set, in order, and adds their count to count. It clears set.
// It takes four bits without a branch, and then four more without one: what exceeds the count is of no use.
func take(name string, set, base Register, f func(at GPVirtual, n int), count Register) {
	bits, at := GP64(), GP64()
	POPCNTQ(set, bits)
	for n := range 8 {
		if n == 4 {
			TESTQ(set, set)
			JE(LabelRef(name + "done"))
		}
		TZCNTQ(set, at)
		ADDQ(base, at)
		f(at, n)
		BLSRQ(set, set)
	}
	TESTQ(set, set)
	JE(LabelRef(name + "done"))
	from := GP64()
	MOVQ(count, from)
	Label(name + "more")
	TZCNTQ(set, at)
	ADDQ(base, at)
	f(at, 8)
	INCQ(count)
	BLSRQ(set, set)
	JNE(LabelRef(name + "more"))
	MOVQ(from, count)
	Label(name + "done")
	ADDQ(bits, count)
}
