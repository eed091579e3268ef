package asm

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// execute returns what memory holds after the instructions, one after another. An instruction computes a
// hash of itself and of what it reads.
func execute(ops []armOp) map[uint64]uint64 {
	hash := func(x ...any) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, x...)
		return h.Sum64()
	}
	regs, mem, flags := map[int]uint64{}, map[uint64]uint64{}, uint64(0)
	bases := map[string]uint64{"MOVD x+0(FP), R~0": 0, "MOVD y+8(FP), R~0": 48, "MOVD $constants<>(SB), R~0": 1 << 20}
	for _, o := range ops {
		var in []uint64
		for _, u := range o.uses {
			in = append(in, regs[u])
		}
		m := memoryOf(o)
		base, isBase := bases[o.text]
		switch {
		case o.label != "" || o.target != "" || o.ends:
		case isBase:
			regs[o.defs[0]] = base
		case m.kind == 's':
			mem[regs[m.base]+uint64(m.at)] = in[0]
		case m.kind == 'l':
			at := regs[m.base] + uint64(m.at)
			v, ok := mem[at]
			if !ok {
				v = hash(at)
			}
			regs[o.defs[0]] = v
		case o.copy:
			regs[o.defs[0]] = in[0]
		case strings.HasPrefix(o.text, "CMP"):
			flags = hash(in)
		case strings.HasPrefix(o.text, "CSEL"):
			regs[o.defs[0]] = hash(flags, in)
		default:
			regs[o.defs[0]] = hash(o.text, in)
		}
	}
	return mem
}

// TestOrder checks that blocks in another order, of chains that share memory, constants and flags, leave the
// same in memory.
func TestOrder(t *testing.T) {
	ordered := 0
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tr := &translation{}
		x, y, constants := tr.r(), tr.r(), tr.r()
		tr.text("MOVD x+0(FP), R~0", []int{x}, nil)
		tr.text("MOVD y+8(FP), R~0", []int{y}, nil)
		tr.text("MOVD $constants<>(SB), R~0", []int{constants}, nil)
		tr.label("loop")
		at := func() string { return fmt.Sprintf("%d", 16*rnd.IntN(6)) }
		var chains [2][]int
		var general []int
		for c := range chains {
			for range 2 {
				v := tr.v()
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{[]int{x, y}[rnd.IntN(2)]})
				chains[c] = append(chains[c], v)
			}
		}
		for range 160 {
			c := rnd.IntN(len(chains))
			some := func() int { return chains[c][rnd.IntN(len(chains[c]))] }
			v := tr.v()
			switch rnd.IntN(9) {
			case 0:
				tr.word("FADD", 8, some(), some(), some())
			case 1:
				k := tr.v()
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{k}, []int{constants})
				tr.word("FMUL", 8, v, k, some())
				tr.word("FSUB", 8, some(), v, k)
			case 2:
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{constants})
				tr.word("FMLA", 8, v, v, some(), some())
				chains[c] = append(chains[c], v)
			case 3:
				d := some()
				tr.word("FMLA", 8, d, d, some(), some())
			case 4:
				tr.mov(v, some())
				tr.word("FMLS", 8, v, v, some(), some())
				chains[c] = append(chains[c], v)
			case 5:
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{[]int{x, y}[rnd.IntN(2)]})
				tr.word("FADD", 8, some(), v, some())
			case 6:
				tr.text("FMOVQ F~0, "+at()+"(R~1)", nil, []int{some(), []int{x, y}[rnd.IntN(2)]})
			case 7:
				w := tr.v()
				tr.word("FADD", 8, v, some(), some())
				tr.word("FMLA", 8, v, v, some(), some())
				tr.mov(w, v)
				chains[c] = append(chains[c], w)
			case 8:
				a := tr.toGeneral(8, some(), 0)
				tr.text("CMP R~1, R~0", nil, []int{a, a})
				b := tr.r()
				tr.text("CSEL EQ, R~1, R~2, R~0", []int{b}, []int{x, y})
				general = append(general, b)
			}
		}
		tr.jump("BLT", "loop")
		for i, v := range slices.Concat(chains[0], chains[1]) {
			tr.text(fmt.Sprintf("FMOVQ F~0, %d(R~1)", 1000+16*i), nil, []int{v, x})
		}
		for i, r := range general {
			tr.text(fmt.Sprintf("MOVD R~0, %d(R~1)", 9000+16*i), nil, []int{r, y})
		}
		tr.ops = append(tr.ops, armOp{text: "RET", ends: true})
		p := &program{ops: tr.ops, vector: tr.vector}
		p.split()
		want := execute(p.ops)
		for _, length := range []int{4, 16} {
			q := p.clone()
			q.joinCopies()
			if q.order(length) {
				ordered++
			}
			got := execute(q.ops)
			if len(got) != len(want) {
				t.Fatalf("seed %d: %d places of memory, want %d", seed, len(got), len(want))
			}
			for a, v := range want {
				if got[a] != v {
					t.Fatalf("seed %d, length %d: other memory at %d", seed, length, a)
				}
			}
		}
	}
	if ordered < 100 {
		t.Errorf("only %d blocks have another order", ordered)
	}
}
