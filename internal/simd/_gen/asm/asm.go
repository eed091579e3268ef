// Package asm holds what the generators of vector code share, over avo: a tier with
// a type of elements, masks, loops, the rows of a matrix, exponentials, and constants.
// Operands of instructions are in Go's order: sources from last to first, then
// the destination.
//
// The generator of a package is the command in its folder _gen. It is in no module of its
// own: go.work gives it this one, which alone requires avo.
package asm

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// An ISA is a tier with a type of elements.
type ISA struct {
	Wide   bool // AVX-512, else AVX2
	Size   int  // bytes of an element in a register
	Narrow bool // memory holds float32, and registers float64
	NEON   bool // AVX2 code that only the NEON tier gets
	Half   bool // instructions of AVX-512 on half a register, which need AVX-512VL
}

// Width returns the bytes of a register.
func (g ISA) Width() int {
	if g.Wide && !g.Half {
		return 64
	}
	return 32
}

// Lanes returns the elements of a register.
func (g ISA) Lanes() int { return g.Width() / g.Size }

// Double reports whether registers hold float64.
func (g ISA) Double() bool { return g.Size == 8 }

// Stored returns the bytes of an element in memory.
func (g ISA) Stored() int {
	if g.Narrow {
		return 4
	}
	return g.Size
}

// Tier returns AVX2 or AVX512.
func (g ISA) Tier() string {
	switch {
	case g.Wide:
		return "AVX512"
	case g.NEON:
		return "NEON"
	}
	return "AVX2"
}

// unlike reports whether a function asked for something of its own for NEON.
var unlike bool

// Unroll returns how many vectors a turn of a loop takes: wide for AVX-512, or narrow, or neon.
func (g ISA) Unroll(wide, narrow, neon int) int {
	unlike = unlike || neon != narrow
	switch {
	case g.Wide:
		return wide
	case g.NEON:
		return neon
	}
	return narrow
}

// Pick returns f64 or f32, for the type of elements.
func Pick[F any](g interface{ Double() bool }, f64, f32 F) F {
	if g.Double() {
		return f64
	}
	return f32
}

var labels int

// Unique returns name with a number that no other label has.
func Unique(name string) string {
	labels++
	return fmt.Sprint(name, labels)
}

// --- Arguments -------------------------------------------------------------

// Arg returns a register with an argument.
func Arg(name string) GPVirtual {
	r := GP64()
	if f, ok := fields[name]; ok {
		MOVQ(f.in(), r)
		return r
	}
	return Load(Param(name), r).(GPVirtual)
}

// ArgAddr returns where an argument lies. One in a struct is kept.
func ArgAddr(name string) Mem {
	if f, ok := fields[name]; ok {
		if f.local == nil {
			panic(name + " is not kept")
		}
		return *f.local
	}
	return address(Param(name))
}

// Result returns where the result lies.
func Result() Mem { return address(ReturnIndex(0)) }

// ArgParts returns where the parts of a complex argument lie.
func ArgParts(name string) (re, im Mem) { return parts(Param(name)) }

// ResultParts returns where the parts of a complex result lie.
func ResultParts() (re, im Mem) { return parts(ReturnIndex(0)) }

func parts(c gotypes.Component) (re, im Mem) { return address(c.Real()), address(c.Imag()) }

func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// ToBytes turns a number of elements in memory into bytes.
func (g ISA) ToBytes(n Op) { SHLQ(U8(bits.TrailingZeros(uint(g.Stored()))), n) }

// Stride returns a register with an argument, a number of elements, in bytes.
func (g ISA) Stride(name string) GPVirtual {
	r := Arg(name)
	g.ToBytes(r)
	return r
}

// --- Registers -------------------------------------------------------------

// Reg returns a new register.
func (g ISA) Reg() VecVirtual {
	if g.Wide && !g.Half {
		return ZMM()
	}
	return YMM()
}

// Four returns a new register for four elements.
func (g ISA) Four() VecVirtual {
	if g.Double() {
		return YMM()
	}
	return XMM()
}

// Regs returns n new registers.
func (g ISA) Regs(n int) []VecVirtual {
	r := make([]VecVirtual, n)
	for i := range r {
		r[i] = g.Reg()
	}
	return r
}

// Zeros returns n registers of zeros.
func (g ISA) Zeros(n int) []VecVirtual {
	r := g.Regs(n)
	for _, r := range r {
		g.Clear(r)
	}
	return r
}

// Clear makes r zero.
func (g ISA) Clear(r VecVirtual) {
	if !g.Wide {
		VXORPD(r, r, r)
		return
	}
	i, err := x86.VPXORQ(r, r, r)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true // avo knows it of VEX only; without, r would be live before
	Instruction(i)
}

// Broadcast returns a register with the element at m in all lanes.
func (g ISA) Broadcast(m Op) VecVirtual {
	r := g.Reg()
	g.BroadcastTo(m, r)
	return r
}

// BroadcastTo broadcasts the element at m to all lanes of r.
func (g ISA) BroadcastTo(m, r Op) { Pick(g, VBROADCASTSD, VBROADCASTSS)(m, r) }

// BroadcastArg returns a register with an argument, a number in memory, in all lanes.
func (g ISA) BroadcastArg(name string) VecVirtual {
	if !g.Narrow {
		return g.Broadcast(ArgAddr(name))
	}
	r := g.Reg()
	VBROADCASTSS(ArgAddr(name), r)
	VCVTPS2PD(g.half(r), r)
	return r
}

// half returns the lower half of r.
func (g ISA) half(r VecVirtual) VecVirtual {
	if g.Wide {
		return r.AsY().(VecVirtual)
	}
	return r.AsX().(VecVirtual)
}

// CopyOf returns a register that holds x.
func (g ISA) CopyOf(x Op) VecVirtual {
	r := g.Reg()
	g.Mov(x, r)
	return r
}

// Mov copies a register or memory.
func (g ISA) Mov(a, dst Op) { VMOVUPS(a, dst) }

// Add emits dst = a + b.
func (g ISA) Add(b, a, dst Op) { Pick(g, VADDPD, VADDPS)(b, a, dst) }

// Sub emits dst = a - b.
func (g ISA) Sub(b, a, dst Op) { Pick(g, VSUBPD, VSUBPS)(b, a, dst) }

// Mul emits dst = a·b.
func (g ISA) Mul(b, a, dst Op) { Pick(g, VMULPD, VMULPS)(b, a, dst) }

// Div emits dst = a/b.
func (g ISA) Div(b, a, dst Op) { Pick(g, VDIVPD, VDIVPS)(b, a, dst) }

// Fmadd231 emits dst += a·b.
func (g ISA) Fmadd231(b, a, dst Op) { Pick(g, VFMADD231PD, VFMADD231PS)(b, a, dst) }

// Fnmadd231 emits dst -= a·b.
func (g ISA) Fnmadd231(b, a, dst Op) { Pick(g, VFNMADD231PD, VFNMADD231PS)(b, a, dst) }

// Fmadd213 emits dst = dst·a + b.
func (g ISA) Fmadd213(b, a, dst Op) { Pick(g, VFMADD213PD, VFMADD213PS)(b, a, dst) }

// MovOne copies lane 0.
func (g ISA) MovOne(a, dst Op) { Pick(g, VMOVSD, VMOVSS)(a, dst) }

// AddOne emits dst = a + b in lane 0.
func (g ISA) AddOne(b, a, dst Op) { Pick(g, VADDSD, VADDSS)(b, a, dst) }

// MulOne emits dst = a·b in lane 0.
func (g ISA) MulOne(b, a, dst Op) { Pick(g, VMULSD, VMULSS)(b, a, dst) }

// ReturnSum returns the sum of the lanes of r. (avo's Store would take MOVSD, which does not
// reach the upper half of the registers.)
func (g ISA) ReturnSum(r VecVirtual) {
	g.Reduce(r, g.Add)
	g.MovOne(r.AsX(), Result())
}

// Reduce combines all lanes of r by op, and leaves the result in lane 0.
func (g ISA) Reduce(r VecVirtual, op func(b, a, dst Op)) {
	half := g.Reg()
	if g.Wide {
		VEXTRACTF64X4(Imm(1), r, half.AsY())
		op(half, r, r)
		VEXTRACTF64X2(Imm(1), r.AsY(), half.AsX())
	} else {
		VEXTRACTF128(Imm(1), r, half.AsX())
	}
	op(half, r, r)
	VPERMILPD(Imm(1), r.AsX(), half.AsX())
	op(half, r, r)
	if !g.Double() {
		VMOVSHDUP(r.AsX(), half.AsX())
		op(half, r, r)
	}
}
