// Package asm is what the generators of vector code share over avo: a tier with
// a type of elements, masks, the rows of a matrix, and tables of constants.
// Operands of instructions are in Go's order: sources from last to first, then
// the destination.
package asm

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// An ISA is a tier with a type of elements.
type ISA struct {
	Wide bool // AVX-512, else AVX2
	Size int  // bytes of an element
}

// Tiers are AVX2 and AVX-512, each with float64 and with float32.
var Tiers = []ISA{{false, 8}, {false, 4}, {true, 8}, {true, 4}}

// Width returns the bytes of a register.
func (g ISA) Width() int {
	if g.Wide {
		return 64
	}
	return 32
}

// Lanes returns the elements of a register.
func (g ISA) Lanes() int { return g.Width() / g.Size }

// Double reports whether elements are float64.
func (g ISA) Double() bool { return g.Size == 8 }

// Elem returns the name of the type of elements.
func (g ISA) Elem() string { return fmt.Sprint("float", 8*g.Size) }

// Tier returns AVX2 or AVX512.
func (g ISA) Tier() string {
	if g.Wide {
		return "AVX512"
	}
	return "AVX2"
}

// Name returns the tier and the type, as AVX2F64.
func (g ISA) Name() string { return fmt.Sprint(g.Tier(), "F", 8*g.Size) }

// Pick returns what is right for the type of elements.
func Pick[F any](g interface{ Double() bool }, f64, f32 F) F {
	if g.Double() {
		return f64
	}
	return f32
}

// Text begins the variant of a function for the tier and type of elements.
func (g ISA) Text(name, sig, doc string) {
	Func(name, Variant{Tier: g.Tier(), Size: g.Size}, sig, doc)
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

func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// ToBytes makes a number of elements one of bytes.
func (g ISA) ToBytes(n Register) { SHLQ(Pick(g, U8(3), U8(2)), n) }

// Stride returns a register with an argument, a number of elements, in bytes.
func (g ISA) Stride(name string) GPVirtual {
	r := Arg(name)
	g.ToBytes(r)
	return r
}

// --- Registers -------------------------------------------------------------

// Reg returns a new register.
func (g ISA) Reg() VecVirtual {
	if g.Wide {
		return ZMM()
	}
	return YMM()
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
		if !g.Wide {
			VXORPD(r, r, r)
			continue
		}
		i, err := x86.VPXORQ(r, r, r)
		if err != nil {
			panic(err)
		}
		i.CancellingInputs = true // avo knows it of VEX only; without, r would be live before
		Instruction(i)
	}
	return r
}

// Broadcast returns a register with the element at m in all lanes.
func (g ISA) Broadcast(m Op) VecVirtual {
	r := g.Reg()
	g.BroadcastTo(m, r)
	return r
}

func (g ISA) BroadcastTo(m, r Op) { Pick(g, VBROADCASTSD, VBROADCASTSS)(m, r) }

func (g ISA) Mov(a, dst Op)          { Pick(g, VMOVUPD, VMOVUPS)(a, dst) }
func (g ISA) Add(b, a, dst Op)       { Pick(g, VADDPD, VADDPS)(b, a, dst) }             // dst = a + b
func (g ISA) Sub(b, a, dst Op)       { Pick(g, VSUBPD, VSUBPS)(b, a, dst) }             // dst = a - b
func (g ISA) Mul(b, a, dst Op)       { Pick(g, VMULPD, VMULPS)(b, a, dst) }             // dst = a·b
func (g ISA) Fmadd231(b, a, dst Op)  { Pick(g, VFMADD231PD, VFMADD231PS)(b, a, dst) }   // dst += a·b
func (g ISA) Fnmadd231(b, a, dst Op) { Pick(g, VFNMADD231PD, VFNMADD231PS)(b, a, dst) } // dst -= a·b
func (g ISA) Fmadd213(b, a, dst Op)  { Pick(g, VFMADD213PD, VFMADD213PS)(b, a, dst) }   // dst = dst·a + b

// Reduce leaves in lane 0 of r what op makes of all lanes.
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
