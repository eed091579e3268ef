package asm

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var testPlace = regexp.MustCompile(`(\d*)\((?:R~(\d)|RSP)\)`)

// execute returns what each 16 bytes of memory hold after the instructions, of which a loop takes two turns.
// An instruction computes a hash of itself and of what it reads.
func execute(ops []armOp) map[int]uint64 {
	hash := func(x ...any) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, x...)
		return h.Sum64()
	}
	regs, mem, flags := map[int]uint64{}, map[int]uint64{}, uint64(0)
	bases := map[string]uint64{"MOVD x+0(FP), R~0": 0, "MOVD y+8(FP), R~0": 48, "MOVD $constants<>(SB), R~0": 1 << 20}
	turns := 0
	for i := 0; i < len(ops); i++ {
		o := ops[i]
		var in []uint64
		for _, u := range o.uses {
			in = append(in, regs[u])
		}
		place := testPlace.FindStringSubmatch(o.text)
		base, isBase := bases[o.text]
		switch {
		case o.target != "":
			if turns++; turns < 2 {
				i = slices.IndexFunc(ops, func(l armOp) bool { return l.label == o.target })
			}
		case o.label != "" || o.ends:
		case isBase:
			regs[o.defs[0]] = base
		case place != nil:
			at, _ := strconv.Atoi(place[1])
			if place[2] == "" {
				at += 1 << 30
			} else {
				r, _ := strconv.Atoi(place[2])
				at += int(regs[slices.Concat(o.defs, o.uses)[r]])
			}
			for k, d := range o.defs {
				v, ok := mem[at+16*k]
				if !ok {
					v = hash(at + 16*k)
				}
				regs[d] = v
			}
			if len(o.defs) == 0 {
				if place[2] != "" {
					in = in[:len(in)-1]
				}
				for k, v := range in {
					mem[at+16*k] = v
				}
			}
		case o.copy:
			regs[o.defs[0]] = in[0]
		case strings.HasPrefix(o.text, "ADD $16"):
			regs[o.defs[0]] = in[0] + 16
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

// colored returns the instructions of p with the registers of the machine, and whether there are enough.
func colored(p *program) ([]armOp, bool) {
	for !p.color() {
		if p.failed {
			return nil, false
		}
	}
	ops := slices.Clone(p.ops)
	for i := range ops {
		for _, list := range []*[]int{&ops[i].defs, &ops[i].uses} {
			*list = slices.Clone(*list)
			for k, v := range *list {
				(*list)[k] = p.colors[v]
				if !p.vector[v] {
					(*list)[k] += 32
				}
			}
		}
	}
	return ops, true
}

// TestOrder checks that blocks in another order, of chains that share memory, constants and flags, leave the
// same in memory, and that they do so with the registers of the machine.
func TestOrder(t *testing.T) {
	ordered, allotted := 0, 0
	for seed := range uint64(150) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tr := &translation{}
		x, y, constants := tr.r(), tr.r(), tr.r()
		tr.text("MOVD x+0(FP), R~0", []int{x}, nil)
		tr.text("MOVD y+8(FP), R~0", []int{y}, nil)
		tr.text("MOVD $constants<>(SB), R~0", []int{constants}, nil)
		bases := []int{x, y}[:1+seed%2]
		base := func() int { return bases[rnd.IntN(len(bases))] }
		at := func() string { return strconv.Itoa(16 * rnd.IntN(6)) }
		var chains [2][]int
		var general, after []int
		for c := range chains {
			for range 3 {
				v := tr.v()
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{base()})
				chains[c] = append(chains[c], v)
			}
		}
		tr.label("loop")
		for range 160 {
			c := rnd.IntN(len(chains))
			some := func() int { return chains[c][rnd.IntN(len(chains[c]))] }
			v := tr.v()
			keep := func(v int) { chains[c] = append(chains[c], v) }
			switch kind := rnd.IntN(32); kind {
			case 0, 1, 2:
				tr.word("FADD", 8, some(), some(), some())
			case 3, 4, 5:
				k := tr.v()
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{k}, []int{constants})
				tr.word("FMUL", 8, v, k, some())
				tr.word("FSUB", 8, some(), v, k)
			case 6, 7:
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{constants})
				tr.word("FMLA", 8, v, v, some(), some())
				keep(v)
			case 8:
				d := some()
				tr.word("FMLA", 8, d, d, some(), some())
			case 9, 10:
				tr.mov(v, some())
				tr.word("FMLS", 8, v, v, some(), some())
				keep(v)
			case 11, 12:
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{base()})
				tr.word("FADD", 8, some(), v, some())
			case 13:
				tr.text("FMOVQ F~0, "+at()+"(R~1)", nil, []int{some(), base()})
			case 14, 15:
				w := tr.v()
				tr.text("FLDPQ "+at()+"(R~2), (F~0, F~1)", []int{v, w}, []int{base()})
				tr.word("FADD", 8, some(), v, w)
			case 16, 17:
				tr.text("FSTPQ (F~0, F~1), "+at()+"(R~2)", nil, []int{some(), some(), base()})
			case 18, 19:
				w := tr.v()
				tr.word("FADD", 8, v, some(), some())
				tr.word("FMLA", 8, v, v, some(), some())
				tr.mov(w, v)
				keep(w)
			case 20, 21, 22, 23: // a copy whose target is read or changed between
				w := some()
				tr.word("FADD", 8, v, some(), some())
				if kind < 22 {
					d := tr.v()
					tr.word("FMUL", 8, d, w, some())
					keep(d)
				} else {
					tr.word("FMLA", 8, w, w, some(), some())
					tr.text("FMOVQ F~0, "+at()+"(R~1)", nil, []int{w, base()})
				}
				tr.mov(w, v)
			case 24:
				a := tr.toGeneral(8, some(), 0)
				tr.text("CMP R~1, R~0", nil, []int{a, a})
				b := tr.r()
				tr.text("CSEL EQ, R~1, R~2, R~0", []int{b}, []int{x, y})
				general = append(general, b)
			case 25: // a constant that is read after the loop
				tr.text("FMOVQ "+at()+"(R~1), F~0", []int{v}, []int{constants})
				tr.word("FADD", 8, some(), v, some())
				after = append(after, v)
			case 26:
				if seed%3 == 0 {
					b := base()
					tr.text("ADD $16, R~1, R~0", []int{b}, []int{b})
				}
			case 27, 28:
				if seed%5 == 0 {
					tr.text(fmt.Sprintf("FMOVQ F~0, %d(RSP)", 16+16*rnd.IntN(2)), nil, []int{some()})
				}
			case 29, 30, 31:
				if seed%5 == 0 {
					tr.text(fmt.Sprintf("FMOVQ %d(RSP), F~0", 16+16*rnd.IntN(2)), []int{v}, nil)
					tr.word("FADD", 8, some(), v, some())
					keep(v)
				}
			}
		}
		tr.jump("BLT", "loop")
		for i, v := range slices.Concat(chains[0], chains[1], after) {
			tr.text(fmt.Sprintf("FMOVQ F~0, %d(R~1)", 1024+16*i), nil, []int{v, x})
		}
		for i, r := range general {
			tr.text(fmt.Sprintf("MOVD R~0, %d(R~1)", 8192+16*i), nil, []int{r, y})
		}
		tr.ops = append(tr.ops, armOp{text: "RET", ends: true})
		p := &program{ops: tr.ops, vector: tr.vector, frame: 32}
		p.split()
		want := execute(p.ops)
		check := func(got map[int]uint64, length int, with string) {
			t.Helper()
			maps.DeleteFunc(got, func(at int, _ uint64) bool { return at >= 1<<30+stackAt+p.frame }) // spilled
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d, length %d: other memory with %s registers", seed, length, with)
			}
		}
		for _, length := range []int{4, 16} {
			q := p.clone()
			q.joinCopies()
			check(execute(q.ops), 0, "virtual")
			if q.order(length) {
				ordered++
			}
			check(execute(q.ops), length, "virtual")
			if seed%50 == 0 {
				if ops, ok := colored(q); ok {
					allotted++
					check(execute(ops), length, "real")
				}
			}
		}
	}
	if ordered < 150 {
		t.Errorf("only %d blocks have another order", ordered)
	}
	if allotted < 4 {
		t.Errorf("only %d blocks have registers of the machine", allotted)
	}
}
