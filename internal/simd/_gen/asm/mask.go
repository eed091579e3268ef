package asm

import (
	"sync"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A Mask selects the first lanes of a register: an opmask on AVX-512, a vector
// of ones and zeros on AVX2. A nil Mask selects all.
type Mask struct {
	k OpmaskVirtual
	p GPVirtual  // where the vector lies
	y VecVirtual // or the vector, if it is held
}

// Prefix begins the names of the tables of masks.
var Prefix string

// ones is 32 bytes of ones and then 32 of zeros.
var ones = sync.OnceValue(func() Mem { return Ones(Prefix + "Ones") })

// opmasks holds the opmasks of the first 0, 1, ..., 16 lanes.
var opmasks = sync.OnceValue(func() Mem {
	m := GLOBL(Prefix+"Opmasks", attr.RODATA|attr.NOPTR)
	for i := range 17 {
		DATA(2*i, U16(1<<i-1))
	}
	return m
})

// Ones emits a table of 32 bytes of ones and then 32 of zeros.
func Ones(name string) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/4)))
	}
	return m
}

// NewMask makes the mask of the first n lanes; n is destroyed.
func (g ISA) NewMask(n GPVirtual) *Mask {
	p := GP64()
	if g.Wide {
		LEAQ(opmasks(), p)
		k := K()
		KMOVW(Mem{Base: p, Index: n, Scale: 2}, k)
		return &Mask{k: k}
	}
	LEAQ(ones().Offset(32), p)
	g.ToBytes(n)
	SUBQ(n, p)
	return &Mask{p: p}
}

// Hold puts the mask into a register, where AVX2 has one to spare.
func (k *Mask) Hold() {
	if k.p != nil {
		k.y = YMM()
		VMOVUPD(Mem{Base: k.p}, k.y)
	}
}

// vector returns the vector of AVX2, in tmp if it is not held.
func (k *Mask) vector(g ISA, tmp VecVirtual) VecVirtual {
	if k.y != nil {
		return k.y
	}
	g.Mov(Mem{Base: k.p}, tmp)
	return tmp
}

// Load returns what the mask selects at m, and zeros.
func (g ISA) Load(m Mem, k *Mask) VecVirtual {
	r := g.Reg()
	switch {
	case k == nil:
		g.Mov(m, r)
	case g.Wide:
		Pick(g, VMOVUPD_Z, VMOVUPS_Z)(m, k.k, r)
	default:
		Pick(g, VMASKMOVPD, VMASKMOVPS)(m, k.vector(g, r), r)
	}
	return r
}

// Store stores what the mask selects of r.
func (g ISA) Store(r VecVirtual, m Mem, k *Mask) {
	switch {
	case k == nil:
		g.Mov(r, m)
	case g.Wide:
		Pick(g, VMOVUPD, VMOVUPS)(r, k.k, m)
	default:
		Pick(g, VMASKMOVPD, VMASKMOVPS)(r, k.vector(g, g.Reg()), m)
	}
}

// LoadRow loads n vectors from p on, the last of them under the mask.
func (g ISA) LoadRow(p Register, n int, k *Mask) []VecVirtual {
	r := make([]VecVirtual, n)
	for j := range r {
		r[j] = g.Load(Mem{Base: p, Disp: j * g.Width()}, k.LastOf(j, n))
	}
	return r
}

// LastOf returns the mask of vector j of n, of which the last is under k.
func (k *Mask) LastOf(j, n int) *Mask {
	if j == n-1 {
		return k
	}
	return nil
}

// FirstLanes makes k the opmask of the first n lanes.
func FirstLanes(n, k Register) {
	bits := GP64()
	MOVQ(I32(-1), bits)
	SHLXQ(n, bits, bits)
	NOTQ(bits)
	KMOVW(bits.As32(), k)
}
