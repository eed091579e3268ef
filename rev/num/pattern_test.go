package num

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Jacobians are found from products, in as many of them as a row has columns if rows are bands.
func TestPattern(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		m, n := rnd.IntN(30), 1+rnd.IntN(50)
		want := mat.NewDense(max(m, 1), n, nil)
		p := NewPattern(m, n)
		for range rnd.IntN(2) * rnd.IntN(n+1) { // shared columns, some of them in a row
			c := rnd.IntN(n)
			p.Read(p.Columns()[c])
			for r := range m {
				want.Set(r, c, rnd.NormFloat64())
			}
		}
		for range rnd.IntN(20) {
			p.Group()
			var columns []int
			for range rnd.IntN(4) {
				c := rnd.IntN(n)
				columns = append(columns, c)
				p.ReadAt(p.Columns(), c)
			}
			p.ReadAt(p.Columns(), n)
			p.WriteAt(p.Rows(), -1)
			for range rnd.IntN(3) {
				if m == 0 {
					break
				}
				r := rnd.IntN(m)
				p.Write(p.Rows()[r])
				for _, c := range columns {
					want.Set(r, c, rnd.NormFloat64())
				}
			}
		}
		p.Shared()
		if got, want := p.ByRows(), m < p.Colors(); got != want {
			t.Fatalf("by rows: %v, want %v", got, want)
		}
		product := func(column, v []float64) {
			for r := range column {
				column[r] = Inner(want.RawRowView(r), v)
			}
		}
		var four func(columns, v [4][]float64)
		if rnd.IntN(2) == 0 {
			four = func(columns, v [4][]float64) {
				for k, column := range columns {
					product(column, v[k])
				}
			}
		}
		if m > 0 {
			got := mat.NewDense(m, n, nil)
			got.Set(0, 0, 1)
			p.Dense(got, product, four)
			if !mat.EqualApprox(got, want, 1e-15) {
				t.Fatalf("got %v\nwant %v", got, want)
			}
			Jacobian(got, product)
			if !mat.Equal(got, want) {
				t.Fatalf("by columns: got %v\nwant %v", got, want)
			}
		}
		ptr, ind, data := p.Sparse(nil, nil, nil, product, four)
		sparse := mat.NewDense(max(m, 1), n, nil)
		for r := range m {
			row := ind[ptr[r]:ptr[r+1]]
			if !slices.IsSorted(row) || len(slices.Compact(slices.Clone(row))) != len(row) {
				t.Fatalf("row %d has columns %v", r, row)
			}
			for k, c := range row {
				sparse.Set(r, int(c), data[int(ptr[r])+k])
			}
		}
		if !mat.EqualApprox(sparse, want, 1e-15) {
			t.Fatalf("sparse: got %v\nwant %v", sparse, want)
		}
		p.Free() // the next one has its memory
	}
	p := NewPattern(50, 52)
	for i := range 50 {
		p.Group()
		p.Read(p.Columns()[i : i+3]...)
		p.Write(p.Rows()[i])
	}
	p.Shared()
	if k := p.Colors(); k != 3 {
		t.Errorf("%d colors of rows with three columns, want 3", k)
	}
}

// A column that a group reads often is noted once, and a pattern with few rows gets no colors.
func TestPatternOfFewRows(t *testing.T) {
	const n = 9
	p := NewPattern(2, n)
	for r := range 2 {
		p.Group()
		for range 5 {
			p.Read(p.Columns()...)
		}
		p.Write(p.Rows()[r])
	}
	p.Shared()
	if len(p.notes) != 2*n {
		t.Errorf("%d notes, want %d", len(p.notes), 2*n)
	}
	if !p.ByRows() || p.colors != nil {
		t.Errorf("ByRows is %v, and colors are %v", p.ByRows(), p.colors)
	}
	if k := p.Colors(); k != n {
		t.Errorf("%d colors, want %d", k, n)
	}
}

// A pattern in the memory of one that was larger, and was freed in a group, is as in new memory.
func TestPatternFree(t *testing.T) {
	note := func(p *Pattern) {
		p.Read(p.Columns()[1])
		p.Write(p.Rows()[0])
		for i := range 3 {
			p.Group()
			p.ReadAt(p.Columns(), 2+i)
			p.ReadAt(p.Columns(), 3+i)
			p.WriteAt(p.Rows(), 1+i)
		}
		p.Shared()
	}
	product := func(column, _ []float64) { clear(column) }
	fresh := &Pattern{&pattern{
		columns: numbers(nil, 7), rows: numbers(nil, 4), seen: make([]int32, 7), shared: make([]bool, 7), of: make([]int32, 4),
		same: []int32{0}, start: []int32{0},
	}}
	note(fresh)
	wantPtr, wantInd, _ := fresh.Sparse(nil, nil, nil, product, nil)
	for range 20 { // a pool may have other memory
		old := NewPattern(50, 60)
		for i := range 40 {
			old.Read(old.Columns()[i])
			old.Group()
			old.Read(old.Columns()[:20]...)
			old.Write(old.Rows()...)
			if i < 39 {
				old.Shared()
			}
		}
		old.Colors()
		old.Free() // in a group
		p := NewPattern(4, 7)
		note(p)
		ptr, ind, _ := p.Sparse(nil, nil, nil, product, nil)
		if !slices.Equal(ptr, wantPtr) || !slices.Equal(ind, wantInd) || p.Colors() != fresh.Colors() || p.ByRows() != fresh.ByRows() {
			t.Fatalf("rows %v, %v in %d colors, want %v, %v in %d", ptr, ind, p.Colors(), wantPtr, wantInd, fresh.Colors())
		}
		p.Free()
	}
}

// A pattern that is freed has no memory: other methods panic, and another Free gives nothing away.
func TestPatternAfterFree(t *testing.T) {
	p := NewPattern(3, 4)
	p.Free()
	p.Free()
	a, b := NewPattern(3, 4), NewPattern(3, 4)
	defer a.Free()
	defer b.Free()
	if a.pattern == b.pattern {
		t.Error("two patterns have one memory")
	}
	product := func(column, _ []float64) { clear(column) }
	for name, use := range map[string]func(){
		"Columns": func() { p.Columns() }, "Rows": func() { p.Rows() }, "Group": p.Group, "Shared": p.Shared,
		"Read": func() { p.Read(1) }, "ReadAt": func() { p.ReadAt([]float64{1}, 0) },
		"Write": func() { p.Write(1) }, "WriteAt": func() { p.WriteAt([]float64{1}, 0) },
		"Colors": func() { p.Colors() }, "ByRows": func() { p.ByRows() },
		"Dense":  func() { p.Dense(mat.NewDense(3, 4, nil), product, nil) },
		"Sparse": func() { p.Sparse(nil, nil, nil, product, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic after Free", name)
				}
			}()
			use()
		}()
	}
}

// Rows are products on the left, two at once if there is a function for that, and the last of an odd number alone.
func TestJacobianRows(t *testing.T) {
	const n = 3
	for m := range 6 {
		want := &mat.Dense{}
		if m > 0 {
			want = mat.NewDense(m, n, nil)
			for i := range m * n {
				want.RawMatrix().Data[i] = float64(i + 1)
			}
		}
		products, pairs := 0, 0
		set := func(row, w []float64) {
			if len(w) != m || len(row) != n {
				t.Fatalf("%d rows: a product of %d with %d numbers", m, len(row), len(w))
			}
			clear(row)
			for r, w := range w {
				for c := range row {
					row[c] += w * want.At(r, c)
				}
			}
		}
		product := func(row, w []float64) { products++; set(row, w) }
		two := func(rows, w [2][]float64) {
			pairs++
			set(rows[0], w[0])
			set(rows[1], w[1])
		}
		check := func(two func(rows, w [2][]float64), wantProducts, wantPairs int) {
			got := &mat.Dense{}
			if m > 0 {
				got = mat.NewDense(m, n, nil)
			}
			products, pairs = 0, 0
			JacobianRows(got, product, two)
			if m > 0 && !mat.Equal(got, want) || products != wantProducts || pairs != wantPairs {
				t.Errorf("%d rows: %v by %d products and %d pairs, want %v by %d and %d", m, got, products, pairs, want, wantProducts, wantPairs)
			}
		}
		check(two, m%2, m/2)
		check(nil, m, 0)
	}
}
