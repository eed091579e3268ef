package science

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Each of these is easy to get wrong: what is copied, what is shared, and when.

func half(a, b float64) float64 { return a / b }

type counter struct {
	n int
	v float64
}

func (c *counter) step()        { c.n--; c.v *= 1.5 }
func (c *counter) get() float64 { return c.v }
func (c *counter) set(v float64) float64 {
	c.v = v
	return v * v
}

type wrapped struct {
	name string
	counter
}

type cell struct {
	x, y float64
	w    []float64
}

// raise changes the first cell, and uses c, which is as it was.
func raise(cells []cell, c cell) float64 {
	cells[0].x *= 3
	return c.x * cells[0].x
}

// traps has integer constants that are divided, counters without a sign, values that are
// declared again, copies, closures that change what a loop runs to, calls in order, methods of
// embedded structs, arrays, rows that are swapped, and pointers to elements.
//
//revgen:gradient x hessian
func traps(x []float64) float64 {
	s := x[0]*half(1, 2) + half(x[1], 2)*half(3, 4)
	for i := uint(0); i < 3; i++ {
		s += x[i] * x[i] * float64(i)
	}
	for i := range uint8(3) {
		s += math.Sin(x[i]) * float64(i+1)
	}
	a := x[0]
	a, c := a*a, a
	s += a * c

	cells := []cell{}
	_ = cells
	row := make([]cell, 2)
	for i := range row {
		row[i].x, row[i].y = x[i], x[i+1]
		row[i].w = make([]float64, 2)
		row[i].w[1] = x[i] * x[i+1]
	}
	s += raise(row, row[0])
	for i := range row {
		local := row[i]
		local.x += local.w[1]
		local.w[0] += local.x * local.x
		s += row[i].w[0]*row[i].x + local.x*local.y
	}

	n := 3
	shrink := func() float64 { n--; return x[n] }
	for i := 0; i < n; i++ {
		s += shrink() * x[i]
	}
	k := &counter{n: 4, v: x[2]}
	for i := 0; i < k.n; i++ {
		k.step()
		s += k.v * x[i]
	}
	s += k.get()*x[0] + k.set(x[1]*x[2])*k.get()
	w := wrapped{name: "w"}
	w.v = x[0] * x[1]
	w.step()
	s += w.get() * w.counter.v

	var arr [12]float64
	for i := range arr {
		arr[i] = x[i%3] * float64(i)
	}
	for i, v := range arr {
		arr[11-i] += v * v * 0.01
	}
	s += arr[3] * arr[9]

	m := [][]float64{{x[0], x[1]}, {x[1], x[2]}}
	if m[0][0] < m[1][1]+10 {
		m[0], m[1] = m[1], m[0]
		m[0][0] *= m[1][1]
	}
	m = append(m, []float64{x[2], s})
	s += m[0][0]*m[2][0] + m[1][0]*m[2][1]*0.1
	j := 0
	p := &row[j]
	j++
	p.x += x[2]
	s += p.x*p.y + row[j].x*row[0].x

	t := 0.5 * float64(strings.Count("abab", "a"))
	for range 3 {
		t = t*s*0.1 + math.Erfinv(0.1*math.Tanh(t)) + math.Erfcinv(1+0.1*math.Cos(t))
	}
	return t
}

// shifts copies between slices that overlap under other names.
//
//revgen:gradient x
func shifts(x []float64) float64 {
	y := append([]float64(nil), x...)
	later, z := y[1:], y
	copy(later, z) // y is x[0], x[0], x[1], ...
	later[1] *= x[2]
	for range 2 {
		w := later
		copy(z, w[1:])
		z[0] *= math.Sin(w[0])
	}
	s := 0.0
	for i, v := range y {
		s += v * v * float64(i+1)
	}
	return s
}

// weighted panics if there are more weights than elements of x, although its memory has more.
//
//revgen:gradient x
func weighted(x, weights []float64) float64 {
	sum := 0.0
	for i := range weights {
		sum += x[i] * weights[i]
	}
	return sum
}

// drift adds up differences that are much smaller than their operands.
//
//revgen:gradient x
func drift(x, y, z []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] - y[i] + z[i]
	}
	return sum
}

// chosen has loops that look as those of a running maximum do, and one that begins below zero.
//
//revgen:gradient x hessian
func chosen(x []float64, k int) float64 {
	sum := 0.0
	for i := range x {
		if i == k { // perhaps in no iteration
			sum += x[i] * x[i]
		}
	}
	largest, least := x[0]*x[4], x[1]
	for i := -2; i < 3; i++ {
		if x[i+2] > largest {
			largest = x[i+2]
		}
	}
	for i := 1; i < len(x); i++ {
		least = min(x[i], least)
	}
	return sum + largest*largest + least*least*least
}

// unrolled has loops over short arrays, with integers that wrap around, a literal in octal, and an index
// that is beyond an array where nothing reads it.
//
//revgen:gradient x
func unrolled(x []float64, n int) float64 {
	var g [6]float64
	var a [3]float64
	for i := range 6 {
		g[i] = x[i%len(x)]
		if i < n {
			a[i] = g[i] * g[i]
		}
	}
	var u uint
	var b uint8 = 200
	if u-1 > 5 && b+100 < 50 {
		g[1] *= 3
	}
	for i := range 010 {
		g[i%6] += x[0] * x[0]
	}
	return g[0]*g[1]*g[2] + g[3] - g[4]*g[5] + a[0]*a[1] + a[2]
}

// ordered returns its results in another order than they have.
func ordered(x, y float64, c, d cell, first int) (p, q float64, u, v cell) {
	p, q, u, v = x, y, c, d
	u.x *= 2
	if first == 0 {
		return q, p, v, u
	}
	return p, q, u, v
}

// arrays has a part of an array, and arrays of which a loop takes copies.
//
//revgen:gradient x
func arrays(x []float64) float64 {
	sum := 0.0
	for k := range 2 {
		p, q, u, v := ordered(x[0], x[1], cell{x[2], x[3], nil}, cell{x[3], x[1], nil}, k)
		a := [9]float64{p, q}
		tail := a[1:]
		for i := range tail {
			tail[i] = tail[i]*x[0] + p
		}
		w := [2][2]float64{{u.x, u.y}, {v.x, v.y}}
		for i, row := range w {
			row[0] *= 2
			w[1][i] += row[0] * row[1]
		}
		sum += a[0]*a[1] + a[8] + w[1][0]*w[1][1]*float64(k+2)
	}
	return sum
}

var mark = 3

type weights struct{ w []float64 }

// names has memory with two names, a variable of the package that is called as what is written would be, and
// a loop that changes the variable that it runs to.
//
//revgen:gradient x hessian
func names(x []float64) float64 {
	y := append([]float64(nil), x...)
	tail := y[1:]
	s := 0.0
	for i := range x {
		tail[0] = math.Sin(tail[0])
		s += y[1] * x[i]
	}
	z := make([]float64, 12)
	part := z[1:]
	for i := range x {
		z[1] = math.Sin(z[1] + x[i])
		s += part[0] * x[i]
	}
	p := weights{append([]float64(nil), x...)}
	w := p.w
	for i := range x {
		s += w[0] * x[i]
		p.w[0] = math.Sin(p.w[0])
	}
	for i := range x {
		v := make([]float64, 12)
		for j := range v {
			v[j] = float64(j) * math.Sin(x[i])
		}
		s += v[mark] * v[mark+1]
	}
	n := len(x)
	for i := range n {
		s += math.Sin(x[i]) * x[0]
		n--
	}
	return s
}

// places has indices that read what their assignment changes, and assignments of several places at once.
//
//revgen:gradient x hessian
func places(x []float64) float64 {
	to := []int{0, 2, 1}
	y := x[0]
	for i := range x {
		y *= 1 + math.Sin(x[to[0]])
		to[to[0]] = i % 3
	}
	at := []int{1, 0, 2}
	z := append([]float64(nil), x...)
	for i := range x {
		at[at[0]]++
		at[0] %= 3
		at[1] %= 3
		at[at[1]%3], at[0] = i%2, at[2]%3
		z[at[0]] *= math.Cos(z[1])
		j := 0
		j, z[j] = 2, z[1]*z[2]
		y += z[j] * z[0]
	}
	w := append([]float64(nil), x...)
	for range x {
		w[int(10*w[0]*w[0])%3] = math.Sin(w[1] + w[0]*w[2])
	}
	k, v := 0, append([]float64(nil), x...)
	for range 2 {
		for k, v[k] = range x { // v[k] is that of the k from before
			y += v[k] * v[0]
		}
	}
	return y + w[0]*w[1]*w[2]
}

// made returns rows of x, of which each is another permutation of it.
func made(x []float64, step int) [][]float64 {
	rows := make([][]float64, len(x))
	for i := range rows {
		rows[i] = make([]float64, len(x))
		for j := range rows[i] {
			rows[i][j] = x[(i*step+j)%len(x)]
		}
	}
	return rows
}

// swappedRows replaces rows of slices that were swapped.
//
//revgen:gradient x hessian
func swappedRows(x []float64) float64 {
	m, v := made(x, 2), made(x, 3)
	s := v[1][0]
	m, v = v, m
	m[1] = v[2]
	s += m[1][1] * m[1][2]
	for c := range x {
		m, v = v, m
		for j := range x {
			s += math.Sin(float64(j+c)*v[j][c]) * v[1][c]
		}
		m[1] = v[c]
	}
	u := m
	t := u[0][1]
	m[0] = v[1]
	return s + t*u[0][2]
}

// remade multiplies by a number that changes between two products of one cotangent.
//
//revgen:gradient x hessian
func remade(x []float64, n int) float64 {
	w, b, s := x[2], x[0]*x[2], 0.0
	for i := 0; i < n; i++ {
		t := b * 0.3
		w = 1.5 + math.Sin(w)
		u := t*w + b*0.1
		s += u * u
	}
	return s
}

// inner has a sine and a cosine in a branch that may not be taken, and each again after it.
//
//revgen:gradient x hessian
func inner(x []float64, n int) float64 {
	a := x[0]
	if n > 0 {
		v := x[1] * x[0]
		if n > 1 {
			s, c := math.Sincos(v)
			a = s * a / (2 + c)
		}
		a *= math.Sin(v) + 2
		a += math.Cos(v)
	}
	return a
}

type greek struct{ µ, éa float64 }

// named has fields whose names do not begin with ASCII.
//
//revgen:gradient x
func named(x []float64) float64 {
	var v greek
	v.µ, v.éa = x[0]*x[1], x[2]
	return v.µ*v.éa + v.µ*v.µ
}

// again adds a local to its result several times.
//
//revgen:gradient x
func again(x []float64) float64 {
	q := math.Sin(x[0]) / (1 + x[1]*x[1])
	return q + q + q
}

// stepped has a loop whose body always goes on by continue, once with a label.
//
//revgen:gradient x hessian
func stepped(x []float64, n int) float64 {
	s := x[0]
steps:
	for i := 0; i < n && s < 100; i++ {
		if i%2 == 0 {
			s = math.Sin(s * x[1])
			continue
		}
		s += x[2] * s
		continue steps
	}
	return s
}

type couple struct{ u, w []float64 }

// selves assigns variables and elements to themselves, sets some twice in one assignment, and exchanges an
// element with itself.
//
//revgen:gradient x hessian
func selves(x []float64, n int) float64 {
	n %= len(x)
	a, b := x[0]*x[1], math.Sin(x[2])
	short := []float64{a, b, 1, x[2]}
	list, other := append([]float64(nil), x...), make([]float64, len(x))
	rows := [][]float64{list, other, {a, b, x[0]}}
	s := 0.0
	for i := range x {
		a = a
		a, b = b, b
		a, a = a*x[i], b*x[i] // the second stays
		list, list = list, list
		list = list
		short, short = short, short
		short[n], short[n] = short[n], short[n]
		short[n], short[i] = short[i], short[n]
		short[i], short[i] = 2, short[n]*a
		rows[n], rows[n] = rows[n], rows[n]
		rows[n], rows[i], rows[0] = rows[i], rows[0], rows[n]
		rows[0], rows[1] = rows[1], rows[1]
		rows[0][i] *= a
		list, other = other, other
		list[i] += a * b
		rows[1] = list
		b += list[n] * short[i]
		s += rows[n][i] * a
	}
	rest := rows[1:]
	for i := 0; i < 2 && len(rest) > 0; rest, i = rest[1:], i+1 {
		rest[0][i] += s * b
		s += rest[0][i] * x[i]
	}
	p := &short[n]
	*p, *p = a, *p*s
	short[0], *p = *p, short[0]
	q := couple{list, other}
	q.u, q.w = q.w, q.w
	q, q = q, q
	q.u[n] *= b
	z := complex(a, b)
	z, z = z, z*z
	return s + short[0]*short[3] + list[0]*other[1] + q.w[2] + real(z)*imag(z)
}

type meters float64

// inside has types that a function declares, and numbers of other types than float64.
//
//revgen:gradient x hessian
func inside(x []float64, n int) float64 {
	type number float64
	type own struct {
		u number
		w []float64
	}
	list := []own{{u: number(x[0]), w: slices.Clone(x)}, {u: number(x[1]), w: []float64{x[0], 1, x[2]}}}
	p := make([]own, len(x))
	for i := range p {
		p[i] = list[i%2]
		p[i].u *= number(p[i].w[i])
	}
	far := make([]meters, len(x))
	for i, v := range x {
		far[i] = meters(v * v)
		if i > 0 {
			far[i] *= far[i-1]
		}
	}
	lengths := meters(x[n%len(x)])
	return float64(p[0].u*p[1].u+p[2].u) + float64(far[2]*lengths)
}

type (
	Max   float64
	Log   float64
	Floor float64
	rows  int
	cols  int
)

type limits struct {
	hi Max
	lo Log
}

// titled converts to types that are called as functions are.
//
//revgen:gradient x hessian
func titled(x []float64, n int) float64 {
	l := limits{Max(x[0] * x[1]), Log(x[1] * x[2])}
	f := Floor(x[0])
	f *= Floor(x[1] * x[2])
	r, c := rows(2*n), cols(n+1)
	return float64(l.hi*l.hi)*float64(r) + float64(l.lo*l.lo*Log(x[0]))*float64(c) + float64(f*f) + x[2]
}

type (
	twig struct {
		sub []twig
		w   float64
	}
	box[T any] struct{ of []T }
	kind       int
)

// mixture returns a function of x, with types that are made of T.
func mixture[T ~float64](x []T, n int) float64 {
	type pair struct {
		u T
		w []T
	}
	type part = []T
	p := make([]pair, len(x))
	s := T(0)
	for i := range p {
		p[i] = pair{x[i], slices.Clone(x)}
		p[i].w[n%len(x)] *= x[i]
		for j := range x {
			p[i].u *= p[i].w[j] + 1
		}
		b := box[T]{part{p[i].u, x[0]}}
		s += b.of[0] * b.of[1]
	}
	return float64(s)
}

// written has types that can not be written as they are declared: inside of a function, one in another, with
// the same letters, made of themselves, and of others.
//
//revgen:gradient x hessian
func written(x []float64, n int) float64 {
	type number = float64
	type base struct{ u float64 }
	type own struct {
		base
		number
		w []float64
	}
	type same struct {
		u float64
		w []float64
	}
	type also struct {
		u []float64
		w float64
	}
	type grown struct{ t twig }
	w := make([]number, len(x))
	list := make([]own, len(x))
	to, and := make([]same, len(x)), make([]also, len(x))
	boxes := box[own]{list}
	g := grown{twig{make([]twig, 2), x[0]}}
	s := 0.0
	for i, v := range x {
		w[i] = v * v
		list[i] = own{base{w[i]}, w[i], slices.Clone(x)}
		list[i].u *= list[i].w[n%len(x)]
		list[i].number *= list[i].base.u
		to[i] = same{boxes.of[i].u * v, list[i].w}
		and[i] = also{to[i].w, to[i].u * v}
		here, there := to, and
		if i > n {
			here, there = to[1:], and[1:]
		}
		here[0].u *= v
		there[0].w *= here[0].u
		g.t.sub[i%2].w += v * list[i].number
		g.t.w *= g.t.sub[0].w
		s += to[i].u*and[i].w*and[i].u[0] + g.t.sub[1].w
	}
	for k := range kind(3) {
		s += x[k] * float64(k+kind(n))
	}
	{
		time := x[0] * x[1]
		s += time * math.Sin(time)
	}
	span := time.Duration(n)
	s *= float64(span + 2)
	return s + g.t.w*list[1].u + mixture(x, n)
}

// replaced adds an element to another one that may be the same, under another name, and then replaces it.
//
//revgen:gradient x
func replaced(x []float64, j, k int) float64 {
	y := append([]float64(nil), x...)
	z := y
	z[j] += 2 * y[k]
	y[k] = 1
	return y[0]*y[1] + math.Sin(y[2])
}
