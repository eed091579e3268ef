package rev

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// motley has operands of every kind.
type motley struct {
	Out   *float64         `rev:"acc"`
	C     General[float64] `rev:"acc" shape:"m,n"`
	A     General[float64] `rev:"in" shape:"Trans ? n,m : m,n"`
	Z     Vector[float64]  `rev:"inout" shape:"n"`
	W     []float64        `rev:"in,optional" shape:"max(m*(n-1)/2,1)"`
	Trans bool
}

func (k motley) Run(Pass[motley]) error { return nil }

// rows has a sparse matrix and an index.
type rows struct {
	Y Vector[float64] `rev:"acc" shape:"m"`
	S struct {
		Rows, Cols int
		Ptr, Ind   []int
		Data       []float64
	} `rev:"in" shape:"m,k"`
	X   Vector[float64] `rev:"in" shape:"k"`
	Ind []int           `rev:"index" shape:"Len"`
	Len int
}

func (k rows) Run(Pass[rows]) error { return nil }

// even has a plain layout.
type even struct {
	Out *float64         `rev:"acc"`
	C   General[float64] `rev:"acc" shape:"m,n"`
	X   Vector[float64]  `rev:"in" shape:"n"`
	W   []float64        `rev:"in" shape:"m"`
	Z   Vector[float64]  `rev:"inout" shape:"n"`
	Ind []int            `rev:"index" shape:"Len"`
	Len int
}

func (k even) Run(Pass[even]) error { return nil }

// A judged is an operand as judge sees it.
type judged struct {
	role               Role
	optional           bool
	data               []float64
	rows, cols, stride int
	want               [2]int // its dimensions in the kernel, by the tags
}

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
		{Acc, true, out, 1, 1, 1, [2]int{1, 1}},
		{Acc, true, k.C.Data, k.C.Rows, k.C.Cols, k.C.Stride, [2]int{m, n}},
		{In, false, k.A.Data, k.A.Rows, k.A.Cols, k.A.Stride, want},
		{InOut, false, k.Z.Data, k.Z.N, 1, k.Z.Inc, [2]int{n, 1}},
		{In, true, k.W, len(k.W), 1, 1, [2]int{max(m*(n-1)/2, 1), 1}},
	}
}

func (k *rows) judged() []judged {
	entries := max(len(k.S.Data), len(k.S.Ind))
	return []judged{
		{Acc, true, k.Y.Data, k.Y.N, 1, k.Y.Inc, [2]int{k.S.Rows, 1}},
		{In, false, k.S.Data, entries, 1, 1, [2]int{entries, 1}},
		{In, false, k.X.Data, k.X.N, 1, k.X.Inc, [2]int{k.S.Cols, 1}},
		{Index, false, nil, len(k.Ind) - k.Len, 0, 1, [2]int{}},
	}
}

func (k *even) judged() []judged {
	m, n := len(k.W), k.X.N
	var out []float64
	if k.Out != nil {
		out = unsafe.Slice(k.Out, 1)
	}
	return []judged{
		{Acc, true, out, 1, 1, 1, [2]int{1, 1}},
		{Acc, true, k.C.Data, k.C.Rows, k.C.Cols, k.C.Stride, [2]int{m, n}},
		{In, false, k.X.Data, n, 1, k.X.Inc, [2]int{n, 1}},
		{In, false, k.W, m, 1, 1, [2]int{m, 1}},
		{InOut, false, k.Z.Data, k.Z.N, 1, k.Z.Inc, [2]int{n, 1}},
		{Index, false, nil, len(k.Ind) - k.Len, 0, 1, [2]int{}},
	}
}

// judge looks at values, a kernel and its derivatives, in the slowest way. It reports
// whether something is wrong, and whether operands may overlap: their elements differ, but
// not the memory between them, or they are views that derivatives may share.
func judge(values ...[]judged) (wrong, unclear bool) {
	var all []judged
	for v, operands := range values {
		for i, o := range operands {
			if v > 0 && o.role == Index {
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
				if o.empty() || p.empty() || v == 0 && o.role.readOnly() && p.role.readOnly() {
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
				share := v > 0 && j >= v*len(operands) && o.role == In && p.role == In
				wrong = wrong || same && !share
				a, b := uintptr(unsafe.Pointer(&o.data[0])), uintptr(unsafe.Pointer(&p.data[0]))
				unclear = unclear || a < b+8*uintptr(p.span()) && b < a+8*uintptr(o.span())
			}
			all = append(all, o)
		}
	}
	return wrong, unclear
}

// TestCheck compares check with judge, for random operands many of which are malformed or
// overlap.
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
	vector := func(n int) Vector[float64] {
		inc := 1 + rnd.IntN(2)
		return Vector[float64]{N: size(n), Data: data(max(size(n*inc), 0)), Inc: size(inc)}
	}
	general := func(r, c int) General[float64] {
		stride := c + rnd.IntN(2)
		return General[float64]{Rows: size(r), Cols: size(c), Stride: size(stride), Data: data(max(size(r*stride), 0))}
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
	randomRows := func(m, n, entries int) (k rows) {
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
	compare := func(l *layout, values [4]unsafe.Pointer, judged ...[]judged) {
		t.Helper()
		wrong, unclear := judge(judged...)
		if d := noneNil(values[1], values[2]); values[3] == nil && (values[1] == nil || values[2] == nil) && l.accepts(values[0], d) {
			c := checker{layout: l, values: values}
			if err := c.checkMany(len(judged) * len(l.fields)); err != nil {
				t.Fatalf("accepted in short: %v: %v", err, judged)
			}
		}
		switch err := l.check(values[0], values[1], values[2], values[3]); {
		case err == nil && wrong:
			t.Fatalf("accepted %v", judged)
		case err != nil && !wrong && !unclear:
			t.Fatalf("%v: %v", err, judged)
		case err == nil:
			accepted++
		default:
			refused++
		}
	}
	const rounds = 20000
	for range rounds {
		at = 0
		m, n, trans := 1+rnd.IntN(3), 1+rnd.IntN(3), rnd.IntN(2) == 0
		k, g, tan, gt := random(m, n, trans), random(m, n, trans), random(m, n, trans), random(m, n, trans)
		values, views := [4]unsafe.Pointer{addr(&k)}, [][]judged{k.judged()}
		passes := rnd.IntN(4)
		if passes&1 != 0 {
			values[1], views = addr(&g), append(views, g.judged())
		}
		if passes&2 != 0 {
			values[2], views = addr(&tan), append(views, tan.judged())
		}
		if passes == 3 {
			values[3], views = addr(&gt), append(views, gt.judged())
		}
		compare(layoutFor[motley](), values, views...)
		at = 0
		entries := rnd.IntN(4)
		r, rg := randomRows(m, n, entries), randomRows(m, n, entries)
		values, views = [4]unsafe.Pointer{addr(&r)}, [][]judged{r.judged()}
		if passes&1 != 0 {
			values[1], views = addr(&rg), append(views, rg.judged())
		}
		compare(layoutFor[rows](), values, views...)
		at = 0
		e, eg := randomEven(m, n), randomEven(m, n)
		values, views = [4]unsafe.Pointer{addr(&e)}, [][]judged{e.judged()}
		if passes > 0 {
			values[1+passes&1], views = addr(&eg), append(views, eg.judged())
		}
		compare(layoutFor[even](), values, views...)
		if layoutFor[even]().accepts(values[0], noneNil(values[1], values[2])) {
			plain++
		}
	}
	if accepted < rounds/4 || refused < rounds/4 || plain < rounds/10 {
		t.Errorf("accepted %d, %d of them plainly, refused %d", accepted, plain, refused)
	}
}
