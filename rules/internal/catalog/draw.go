package catalog

import (
	"math/rand/v2"
	"reflect"
	"strings"

	"revnum/internal/draw"
	"revnum/internal/logs"
	"revnum/rev"
)

// A problem says how the operands of a kernel are drawn, and an operand is one of them.
type (
	problem = draw.Problem
	operand = draw.Operand
)

// An option changes a problem.
type option func(*problem)

// dims gives values to names in shape tags, and to int fields, as in "m=r n=r+c".
func dims(list string) option {
	return func(p *problem) {
		for _, d := range strings.Fields(list) {
			name, value, _ := strings.Cut(d, "=")
			p.Dims = append(p.Dims, [2]string{name, value})
		}
	}
}

// withDraw makes f draw an operand.
func withDraw(name string, f func(*operand)) option {
	return func(p *problem) { p.Draws[name] = f }
}

// positive draws numbers between 1/2 and 3/2.
func positive(names ...string) option {
	return func(p *problem) {
		for _, name := range names {
			p.Draws[name] = func(o *operand) { o.Each(func(_, _ int) float64 { return 0.5 + o.Float64() }) }
		}
	}
}

// drawBelow draws indices below a number, an expression of dimensions.
func drawBelow(name, number string) option {
	return withDraw(name, func(o *operand) {
		n := o.Number(number)
		o.Each(func(_, _ int) float64 { return float64(o.IntN(max(1, n))) })
	})
}

// adjust changes the kernel when its operands are there.
func adjust[K any](f func(k *K)) option {
	return func(p *problem) { p.Adjust = func(k reflect.Value) { f(k.Addr().Interface().(*K)) } }
}

// set gives a field that is no operand a value.
func set(name string, value any) option {
	return func(p *problem) { p.Fields[name] = value }
}

// over returns the instances of the kernel with a name such as "revlinalg.Dot". Problems are drawn by the options.
func over(name string, options ...option) []Instance {
	p := &problem{Fields: make(map[string]any), Draws: make(map[string]func(*operand))}
	for _, option := range options {
		option(p)
	}
	if kernels[name] == nil {
		panic("catalog: there is no kernel " + name)
	}
	var list []Instance
	for _, kernel := range kernels[name] {
		ops := rev.OperandsOf(kernel.Kernel)
		list = append(list, Instance{
			Type: kernel.Kernel, Operands: ops, NewFrame: kernel.NewFrame,
			New: func(rnd *rand.Rand, r, c int) any {
				v := reflect.New(kernel.Kernel).Elem()
				p.Fill(v, ops, rnd, r, c)
				return v.Interface()
			},
		})
	}
	return list
}

// dominant draws a matrix whose diagonal dominates and has values that lie apart. Its
// eigenvalues and singular values therefore lie apart too. If it is square it is
// symmetric.
func dominant(o *operand) {
	a := make(map[[2]int]float64)
	o.Each(func(i, j int) float64 {
		x := o.Normal()
		if mirror, ok := a[[2]int{j, i}]; ok && o.Rows == o.Cols {
			x = mirror
		}
		if i == j {
			x += float64(3*max(o.Rows, o.Cols) + 4*i)
		}
		a[[2]int{i, j}] = x
		return x
	})
}

// triangle draws the lower triangle of a symmetric matrix whose diagonal dominates and
// whose eigenvalues lie apart.
func triangle(o *operand) {
	for i := range o.Rows {
		if i > 0 {
			o.Put(i, o.IntN(i), o.NormFloat64()/4)
		}
		o.Put(i, i, float64(3*i+3))
	}
}

// everyRow draws indices of all r rows, one after the other.
func everyRow(o *operand) {
	o.Each(func(i, _ int) float64 { return float64(i % o.Number("r")) })
}

// probability draws numbers between 1/4 and 3/4.
func probability(o *operand) {
	o.Each(func(_, _ int) float64 { return 0.25 + o.Float64()/2 })
}

// drawApart draws numbers that lie apart.
func drawApart(o *operand) {
	o.Each(func(i, _ int) float64 { return o.Normal() + float64(4*i) })
}

// speeds draws the squares of speeds at which a wave is stable.
func speeds(o *operand) {
	o.Each(func(_, _ int) float64 { return 0.12 + float64(0.1*o.Float64()) })
}

// aboveSums draws logs that are not much smaller than the logs of sums.
func aboveSums(o *operand) {
	most := logs.Log(float64(1 + o.Number("r") + o.Number("c")))
	o.Each(func(_, _ int) float64 { return o.Normal() + most })
}

// cameras draws cameras that see points near the origin in front of them.
func cameras(o *operand) {
	o.Each(func(_, j int) float64 {
		if j == 5 { // the distance
			return -8
		}
		return o.Normal() / 4
	})
}
