package science

import (
	"errors"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Functions in variables that change, deferred calls, and interfaces in fields.

func bent(x float64) float64 { return x + 0.1*math.Sin(3*x) }

// activations chooses functions in branches, loops and literals, that see what is around them.
//
//revgen:gradient x hessian value
func activations(x []float64, kind int) float64 {
	a, h := x[0], math.Cos
	f := bent
	if kind > 0 {
		f = func(v float64) float64 { return v*v*a + x[1] }
	}
	s := f(x[0])
	a *= 2
	s += f(x[1])
	g := f
	for i, v := range x {
		if i == kind {
			f = h
		} else if i == 2 {
			f, g = func(v float64) float64 { return math.Sin(v) * a }, bent
		}
		s += f(v) * g(v*s)
		if i == 1 {
			f = bent
		}
	}
	var last func(a, b float64) (float64, float64)
	if last != nil {
		s = 0
	}
	switch kind {
	case 0:
		last = func(a, b float64) (float64, float64) { s++; return b, a * b }
	default:
		last = swapped
	}
	p, q := last(s, x[2])
	return p*q + applied2(f, s) + s
}

func swapped(a, b float64) (float64, float64) { return b * b, math.Sin(a) }

func applied2(f func(float64) float64, x float64) float64 { return f(f(x)) }

// response returns one of several functions, which know its arguments.
func response(name string, a float64) func(float64) float64 {
	b := a * a
	switch name {
	case "tanh":
		return math.Tanh
	case "scaled":
		return func(x float64) float64 { return b * x * a }
	case "":
		panic("response: no name")
	}
	if a > 10 {
		return bent
	}
	return func(x float64) float64 { return math.Exp(-a * x * x) }
}

// layered has what functions with several returns return, which are called later, and given to others.
//
//revgen:gradient x hessian
func layered(x []float64, names []string) float64 {
	s := x[0]
	first := response("scaled", x[1])
	for i, name := range names {
		f := response(name, x[i])
		s += f(s) + first(x[2]) + response(name, 0.5)(s)*applied2(f, x[1])
	}
	return s
}

// clipped has a function that may be nil.
//
//revgen:gradient x
func clipped(x []float64, penalty bool) float64 {
	var p func(float64) float64
	if penalty {
		p = func(v float64) float64 { return v * v * v }
	}
	return clippedBy(x, p) + clippedBy(x, nil) + observed(x, math.Cos) + observed(x, nil)*observed(x, p)
}

// observed calls a function unless it is nil.
func observed(x []float64, p func(float64) float64) float64 {
	s := x[0]
	for _, v := range x {
		if p != nil {
			s += p(v)
		}
	}
	return s
}

func clippedBy(x []float64, p func(float64) float64) float64 {
	if p == nil {
		p = math.Sin
	}
	s := 0.0
	for _, v := range x {
		s += p(v)
	}
	return s
}

var errTooFar = errors.New("science: too far")

type survey struct {
	sync.Mutex
	seen sync.RWMutex
	n    int
	y    []float64
}

// Misfit holds locks as long as its gradient runs, and has deferred calls that change the result, in branches too.
//
//revgen:gradient x hessian
func (s *survey) Misfit(x []float64) (loss float64, err error) {
	s.Lock()
	defer s.Unlock()
	s.seen.RLock()
	defer s.seen.RUnlock()
	k := 2.0
	defer func() { loss *= k * x[0] }()
	defer s.count(len(x))
	for i, y := range s.y {
		r := math.Sin(x[0]*float64(i)) + x[1] - y
		loss += r * r
		if loss > 1e3 {
			return loss, errTooFar
		}
	}
	if x[1] > 0 {
		defer func(a float64) { loss += a * x[1] }(loss)
		loss *= x[1]
	}
	k = x[1]
	return loss + closed(x), nil
}

func (s *survey) count(n int) { s.n += n }

// closed has a deferred call of its own.
func closed(x []float64) (y float64) {
	a := x[0]
	defer func() { y += a * a }()
	a *= x[1]
	return a * 3
}

type covariance interface {
	at(r float64) float64
	scale() float64
}

type matern struct{ length, power float64 }

func (m *matern) at(r float64) float64 {
	u := r / m.length
	return math.Pow(1+u, m.power) * math.Exp(-u)
}

func (m *matern) scale() float64 { return 2 }

type spatial struct {
	cov   covariance
	at    []float64
	noise interface{ level(i int) float64 }
}

type even struct{ a *mat.VecDense }

func (e even) level(i int) float64 { return e.a.AtVec(i) }

type constantNoise struct{}

func (constantNoise) level(int) float64 { return 0.5 }

func newSpatial(at []float64) *spatial {
	return &spatial{cov: &matern{0.8, 1.5}, at: at, noise: even{mat.NewVecDense(3, []float64{1, 0.5, 2})}}
}

var field = newSpatial([]float64{0.1, 0.5, 0.9})

// Energy calls methods of interfaces that its receiver and a variable of the package hold.
//
//revgen:gradient x hessian
func (s *spatial) Energy(x []float64) float64 {
	e := 0.0
	var local covariance = &matern{length: x[0] * x[0], power: 1.2}
	var noise interface{ level(i int) float64 } = constantNoise{}
	for i := range x {
		e += local.at(x[i]*x[i]) * noise.level(i)
		for j := range i {
			e += x[i] * s.cov.at(math.Abs(x[i]-x[j])+s.at[i]) * field.cov.scale()
		}
		e += s.noise.level(i) * x[i] * x[i]
	}
	return e * s.cov.scale()
}

// unset calls a function that is nil if n is 0.
//
//revgen:gradient x
func unset(x []float64, n int) float64 {
	var f func(float64) float64
	if n > 0 {
		f = bent
	}
	return f(x[0])
}

// bindings has deferred calls of functions that change, or are made, later.
//
//revgen:gradient x hessian
func bindings(x []float64, n int) (r float64) {
	g := func(v float64) { r += math.Sin(v * x[1]) }
	if n > 1 {
		g = func(v float64) { r -= v }
	}
	s := x[0]
	add := func(a float64) func(v float64) {
		b := a * a
		s *= 2
		return func(v float64) { r += b * v * s }
	}
	defer g(s)
	defer add(s)(x[1] * s)
	if n > 2 {
		g = nil
	} else {
		g = func(v float64) { r *= v * v }
	}
	s *= x[2]
	return s*x[1] + x[2]
}

// leaving has deferred calls where the function may have returned, in a loop and in a function that calls itself.
//
//revgen:gradient x hessian
func leaving(x []float64, n int) float64 {
	s := 0.0
	for i := range x {
		s += early(x, i+n-1) * x[i]
	}
	return s * falling(x, n)
}

type offset struct{ by float64 }

func early(x []float64, k int) (r float64) {
	if k <= 0 {
		return x[1]
	}
	for j := range k {
		if j == 2 {
			return x[0] * x[2]
		}
	}
	a, o := x[2], offset{x[0]}
	defer func(b float64) { r *= a + b*o.by }(a)
	a *= x[1]
	o.by += a
	return a * x[0]
}

func falling(x []float64, k int) (r float64) {
	defer func() { r += x[k%3] * x[0] }()
	if k == 0 {
		return x[1]
	}
	a := x[2]
	defer func(b float64) { r *= a + b }(a)
	a *= x[1]
	return falling(x, k-1) * x[0]
}

// embedding has embedded interfaces, one of them in a struct in a struct.
type embedding struct {
	covariance
	*sloped
	n int
}

type sloped struct {
	slope interface{ of(x float64) float64 }
	rise
}

type rise interface{ level(i int) float64 }

func newEmbedding() *embedding {
	return &embedding{&matern{0.8, 1.5}, &sloped{ramp{2}, even{mat.NewVecDense(3, []float64{1, 0.5, 2})}}, 3}
}

// Sum calls their methods as its own.
//
//revgen:gradient x value hessian
func (e *embedding) Sum(x []float64) float64 {
	s := 0.0
	for i := range e.n {
		s += e.at(x[i]*x[i]) * e.level(i) * e.slope.of(x[i])
	}
	return s * e.covariance.scale() * e.scale()
}

// optional has interfaces that may be nil.
type optional struct {
	cov   covariance
	level interface{ of(x float64) float64 }
}

type ramp struct{ a float64 }

func (s ramp) of(x float64) float64 { return s.a * x }

func newOptional(all bool) *optional {
	if !all {
		return &optional{}
	}
	return &optional{&matern{0.8, 1.5}, ramp{3}}
}

// Score calls them if there are any.
//
//revgen:gradient x hessian
func (o *optional) Score(x []float64) float64 {
	s := x[0] * x[1]
	if o.cov != nil {
		s += o.cov.at(x[1] * x[1])
	}
	if nil == o.level {
		s++
	} else {
		s *= o.level.of(x[0])
	}
	return s * x[2]
}

// Bare calls one unless n is 0.
//
//revgen:gradient x
func (o *optional) Bare(x []float64, n int) float64 {
	if n == 0 {
		return x[0] * x[1]
	}
	return o.level.of(x[0])
}

// anchors has a pointer to an element of a slice that is set later.
//
//revgen:gradient x
func anchors(x []float64) float64 {
	c := []ramp{{x[0]}, {x[1]}}
	p := &c[0]
	c = c[1:]
	p.a *= x[2]
	return x[0]*x[1] + c[0].a*p.a
}

type branch struct {
	ends []ramp
	two  [2]ramp
}

// anchorsInside has pointers to what slices in structs and slices hold before they are set, two of them at once.
//
//revgen:gradient x value hessian
func anchorsInside(x []float64) float64 {
	c := [][]ramp{{{x[0]}}, {{x[1]}}}
	b := []branch{{[]ramp{{x[1]}}, [2]ramp{{x[2]}, {2}}}}
	p, q := &c[0][0].a, &b[0].ends[0]
	r := &b[0].two[1].a
	c[0] = []ramp{{x[1] * x[2]}}
	*p *= x[2]
	b[0] = branch{[]ramp{{x[0] * x[0]}}, [2]ramp{{x[0]}, {*p}}}
	q.a, *r = *p*q.a, *r*x[0]
	return c[0][0].a*q.a + b[0].two[1].a*b[0].ends[0].a*c[1][0].a
}

type state struct{ w [5]float64 }

// sections copies to and from parts of arrays in structs, which may overlap.
//
//revgen:gradient x value hessian
func sections(x []float64) float64 {
	l := make([]state, 2)
	for i := range l {
		copy(l[i].w[2:], x[i:])
		copy(l[i].w[:], l[i].w[2:])
	}
	s := l[1]
	copy(s.w[1:4], s.w[:])
	s.w[1] *= s.w[2]
	copy(l[0].w[1:], s.w[:3])
	y := make([]float64, 4)
	copy(y, l[0].w[:])
	return y[0]*y[1] + y[2]*y[3]*l[1].w[0]
}

// letters reads the letters of a parameter, of a part of it, and of a constant.
//
//revgen:gradient x value hessian
func letters(x []float64, formula string) float64 {
	s := x[0]
	for i := 0; i < len(formula); i++ {
		switch c := formula[i]; c {
		case 'H':
			s *= x[1] * float64(c-'A')
		case "CO"[i/2%2]:
			s += x[2] * x[0]
		default:
			s += x[formula[i]-'0'] * s
		}
		if rest := formula[i:]; len(rest) > 1 && rest[1] == 'O' {
			s *= x[2]
		}
	}
	return s
}

type bell struct {
	width float64
	scale []float64
}

func (b bell) at(r float64) float64 {
	b.width *= 2 // of a copy
	return math.Exp(-r*r/(b.width*b.width)) * b.scale[0]
}

func (b *bell) wider(r float64) float64 {
	b.width += 0.1
	return r * b.width
}

func threeTimes(f func(float64) float64, a, b float64) float64 { return f(a) + 4*f((a+b)/2) + f(b) }

// methods passes methods of values on: they have a copy of their receiver, or a pointer to it. So do methods of what
// an interface holds, and of another package.
//
//revgen:gradient x value hessian
func (e *embedding) methods(x []float64) float64 {
	b := bell{x[0] + 2, []float64{x[1], 1}}
	other := (&bell{x[2], nil}).wider
	f, g := b.at, b.wider
	h := bell{x[1] + 2, []float64{x[0]}}.at
	b.width *= x[2]
	b.scale[0] *= x[0]
	s := threeTimes(f, 0, x[1]) * threeTimes(h, x[0], 1) * threeTimes(b.at, -1, 1)
	if x[0] > 0 {
		g = other
	}
	s += threeTimes(g, x[0], x[1]) * b.width
	l := []bell{b, {x[1] + 3, b.scale}}
	first := l[0].wider // of an element that l does not have later
	l = []bell{{x[0] * x[2], b.scale}, l[1]}
	s += first(x[1]) * first(x[2])
	for i := range l {
		s += threeTimes(l[i].at, 0, x[i]) * threeTimes(l[i].wider, 0, x[2])
	}
	normal := distuv.Normal{Mu: x[0], Sigma: 1 + x[1]}
	return s + threeTimes(e.slope.of, x[0], x[1])*threeTimes(normal.Prob, 0, x[2])
}

// broken leaves switches, also from a loop inside.
//
//revgen:gradient x value hessian
func broken(x []float64, n int) float64 {
	s := x[0]
outer:
	switch {
	case n > 1:
		for i := range 4 {
			s *= x[1]
			if i == n {
				break outer
			}
		}
		s += x[0] * x[0]
	case n == 1:
		if s > 0.5 {
			break
		}
		s = 3 * x[1]
		fallthrough
	default:
		s *= s
	}
	for i := range x {
		switch {
		case s < x[2]:
			continue
		case i == n:
			break
		default:
			s *= x[i]
		}
		s += x[i]
	}
	return s * x[2]
}

// inVain has variables in a loop that only set each other. The loop becomes calls of package num, which leave them out.
//
//revgen:gradient x value hessian
func inVain(x []float64, n int) float64 {
	k := x[2-n]
	s := 0.0
	for _, e := range x {
		u, v := e, k
		u = k*e - 2.5
		u, v = v, u
		sin, cos := math.Sincos(e)
		s += sin * cos
	}
	return s
}
