package num

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// A Pattern says which columns of an m×n Jacobian its rows may have. A program notes that: what it reads
// and writes between two calls of Group are columns and rows of a group. A row has the columns of its
// group, and the shared ones, which are those that are read outside of groups. Groups with a common row are
// one.
//
// Two columns get the same color if no group has both. One product of the Jacobian with the sum of the
// axes of a color is then all its columns: each row has at most one of them. Shared columns have colors
// of their own. This is the method of Curtis, Powell and Reid, 1974.
type Pattern struct {
	*pattern // which other patterns have after Free
}

type pattern struct {
	columns, rows []float64 // their numbers

	group  int32   // the present one, or 0 outside of groups
	seen   []int32 // of each column, the last group that has it, or 0
	shared []bool  // of each column
	of     []int32 // of each row, its group or 0
	same   []int32 // of each group, one that it is, or itself
	start  []int32 // of each group, where its notes begin
	notes  []int32

	// When all is noted:
	from, cols []int32   // group g has cols[from[g]:from[g+1]], which are sorted
	below      []int32   // of each column, the number of shared ones before it
	least      int       // there are no fewer colors
	colors     [][]int32 // their columns
	apart      int       // the first color of a shared column

	groups func(c int) []int32 // those of a column

	runs, at []int32 // memory of placed
}

// NewPattern returns a pattern in which nothing is noted. Call Free when you are done with it, or the next one takes new memory.
func NewPattern(m, n int) *Pattern {
	p := &Pattern{workspace.Get[*pattern]()}
	p.columns, p.rows = numbers(p.columns, n), numbers(p.rows, m)
	p.seen, p.shared, p.of = workspace.Zeros(p.seen, n), workspace.Zeros(p.shared, n), workspace.Zeros(p.of, m)
	p.same, p.start, p.notes = append(p.same[:0], 0), append(p.start[:0], 0), p.notes[:0]
	return p
}

// numbers returns 0, ..., n-1, in the memory of x if that is large enough.
func numbers(x []float64, n int) []float64 {
	x = workspace.Grow(x, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

// Free makes the memory of the notes available to other patterns. Keep no slice of Columns or Rows: they overwrite it.
// Other methods panic afterwards, and Free does nothing.
func (p *Pattern) Free() {
	memory := p.pattern
	if memory == nil {
		return
	}
	p.pattern = nil
	*memory = pattern{
		columns: memory.columns, rows: memory.rows, seen: memory.seen, shared: memory.shared, of: memory.of,
		same: memory.same, start: memory.start, notes: memory.notes, runs: memory.runs, at: memory.at,
	}
	workspace.Put(memory)
}

// Columns returns the numbers of the columns. A program that notes what it reads has them in place of
// the variables, and so knows which ones a part of them has.
func (p *Pattern) Columns() []float64 { return p.columns }

// Rows returns the numbers of the rows.
func (p *Pattern) Rows() []float64 { return p.rows }

// Group begins the next group.
func (p *Pattern) Group() {
	p.group = int32(len(p.same))
	p.same = append(p.same, p.group)
	p.start = append(p.start, int32(len(p.notes)))
}

// Shared ends the last group.
func (p *Pattern) Shared() { p.group = 0 }

// Read notes columns.
func (p *Pattern) Read(columns ...float64) {
	for _, f := range columns {
		c := int(f)
		switch {
		case p.group == 0:
			p.shared[c] = true
		case p.seen[c] != p.group:
			p.seen[c] = p.group
			p.notes = append(p.notes, int32(c))
		}
	}
}

// ReadAt notes column x[i], if there is one.
func (p *Pattern) ReadAt(x []float64, i int) {
	if 0 <= i && i < len(x) {
		p.Read(x[i])
	}
}

// Write notes rows.
func (p *Pattern) Write(rows ...float64) {
	for _, r := range rows {
		if p.group == 0 {
			continue
		}
		of := &p.of[int(r)]
		if *of == 0 {
			*of = p.group
		} else {
			p.same[p.first(p.group)] = p.first(*of)
		}
	}
}

// WriteAt notes row x[i], if there is one.
func (p *Pattern) WriteAt(x []float64, i int) {
	if 0 <= i && i < len(x) {
		p.Write(x[i])
	}
}

// first returns the group that stands for all that are the same as g.
func (p *Pattern) first(g int32) int32 {
	for p.same[g] != g {
		p.same[g] = p.same[p.same[g]]
		g = p.same[g]
	}
	return g
}

// Colors returns the number of colors. Nothing is noted from then on.
func (p *Pattern) Colors() int {
	p.gather()
	if p.colors == nil {
		p.paint()
	}
	return len(p.colors)
}

// ByRows reports whether there are more colors than rows, so that products with the transposed Jacobian,
// one for each row, are fewer. Nothing is noted from then on.
func (p *Pattern) ByRows() bool {
	p.gather()
	return p.least > len(p.of) || p.Colors() > len(p.of)
}

// gather makes the lists of groups, which get new numbers.
func (p *Pattern) gather() {
	if p.from != nil {
		return
	}
	if len(p.notes) > math.MaxInt32 {
		panic(rev.ShapeError[Pattern]("a sparse Jacobian", "has %d reads of variables, want fewer than 2³¹", len(p.notes)))
	}
	number, n := make([]int32, len(p.same)), int32(1)
	for g := int32(1); int(g) < len(p.same); g++ {
		if p.same[g] == g {
			number[g] = n
			n++
		}
	}
	p.start = append(p.start, int32(len(p.notes)))
	p.from = make([]int32, n+1)
	each := func(f func(g, c int32)) {
		for g := int32(1); int(g) < len(p.same); g++ {
			to := number[p.first(g)]
			for _, c := range p.notes[p.start[g]:p.start[g+1]] {
				if !p.shared[c] {
					f(to, c)
				}
			}
		}
	}
	each(func(g, _ int32) { p.from[g]++ })
	end := int32(0)
	for g, k := range p.from {
		p.from[g], end = end, end+k
	}
	p.cols = make([]int32, end)
	each(func(g, c int32) { p.cols[p.from[g]] = c; p.from[g]++ })
	begin, end := int32(0), int32(0)
	for g := range p.from {
		list := p.cols[begin:p.from[g]]
		begin, p.from[g] = p.from[g], end
		slices.Sort(list)
		k := copy(p.cols[end:], slices.Compact(list))
		end += int32(k)
		p.least = max(p.least, k)
	}
	for r, g := range p.of {
		p.of[r] = number[p.first(g)]
	}
	p.below = make([]int32, len(p.shared))
	k := int32(0)
	for c, shared := range p.shared {
		p.below[c] = k
		if shared {
			k++
		}
	}
	p.least += int(k)
}

// paint gives columns their colors, each the first that no column has with which it shares a group.
func (p *Pattern) paint() {
	color := make([]int32, len(p.shared))
	p.groups = p.lists()
	var last []int32 // of each color, the last column that may not have it
	p.colors = [][]int32{}
	for c := range color {
		color[c] = -1
		if len(p.groups(c)) == 0 {
			continue
		}
		k := -1
		if p.least < len(p.shared) { // or each column has its own
			for _, g := range p.groups(c) {
				for _, d := range p.cols[p.from[g]:p.from[g+1]] {
					if int(d) >= c {
						break
					}
					last[color[d]] = int32(c)
				}
			}
			k = slices.IndexFunc(last, func(d int32) bool { return int(d) != c })
		}
		if k < 0 {
			k = len(last)
			last = append(last, -1)
			p.colors = append(p.colors, nil)
		}
		color[c] = int32(k)
		p.colors[k] = append(p.colors[k], int32(c))
	}
	p.apart = len(p.colors)
	for c, shared := range p.shared {
		if shared {
			p.colors = append(p.colors, []int32{int32(c)})
		}
	}
}

// lists returns what returns the groups of a column.
func (p *Pattern) lists() func(c int) []int32 {
	from := make([]int32, len(p.shared)+2)
	for _, c := range p.cols[:p.from[len(p.from)-1]] {
		from[c+2]++
	}
	for c := range len(p.shared) {
		from[c+2] += from[c+1]
	}
	list := make([]int32, len(p.cols))
	for g := range len(p.from) - 1 {
		for _, c := range p.cols[p.from[g]:p.from[g+1]] {
			list[from[c+1]] = int32(g)
			from[c+1]++
		}
	}
	return func(c int) []int32 { return list[from[c]:from[c+1]] }
}

// Dense stores the Jacobian in dst. product stores its product with v in column. four, if it is not nil, does so
// with four vectors.
func (p *Pattern) Dense(dst *mat.Dense, product func(column, v []float64), four func(columns, v [4][]float64)) {
	p.Colors()
	raw := dst.RawMatrix()
	for r := range raw.Rows {
		clear(raw.Data[r*raw.Stride:][:raw.Cols])
	}
	p.products(product, four, raw.Data, func(r int) int { return r * raw.Stride }, func(c, _ int32) int32 { return c })
}

// Jacobian stores a Jacobian of which nothing is known in dst. product stores its product with v in column.
func Jacobian(dst *mat.Dense, product func(column, v []float64)) {
	p := NewPattern(dst.Dims())
	defer p.Free()
	p.Read(p.columns...)
	p.Dense(dst, product, nil)
}

// JacobianRows stores a Jacobian in dst by rows. product stores the product of w with it in row, and two does so with
// two vectors, if it is not nil.
func JacobianRows(dst *mat.Dense, product func(row, w []float64), two func(rows, w [2][]float64)) {
	m, _ := dst.Dims()
	first, second := make([]float64, m), make([]float64, m)
	i := 0
	for ; two != nil && i+1 < m; i += 2 {
		first[i], second[i+1] = 1, 1
		two([2][]float64{dst.RawRowView(i), dst.RawRowView(i + 1)}, [2][]float64{first, second})
		first[i], second[i+1] = 0, 0
	}
	for ; i < m; i++ {
		first[i] = 1
		product(dst.RawRowView(i), first)
		first[i] = 0
	}
}

// Sparse returns the Jacobian by rows, with columns in order, in the memory of the arguments if that is
// large enough.
func (p *Pattern) Sparse(ptr, ind []int32, data []float64, product func(column, v []float64), four func(columns, v [4][]float64)) (_, _ []int32, _ []float64) {
	p.Colors()
	var everywhere []int32 // the shared columns
	for _, columns := range p.colors[p.apart:] {
		everywhere = append(everywhere, columns[0])
	}
	ptr, n := slices.Grow(ptr[:0], len(p.of)+1), 0
	for _, g := range p.of {
		ptr = append(ptr, int32(n))
		n += int(p.from[g+1]-p.from[g]) + len(everywhere)
	}
	if n > math.MaxInt32 {
		panic(rev.ShapeError[Pattern]("a sparse Jacobian", "has %d elements, want fewer than 2³¹", n))
	}
	ptr = append(ptr, int32(n))
	ind = slices.Grow(ind[:0], n)
	for r, g := range p.of {
		if r > 0 && p.of[r-1] == g {
			ind = append(ind, ind[ptr[r-1]:ptr[r]]...)
			continue
		}
		own, all := p.cols[p.from[g]:p.from[g+1]], everywhere
		for len(own) > 0 && len(all) > 0 {
			if own[0] < all[0] {
				ind, own = append(ind, own[0]), own[1:]
			} else {
				ind, all = append(ind, all[0]), all[1:]
			}
		}
		ind = append(append(ind, own...), all...)
	}
	data = slices.Grow(data[:0], n)[:n]
	p.products(product, four, data, func(r int) int { return int(ptr[r]) }, func(c, g int32) int32 {
		own := p.cols[p.from[g]:p.from[g+1]]
		k := len(own)
		if k > 0 && c <= own[k-1] {
			k, _ = slices.BinarySearch(own, c)
		}
		return p.below[c] + int32(k)
	})
	return ptr, ind, data
}

// products stores the elements of rows, which begin at begin(r). In the rows of group g, column c is at
// place(c, g). Products are stored by blocks, so that rows are not visited for each of them.
func (p *Pattern) products(product func(column, v []float64), four func(columns, v [4][]float64), data []float64, begin func(r int) int, place func(c, g int32) int32) {
	const block = 32
	m, groups := len(p.of), len(p.from)-1
	stride := (m+7)/8*8 | 8 // an odd number of cache lines: those of a row's columns then have places of their own in a cache
	scratch := NewScratch[float64]()
	defer scratch.Free()
	n := len(p.shared)
	memory := scratch.take(block*stride + 4*n) // at once, so that no block is left in part
	clear(memory[block*stride:])
	var v [4][]float64
	for k := range v {
		v[k] = memory[block*stride+k*n:][:n:n]
	}
	for first := 0; first < len(p.colors); first += block {
		colors := p.colors[first:min(first+block, len(p.colors))]
		set := func(k int, to float64) {
			if k < len(colors) {
				for _, c := range colors[k] {
					v[k%4][c] = to
				}
			}
		}
		for k := range colors {
			set(k, 1)
			if four == nil || k >= len(colors)&^3 && len(colors)%4 < 3 {
				product(memory[k*stride:][:m], v[k%4])
				set(k, 0)
			} else if k%4 == 3 || k == len(colors)-1 {
				var columns [4][]float64
				for i := range columns {
					columns[i] = memory[(k&^3+i)*stride:][:m]
				}
				four(columns, v)
				for i := range columns {
					set(k&^3+i, 0)
				}
			}
		}
		own := max(0, min(p.apart-first, len(colors)))
		places := p.placed(colors, own, groups, place)
		width := len(places) / groups
		for r, g := range p.of {
			row, i := data[begin(r):], r
			for _, place := range places[int(g)*width:][:width] {
				if place >= 0 {
					row[place] = memory[i]
				}
				i += stride
			}
			if width < len(colors) {
				to := row[p.runs[g]:][:len(colors)-width]
				for k := range to {
					to[k] = memory[i]
					i += stride
				}
			}
		}
	}
}

// placed returns the places of some colors in the rows of each group, or -1. The first own ones are of columns that are
// not shared. If the columns of the others follow one another in all groups, it leaves them out, and p.runs has where
// they begin.
func (p *Pattern) placed(colors [][]int32, own, groups int, place func(c, g int32) int32) []int32 {
	p.runs = workspace.Grow(p.runs, groups)
	width, last := own, len(colors)-own-1
	for g := range p.runs {
		if last < 0 {
			continue
		}
		p.runs[g] = place(colors[own][0], int32(g))
		if int(place(colors[own+last][0], int32(g))-p.runs[g]) != last {
			p.runs[g], width = -1, len(colors)
		}
	}
	p.at = workspace.Grow(p.at, groups*width)
	for g, run := range p.runs {
		at := p.at[g*width:][:width]
		for k := range at {
			switch {
			case k < own:
				at[k] = -1
			case run >= 0:
				at[k] = run + int32(k-own)
			default:
				at[k] = place(colors[k][0], int32(g))
			}
		}
	}
	for k, columns := range colors[:own] {
		for _, c := range columns {
			for _, g := range p.groups(int(c)) {
				p.at[int(g)*width+k] = place(c, g)
			}
		}
	}
	return p.at
}
