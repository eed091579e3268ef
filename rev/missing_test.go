package rev_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"revnum/internal/long"
	"revnum/rev"
)

// sq is the kernel r += x·x.
type sq struct {
	R []float64 `rev:"acc" shape:"1"`
	X []float64 `rev:"in" shape:"n"`
}

func (k sq) Run(p rev.Pass[sq]) error {
	sign := float64(p.Sign())
	for i, x := range k.X {
		put(k.R, 0, float64(sign*x*x))
		put(p.T.R, 0, float64(sign*2*x*get(p.T.X, i)))
		put(p.G.X, i, float64(2*x*get(p.G.R, 0)))
		put(p.GT.X, i, float64(2*x*get(p.GT.R, 0))+float64(2*get(p.T.X, i)*get(p.G.R, 0)))
	}
	return nil
}

// lin is the kernel y += a·x, of a number a.
type lin struct {
	Y []float64 `rev:"acc" shape:"n"`
	A []float64 `rev:"in" shape:"1"`
	X []float64 `rev:"in" shape:"n"`
}

func (k lin) Run(p rev.Pass[lin]) error {
	sign := float64(p.Sign())
	for i, x := range k.X {
		put(k.Y, i, float64(sign*k.A[0]*x))
		put(p.T.Y, i, float64(sign*(float64(get(p.T.A, 0)*x)+float64(k.A[0]*get(p.T.X, i)))))
		put(p.G.X, i, float64(k.A[0]*get(p.G.Y, i)))
		put(p.G.A, 0, float64(x*get(p.G.Y, i)))
		put(p.GT.X, i, float64(k.A[0]*get(p.GT.Y, i))+float64(get(p.T.A, 0)*get(p.G.Y, i)))
		put(p.GT.A, 0, float64(x*get(p.GT.Y, i))+float64(get(p.T.X, i)*get(p.G.Y, i)))
	}
	return nil
}

// get returns element i of derivatives, zero if they are not there.
func get(x []float64, i int) float64 {
	if x == nil {
		return 0
	}
	return x[i]
}

// put adds v to element i of derivatives, if they are there.
func put(x []float64, i int, v float64) {
	if x != nil {
		x[i] += v
	}
}

// chain is a state of y <- a·x, z <- b·y, r <- z·z.
type chain struct{ a, b, x, y, z, r []float64 }

func linYX(s *chain) lin { return lin{s.y, s.a, s.x} }
func linZY(s *chain) lin { return lin{s.z, s.b, s.y} }
func sqRZ(s *chain) sq   { return sq{s.r, s.z} }

func newChain() *chain {
	return &chain{[]float64{2}, []float64{3}, []float64{1, -1}, make([]float64, 2), make([]float64, 2), make([]float64, 1)}
}

// drop removes fields from d.
func drop(d *chain, names string) *chain {
	for _, name := range names {
		switch name {
		case 'a':
			d.a = nil
		case 'b':
			d.b = nil
		case 'x':
			d.x = nil
		case 'y':
			d.y = nil
		case 'z':
			d.z = nil
		case 'r':
			d.r = nil
		}
	}
	return d
}

// TestLostCotangents leaves out cotangents of every field. It is an error if a field
// between the result and a wanted gradient has none.
func TestLostCotangents(t *testing.T) {
	prog := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	back := rev.Seq(rev.At(linYX), rev.At(linZY), rev.Uncall(rev.At(sqRZ)))
	undone := rev.Seq(rev.Uncall(rev.At(linYX)), rev.At(linZY), rev.At(sqRZ))
	for _, test := range []struct {
		none string // the fields without a cotangent
		lost string // step and operands of the error, "" if there is none
	}{
		{"", ""},
		{"a", ""}, {"x", ""}, {"ax", ""}, {"abx", ""}, {"b", ""},
		{"y", "Seq[0]: Y read by rev_test.lin as X"},
		{"ya", "Seq[0]: Y read by rev_test.lin as X"},
		{"yx", "Seq[0]: Y read by rev_test.lin as X"},
		{"yax", ""},
		{"z", "Seq[1]: Y read by rev_test.sq as X"},
		{"zy", "Seq[1]: Y read by rev_test.sq as X"},
		{"zyb", "Seq[0]: Y read by rev_test.lin as X"}, // through a step
		{"zyba", "Seq[0]: Y read by rev_test.lin as X"},
		{"zybax", ""},
		{"rzybax", ""},
		{"rz", ""}, // no cotangent comes in, so none is lost
	} {
		for _, p := range []struct {
			name string
			step rev.Step[chain]
		}{{"", prog}, {"Uncall of the last", back}, {"Uncall of the first", undone}} {
			for _, method := range []string{"Adjoint", "AdjointTangent"} {
				s := newChain()
				if err := p.step.Forward(s); err != nil {
					t.Fatal(err)
				}
				g := drop(rev.ZeroLike(s), test.none)
				put(g.r, 0, 1)
				var err error
				state := "g"
				if method == "Adjoint" {
					err = p.step.Adjoint(s, g)
				} else {
					state = "gt"
					err = p.step.AdjointTangent(s, rev.ZeroLike(s), rev.ZeroLike(s), g)
				}
				want := test.lost
				if state == "gt" && test.none == "rz" {
					want = "Seq[1]: Y read by rev_test.sq as X" // from the cotangent of r
				}
				checkLost(t, p.name+" "+method+" without "+test.none, err, want, "has no cotangent of ", "reads", state)
			}
		}
	}
}

// checkLost compares an error with what is wanted in the form of TestLostCotangents.
func checkLost(t *testing.T, name string, err error, want, what, verb, state string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	step, operands, _ := strings.Cut(want, ": ")
	operand, other, _ := strings.Cut(operands, " ")
	fields := strings.Fields(other) // read by K as F
	text := "the state " + state + " " + what + operand + ", which " + fields[2] + " " + verb + " as " + fields[4] + " "
	var e *rev.StepError
	if !errors.As(err, &e) || !strings.HasPrefix(e.Step, step) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error\n%v, want one at %s that contains\n%q", name, err, step, text)
	}
}

func TestLostTangents(t *testing.T) {
	prog := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	for _, test := range []struct{ none, lost string }{
		{"", ""}, {"a", ""}, {"ax", ""}, {"b", ""}, {"r", ""}, {"zr", ""}, {"yzr", ""},
		{"y", "Seq[1]: X written by rev_test.lin as Y"},
		{"z", "Seq[2]: X written by rev_test.lin as Y"},
		{"yz", "Seq[2]: X written by rev_test.lin as Y"},
		{"yzax", "Seq[2]: X written by rev_test.lin as Y"}, // of b
		{"yzaxb", ""},
		{"yax", ""},
	} {
		for _, uncall := range []bool{false, true} {
			p := prog
			if uncall {
				p = rev.Uncall(rev.Seq(rev.At(sqRZ), rev.At(linZY), rev.At(linYX)))
			}
			s := newChain()
			err := p.Tangent(s, drop(rev.ZeroLike(s), test.none))
			want := test.lost
			if uncall && want != "" {
				want = "Uncall.Seq[" + string('2'-(want[4]-'0')) + want[5:]
			}
			checkLost(t, "without "+test.none, err, want, "has no tangent of ", "writes", "t")
		}
	}
}

// TestLostRestores checks the state that a step with lost cotangents leaves.
func TestLostRestores(t *testing.T) {
	prog := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	s := newChain()
	if err := prog.Forward(s); err != nil {
		t.Fatal(err)
	}
	g := drop(rev.ZeroLike(s), "y")
	g.r[0] = 1
	if err := prog.Adjoint(s, g); err == nil {
		t.Fatal("no error")
	}
	if s.r[0] != 72 || s.z[0] != 6 || s.y[0] != 2 || g.z[0] != 0 || g.b[0] != 0 {
		t.Errorf("state %+v, cotangents %+v", s, g)
	}

	s = newChain()
	g = drop(rev.ZeroLike(s), "y")
	_, err := rev.ValueGradient(prog, func(s *chain) *float64 { return &s.r[0] }, s, g)
	checkLost(t, "ValueGradient", err, "Seq[0]: Y read by rev_test.lin as X", "has no cotangent of ", "reads", "g")
	if s.r[0] != 0 || s.z[0] != 0 || s.y[0] != 0 {
		t.Errorf("state %+v", s)
	}
	tt, h := rev.ZeroLike(s), drop(rev.ZeroLike(s), "z")
	_, err = rev.HessianVector(prog, func(s *chain) *float64 { return &s.r[0] }, s, rev.ZeroLike(s), tt, h)
	checkLost(t, "HessianVector", err, "Seq[1]: Y read by rev_test.sq as X", "has no cotangent of ", "reads", "gt")
}

// rows is a state of r <- Σ (h·h) of features h <- w·x of the rows x of the data.
type rows struct {
	i, n    int
	stride  int
	w, x, h []float64
	r       []float64
}

func newRows(n, width, stride int) *rows {
	s := &rows{n: n, stride: stride, w: []float64{2}, x: make([]float64, n*stride), h: make([]float64, n*stride), r: make([]float64, 1)}
	for i := range s.x {
		s.x[i] = float64(i%5) - 2
	}
	return s
}

func (s *rows) row(x []float64, i int) []float64 {
	if x == nil {
		return nil
	}
	return x[i*s.stride : i*s.stride+2]
}

func rowsProgram() rev.Step[rows] {
	return rev.For(func(s *rows) int { return s.n }, func(s *rows) *int { return &s.i }, rev.Seq(
		rev.AtIndex(func(s, v *rows) lin { return lin{s.row(v.h, s.i), v.w, s.row(v.x, s.i)} }),
		rev.AtIndex(func(s, v *rows) sq { return sq{v.r, s.row(v.h, s.i)} }),
	))
}

// TestLostRows has a loop over rows of data, of which nobody wants the gradient.
func TestLostRows(t *testing.T) {
	for _, stride := range []int{2, 3} {
		p := rowsProgram()
		s := newRows(100, 2, stride)
		want := rev.ZeroLike(s)
		if _, err := rev.ValueGradient(p, func(s *rows) *float64 { return &s.r[0] }, s, want); err != nil {
			t.Fatal(err)
		}
		g := rev.ZeroLike(s)
		g.x = nil
		if _, err := rev.ValueGradient(p, func(s *rows) *float64 { return &s.r[0] }, s, g); err != nil || g.w[0] != want.w[0] || g.w[0] == 0 {
			t.Errorf("gradient %v, want %v, error %v", g.w, want.w, err)
		}
		// All are features of the data, and nothing is wanted of them.
		g.x, g.h, g.w = nil, nil, nil
		if _, err := rev.ValueGradient(p, func(s *rows) *float64 { return &s.r[0] }, s, g); err != nil {
			t.Error(err)
		}
		g.w = []float64{0}
		_, err := rev.ValueGradient(p, func(s *rows) *float64 { return &s.r[0] }, s, g)
		checkLost(t, "rows", err, "For[99].Seq[0]: Y read by rev_test.sq as X", "has no cotangent of ", "reads", "g")
	}
}

// TestLostParallel loses cotangents in branches that run at the same time.
func TestLostParallel(t *testing.T) {
	branch := func(i int) rev.Step[sums] {
		return rev.At(func(s *sums) mul { return mul{s.y[i], s.w[i], rev.ViewSlice(s.x)} })
	}
	var all []rev.Step[sums]
	for i := range 8 {
		all = append(all, branch(i))
	}
	p := rev.ParallelShared([]func(*sums) []float64{func(s *sums) []float64 { return s.x[:0] }}, all...)
	s, g := newSums(rand.New(rand.NewPCG(1, 2))), newSums(nil)
	g.x = nil
	for i := range g.y {
		g.y[i][0] = 1
	}
	if err := p.Adjoint(s, g); err != nil {
		t.Error(err)
	}
}

// TestLostForwardMode leaves out all sets of derivatives. ForwardMode loses what its step
// loses.
func TestLostForwardMode(t *testing.T) {
	plain := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	prog := rev.Seq(rev.At(linYX), rev.ForwardMode(rev.At(linZY),
		[]func(*chain) []float64{func(s *chain) []float64 { return s.b }, func(s *chain) []float64 { return s.y }},
		[]func(*chain) []float64{func(s *chain) []float64 { return s.z }}), rev.At(sqRZ))
	names := "abxyzr"
	for set := range 1 << len(names) {
		none := ""
		for i, name := range names {
			if set>>i&1 != 0 {
				none += string(name)
			}
		}
		for method, run := range map[string]func(p rev.Step[chain]) (*chain, error){
			"Adjoint": func(p rev.Step[chain]) (*chain, error) {
				s := newChain()
				if err := p.Forward(s); err != nil {
					t.Fatal(err)
				}
				g := drop(rev.ZeroLike(s), none)
				put(g.r, 0, 1)
				return g, p.Adjoint(s, g)
			},
			"Tangent": func(p rev.Step[chain]) (*chain, error) {
				s := newChain()
				d := drop(rev.ZeroLike(s), none)
				put(d.a, 0, 1)
				return d, p.Tangent(s, d)
			},
		} {
			got, err := run(prog)
			want, wantErr := run(plain)
			if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s without %s: %+v, error %v; want %+v, error %v", method, none, got, err, want, wantErr)
			}
		}
	}

	s := newChain()
	if err := prog.Forward(s); err != nil {
		t.Fatal(err)
	}
	g := drop(rev.ZeroLike(s), "z")
	g.r[0] = 1
	checkLost(t, "without z", prog.Adjoint(s, g), "Seq[1].ForwardMode: outputs[0] read by rev_test.sq as X", "has no cotangent of ", "reads", "g")
}

// TestLostReads leaves out tangents that AdjointTangent reads. It is an error if a kernel reads an
// operand that has none, and another kernel makes its tangent of one that is there.
func TestLostReads(t *testing.T) {
	prog := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	const y, z = "Seq[0]: Y read by rev_test.lin as X", "Seq[1]: Y read by rev_test.sq as X"
	for _, test := range []struct{ noT, noGT, lost string }{
		{"", "", ""}, {"r", "", ""}, {"abx", "", ""}, {"zyabx", "", ""},
		{"y", "", y}, {"ya", "", y}, {"yx", "", y}, {"yax", "", ""},
		{"z", "", z}, {"zy", "", z}, {"zyb", "", y}, {"zyax", "", z}, {"zybax", "", ""},
		{"z", "zbyax", ""}, {"yz", "zyxab", ""}, // nothing is wanted
	} {
		s := newChain()
		if err := prog.Forward(s); err != nil {
			t.Fatal(err)
		}
		g := rev.ZeroLike(s)
		put(g.r, 0, 1)
		err := prog.AdjointTangent(s, g, drop(rev.ZeroLike(s), test.noT), drop(rev.ZeroLike(s), test.noGT))
		checkLost(t, "without tangents "+test.noT+" and their cotangents "+test.noGT, err, test.lost, "has no tangent of ", "reads", "t")
	}
}

// TestSecondOrderOfLess leaves out all sets of tangents, and of tangents of cotangents, in all
// combinators. What is left is right, or it is an error.
func TestSecondOrderOfLess(t *testing.T) {
	prog := rev.Seq(rev.At(linYX), rev.At(linZY), rev.At(sqRZ))
	type step = rev.Step[chain]
	one := func(*chain) int { return 1 }
	index := 0
	powers := rev.Chain[chain, []float64]{
		Step: rev.At(linYX), X: func(s *chain) *[]float64 { return &s.x }, Y: func(s *chain) *[]float64 { return &s.y },
		Count: func(*chain) int { return 3 },
	}
	kept := map[*chain]*rev.Snapshots[float64]{} // of states and tangents
	call := prog
	turn := 0
	for name, p := range map[string]step{
		"Seq": prog, "Call": rev.Call(&call), "Repeat": rev.Repeat(one, prog),
		"Uncall": rev.Uncall(rev.Seq(rev.At(sqRZ), rev.At(linZY), rev.At(linYX))),
		"For":    rev.For(one, func(*chain) *int { return &index }, prog),
		"If":     rev.If(func(*chain) bool { return true }, func(*chain) bool { return true }, prog, step{}),
		"While":  rev.While(func(s *chain) bool { return s.r[0] == 0 }, func(s *chain) bool { return s.r[0] != 0 }, prog),
		"Routine": rev.Routine(rev.At(linYX), rev.Seq(rev.At(linZY), rev.At(sqRZ)),
			func(s *chain) []float64 { return s.y }),
		"Parallel": rev.Seq(rev.Parallel(rev.At(linYX)), rev.Parallel(rev.At(linZY)), rev.Parallel(rev.At(sqRZ))),
		"ParallelShared": rev.Seq(rev.At(linYX), rev.ParallelShared(
			[]func(*chain) []float64{func(s *chain) []float64 { return s.y }, func(s *chain) []float64 { return s.b }}, rev.At(linZY)), rev.At(sqRZ)),
		"Checkpoint": rev.Checkpoint(prog, func(s *chain) *rev.Snapshots[float64] {
			if kept[s] == nil {
				kept[s] = new(rev.Snapshots[float64])
			}
			return kept[s]
		}),
		"Treeverse": rev.Seq(rev.Treeverse(powers, rev.Limit{Snapshots: 2}), rev.At(linZY), rev.At(sqRZ)),
		"Bennett":   rev.Seq(rev.Bennett(powers, 2), rev.At(linZY), rev.At(sqRZ)),
	} {
		lost, exact := 0, 0
		forSets("abxyzr", func(noT string) {
			// The tangents of what the program reads are those that are there, and the program makes
			// the others.
			run := func(noT, noGT string) (*chain, error) {
				s := newChain()
				tt := rev.ZeroLike(s)
				for i, d := range [][]float64{tt.a, tt.b, tt.x} {
					if !strings.Contains(noT, "abx"[i:i+1]) {
						for j := range d {
							d[j] = float64(3 + 2*i + j)
						}
					}
				}
				if err := p.Tangent(s, tt); err != nil {
					t.Fatal(name, err)
				}
				g, gt := rev.ZeroLike(s), drop(rev.ZeroLike(s), noGT)
				put(g.r, 0, 1)
				put(gt.r, 0, 0.5)
				return gt, p.AdjointTangent(s, g, drop(tt, noT), gt)
			}
			forSets("abxyz", func(noGT string) {
				if turn++; turn%5 > 0 && !long.Tests() {
					return
				}
				got, err := run(noT, noGT)
				if err != nil {
					lost++
					if !strings.Contains(err.Error(), "a part of the derivatives is lost") {
						t.Errorf("%s without tangents %s and their cotangents %s: %v", name, noT, noGT, err)
					}
					return
				}
				exact++
				inputs := strings.Map(func(r rune) rune {
					if strings.ContainsRune("abx", r) {
						return r
					}
					return -1
				}, noT)
				want, err := run(inputs, "")
				if err != nil {
					t.Fatal(name, err)
				}
				if !reflect.DeepEqual(got, drop(want, noGT)) {
					t.Errorf("%s without tangents %q and their cotangents %q: %+v, want %+v", name, noT, noGT, got, want)
				}
			})
		})
		if lost == 0 || exact == 0 {
			t.Errorf("%s: %d errors, %d results", name, lost, exact)
		}
	}
}

// forSets calls f with all subsets of names.
func forSets(names string, f func(set string)) {
	for bits := range 1 << len(names) {
		set := ""
		for i, name := range names {
			if bits>>i&1 != 0 {
				set += string(name)
			}
		}
		f(set)
	}
}
