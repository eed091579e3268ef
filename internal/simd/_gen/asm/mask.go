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
	K OpmaskVirtual
	p GPVirtual  // where the vector lies
	Y VecVirtual // or the vector, if it is held
}

// ones is 32 bytes of ones and then 32 of zeros.
var ones = sync.OnceValue(func() Mem {
	m := GLOBL("ones", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		DATA(8*i, U64(^uint64(0)*uint64(1-i/4)))
	}
	return m
})

// NewMask makes the mask of the first n lanes; n is destroyed.
func (g ISA) NewMask(n GPVirtual) *Mask {
	if g.Wide {
		k := K()
		SetFirst(n, k)
		return &Mask{K: k}
	}
	p := GP64()
	LEAQ(ones().Offset(32), p)
	g.ToBytes(n)
	SUBQ(n, p)
	return &Mask{p: p}
}

// SetFirst makes k the opmask of the first n lanes.
func SetFirst(n, k Register) {
	bits := GP64()
	MOVQ(I32(-1), bits)
	SHLXQ(n, bits, bits)
	NOTQ(bits)
	KMOVW(bits.As32(), k)
}

// HeldMask is NewMask with the vector of AVX2 in a register.
func (g ISA) HeldMask(n GPVirtual) *Mask {
	k := g.NewMask(n)
	if !g.Wide {
		k.Y = YMM()
		if g.Narrow {
			k.Y = XMM()
		}
		VMOVUPS(Mem{Base: k.p}, k.Y)
	}
	return k
}

// vector returns the vector of AVX2, in tmp if it is not held.
func (k *Mask) vector(g ISA, tmp VecVirtual) VecVirtual {
	if k.Y != nil {
		return k.Y
	}
	g.Mov(Mem{Base: k.p}, tmp)
	return tmp
}

// Load returns the elements at m that the mask selects, and zeros elsewhere.
func (g ISA) Load(m Mem, k *Mask) VecVirtual {
	r := g.Reg()
	g.LoadTo(m, k, r)
	return r
}

// LoadTo is Load to a register at hand.
func (g ISA) LoadTo(m Mem, k *Mask, r VecVirtual) {
	switch {
	case g.Narrow && k == nil:
		VCVTPS2PD(m, r)
	case g.Narrow && g.Wide:
		VCVTPS2PD_Z(m, k.K, r)
	case g.Narrow:
		VMASKMOVPS(m, k.Y, r.AsX())
		VCVTPS2PD(r.AsX(), r)
	case k == nil:
		g.Mov(m, r)
	case g.Wide:
		Pick(g, VMOVUPD_Z, VMOVUPS_Z)(m, k.K, r)
	default:
		Pick(g, VMASKMOVPD, VMASKMOVPS)(m, k.vector(g, r), r)
	}
}

// Store stores the elements of r that the mask selects. If g is Narrow, it destroys r.
func (g ISA) Store(r VecVirtual, m Mem, k *Mask) {
	if g.Narrow {
		if g.Wide {
			VCVTPD2PS(r, g.half(r))
		} else {
			VCVTPD2PSY(r, g.half(r))
		}
		r = g.half(r)
	}
	switch stored := (ISA{Wide: g.Wide, Size: g.Stored()}); {
	case k == nil:
		g.Mov(r, m)
	case g.Wide:
		Pick(stored, VMOVUPD, VMOVUPS)(r, k.K, m)
	default:
		Pick(stored, VMASKMOVPD, VMASKMOVPS)(r, k.vector(g, g.Reg()), m)
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
