package rev_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/rev"
)

// motley has operands of every kind.
type motley struct {
	Out   *float64             `rev:"acc"`
	C     rev.General[float64] `rev:"acc" shape:"m,n"`
	A     rev.General[float64] `rev:"in" shape:"Trans ? n,m : m,n"`
	Z     rev.Vector[float64]  `rev:"inout" shape:"n"`
	W     []float64            `rev:"in,optional" shape:"max(m*(n-1)/2,1)"`
	Trans bool
}

func (k motley) Run(rev.Pass[motley]) error { return nil }

// ragged has a sparse matrix and an index.
type ragged struct {
	Y rev.Vector[float64] `rev:"acc" shape:"m"`
	S struct {
		Rows, Cols int
		Ptr, Ind   []int
		Data       []float64
	} `rev:"in" shape:"m,k"`
	X   rev.Vector[float64] `rev:"in" shape:"k"`
	Ind []int               `rev:"index" shape:"Len"`
	Len int
}

func (k ragged) Run(rev.Pass[ragged]) error { return nil }

// even has a plain layout.
type even struct {
	Out *float64             `rev:"acc"`
	C   rev.General[float64] `rev:"acc" shape:"m,n"`
	X   rev.Vector[float64]  `rev:"in" shape:"n"`
	W   []float64            `rev:"in" shape:"m"`
	Z   rev.Vector[float64]  `rev:"inout" shape:"n"`
	Ind []int                `rev:"index" shape:"Len"`
	Len int
}

func (k even) Run(rev.Pass[even]) error { return nil }

// A judged is an operand as judge sees it.
type judged struct {
	role               rev.Role
	optional           bool
	data               []float64
	rows, cols, stride int
	want               [2]int // its dimensions in the kernel, by the tags
}

func readOnly(r rev.Role) bool { return r == rev.In || r == rev.Index }

func (j judged) span() int { return (j.rows-1)*j.stride + j.cols }

func (j judged) empty() bool { return j.data == nil || j.rows <= 0 || j.cols <= 0 }

func (k *motley) judged() []judged {
	m, n := k.A.Rows, k.A.Cols
	want := [2]int{m, n}
	if k.Trans {
		m, n = n, m
	}
	var out []float64
	if k.Out != nil {
		out = unsafe.Slice(k.Out, 1)
	}
	return []judged{
		{rev.Acc, true, out, 1, 1, 1, [2]int{1, 1}},
		{rev.Acc, true, k.C.Data, k.C.Rows, k.C.Cols, k.C.Stride, [2]int{m, n}},
		{rev.In, false, k.A.Data, k.A.Rows, k.A.Cols, k.A.Stride, want},
		{rev.InOut, false, k.Z.Data, k.Z.N, 1, k.Z.Inc, [2]int{n, 1}},
		{rev.In, true, k.W, len(k.W), 1, 1, [2]int{max(m*(n-1)/2, 1), 1}},
	}
}

func (k *ragged) judged() []judged {
	entries := max(len(k.S.Data), len(k.S.Ind))
	return []judged{
		{rev.Acc, true, k.Y.Data, k.Y.N, 1, k.Y.Inc, [2]int{k.S.Rows, 1}},
		{rev.In, false, k.S.Data, entries, 1, 1, [2]int{entries, 1}},
		{rev.In, false, k.X.Data, k.X.N, 1, k.X.Inc, [2]int{k.S.Cols, 1}},
		{rev.Index, false, nil, len(k.Ind) - k.Len, 0, 1, [2]int{}},
	}
}

func (k *even) judged() []judged {
	m, n := len(k.W), k.X.N
	var out []float64
	if k.Out != nil {
		out = unsafe.Slice(k.Out, 1)
	}
	return []judged{
		{rev.Acc, true, out, 1, 1, 1, [2]int{1, 1}},
		{rev.Acc, true, k.C.Data, k.C.Rows, k.C.Cols, k.C.Stride, [2]int{m, n}},
		{rev.In, false, k.X.Data, n, 1, k.X.Inc, [2]int{n, 1}},
		{rev.In, false, k.W, m, 1, 1, [2]int{m, 1}},
		{rev.InOut, false, k.Z.Data, k.Z.N, 1, k.Z.Inc, [2]int{n, 1}},
		{rev.Index, false, nil, len(k.Ind) - k.Len, 0, 1, [2]int{}},
	}
}

// judge looks at values, a kernel and its derivatives, in the slowest way. It reports
// whether something is wrong, and whether operands may overlap: their elements differ, but
// not the memory between them, or they are views that derivatives may share.
func judge(values ...[]judged) (wrong, unclear bool) {
	var all []judged
	for v, operands := range values {
		for i, o := range operands {
			if v > 0 && o.role == rev.Index {
				continue
			}
			want := values[0][i].want
			if k := values[0][i]; k.data != nil {
				want = [2]int{k.rows, k.cols}
			}
			negative := o.rows < 0 || o.cols < 0
			long := !o.empty() && (o.stride < o.cols || o.span() > len(o.data))
			isNil := o.data == nil && v == 0 && !o.optional && o.rows > 0 && o.cols > 0
			other := (o.data != nil || v == 0 && !o.optional) && [2]int{o.rows, o.cols} != want
			if v == 0 && o.data != nil {
				other = [2]int{o.rows, o.cols} != o.want
			}
			if negative || long || isNil || other {
				return true, false
			}
			for j, p := range all {
				if o.empty() || p.empty() || v == 0 && readOnly(o.role) && readOnly(p.role) {
					continue
				}
				seen := map[*float64]bool{}
				for e := range p.rows * p.cols {
					seen[&p.data[e/p.cols*p.stride+e%p.cols]] = true
				}
				same := false
				for e := range o.rows * o.cols {
					same = same || seen[&o.data[e/o.cols*o.stride+e%o.cols]]
				}
				share := v > 0 && j >= v*len(operands) && o.role == rev.In && p.role == rev.In
				wrong = wrong || same && !share
				a, b := uintptr(unsafe.Pointer(&o.data[0])), uintptr(unsafe.Pointer(&p.data[0]))
				unclear = unclear || a < b+8*uintptr(p.span()) && b < a+8*uintptr(o.span())
			}
			all = append(all, o)
		}
	}
	return wrong, unclear
}

// plainly reports whether all operands are there.
func plainly(values ...[]judged) bool {
	return !slices.ContainsFunc(slices.Concat(values...), func(o judged) bool { return o.role != rev.Index && o.empty() })
}

// checks returns the errors of a kernel and its derivatives, of which some may be nil: that of the check, which may
// take a short way, and that of a check with one more derivative, which has no operands and excludes the short way.
func checks[K any](k K, d [3]*K) (short, full error) {
	of := func(k K, gt *K) (err error) {
		defer func() {
			switch v := recover().(type) {
			case nil:
			case *rev.OperandError:
				err = v
			default:
				panic(v)
			}
		}()
		rev.Check(&k, d[0], d[1], gt)
		return nil
	}
	more := d[2]
	if more == nil {
		more = new(K)
	}
	return of(k, d[2]), of(k, more)
}

// TestCheck compares Check with judge, for random operands many of which are malformed or
// overlap. Check has a short way for operands that are plainly right, and must say the same without.
func TestCheck(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	buffer, ints := make([]float64, 400), make([]int, 8)
	at := 0
	data := func(n int) []float64 { // mostly fresh memory, sometimes memory in use or none
		if rnd.IntN(30) == 0 {
			return nil
		}
		if rnd.IntN(30) == 0 {
			at -= 3
		}
		at = max(at, 0)
		d := buffer[at : at+n]
		at += n
		return d
	}
	size := func(n int) int { // mostly n
		if rnd.IntN(30) > 0 {
			return n
		}
		return n + rnd.IntN(4) - 2
	}
	vector := func(n int) rev.Vector[float64] {
		inc := 1 + rnd.IntN(2)
		return rev.Vector[float64]{N: size(n), Data: data(max(size(n*inc), 0)), Inc: size(inc)}
	}
	general := func(r, c int) rev.General[float64] {
		stride := c + rnd.IntN(2)
		return rev.General[float64]{Rows: size(r), Cols: size(c), Stride: size(stride), Data: data(max(size(r*stride), 0))}
	}
	random := func(m, n int, trans bool) (k motley) {
		k.Trans = trans
		if d := data(1); d != nil {
			k.Out = &d[0]
		}
		k.C, k.Z = general(m, n), vector(n)
		k.A = general(m, n)
		if trans {
			k.A = general(n, m)
		}
		k.W = data(max(size(max(m*(n-1)/2, 1)), 0))
		return k
	}
	randomRows := func(m, n, entries int) (k ragged) {
		k.Y, k.X = vector(m), vector(n)
		k.S.Rows, k.S.Cols, k.S.Data, k.S.Ind = size(m), size(n), data(max(size(entries), 0)), ints[:entries]
		k.Len = size(2)
		k.Ind = ints[:max(size(2), 0)]
		return k
	}
	randomEven := func(m, n int) (k even) {
		if d := data(1); d != nil {
			k.Out = &d[0]
		}
		k.C, k.X, k.W, k.Z = general(m, n), vector(n), data(max(size(m), 0)), vector(n)
		k.Len = size(2)
		if k.Ind = ints[:max(size(2), 0)]; rnd.IntN(30) == 0 {
			k.Ind, k.Len = nil, rnd.IntN(5)-2
		}
		return k
	}
	accepted, refused, plain := 0, 0, 0
	compare := func(short, full error, judged ...[]judged) {
		t.Helper()
		wrong, unclear := judge(judged...)
		switch {
		case (short == nil) != (full == nil):
			t.Fatalf("%v, but in full %v: %v", short, full, judged)
		case short == nil && wrong:
			t.Fatalf("accepted %v", judged)
		case short != nil && !wrong && !unclear:
			t.Fatalf("%v: %v", short, judged)
		case short != nil:
			refused++
		default:
			accepted++
			if !unclear && plainly(judged...) {
				plain++
			}
		}
	}
	const rounds = 20000
	for range rounds {
		at = 0
		m, n, trans := 1+rnd.IntN(3), 1+rnd.IntN(3), rnd.IntN(2) == 0
		k, g, tan, gt := random(m, n, trans), random(m, n, trans), random(m, n, trans), random(m, n, trans)
		d, views := [3]*motley{}, [][]judged{k.judged()}
		passes := rnd.IntN(4)
		if passes&1 != 0 {
			d[0], views = &g, append(views, g.judged())
		}
		if passes&2 != 0 {
			d[1], views = &tan, append(views, tan.judged())
		}
		if passes == 3 {
			d[2], views = &gt, append(views, gt.judged())
		}
		short, full := checks(k, d)
		compare(short, full, views...)
		at = 0
		entries := rnd.IntN(4)
		r, rg := randomRows(m, n, entries), randomRows(m, n, entries)
		dr, views := [3]*ragged{}, [][]judged{r.judged()}
		if passes&1 != 0 {
			dr[0], views = &rg, append(views, rg.judged())
		}
		short, full = checks(r, dr)
		compare(short, full, views...)
		at = 0
		e, eg := randomEven(m, n), randomEven(m, n)
		de, views := [3]*even{}, [][]judged{e.judged()}
		if passes > 0 {
			de[passes&1], views = &eg, append(views, eg.judged())
		}
		short, full = checks(e, de)
		compare(short, full, views...)
	}
	if accepted < rounds/4 || refused < rounds/4 || plain < rounds/10 {
		t.Errorf("accepted %d, %d of them plainly, refused %d", accepted, plain, refused)
	}
}

// TestCheckOfTypes gives Check derivatives of another type.
func TestCheckOfTypes(t *testing.T) {
	type kernel struct {
		Out *float64 `rev:"acc"`
	}
	k, x := kernel{new(float64)}, 1.0
	rev.Check(&k, nil, (*kernel)(nil), nil)
	for i := range 3 {
		d := [3]any{}
		d[i] = &x
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("derivative %d of another type: panic %v", i, err)
				}
			}()
			rev.Check(&k, d[0], d[1], d[2])
		}()
	}
}
