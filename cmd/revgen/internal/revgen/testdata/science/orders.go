package science

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
)

// Slices that are sorted.

type patient struct {
	Time  float64
	Event bool
	X     []float64
}

//revgen:gradient beta hessian value
func survival(beta []float64, subjects []patient) float64 {
	order := make([]int, len(subjects))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return subjects[order[a]].Time > subjects[order[b]].Time })
	var ll, risk float64
	for _, i := range order {
		s := subjects[i]
		eta := 0.0
		for j, v := range s.X {
			eta += v * beta[j]
		}
		risk += math.Exp(eta)
		if s.Event {
			ll += eta - math.Log(risk)
		}
	}
	return -ll
}

//revgen:gradient x hessian value
func sortedWeights(x []float64) (float64, error) {
	if len(x) == 0 {
		return 0, fmt.Errorf("no data: %v", x[:0])
	}
	y := append([]float64(nil), x...)
	s := 0.0
	for k := range 2 {
		for i := range y {
			y[i] = math.Sin(float64(k+1) * y[i])
		}
		sort.Float64s(y)
		for i, v := range y {
			s += v * v * float64(i+k)
		}
	}
	return s, nil
}

type orderedPoint struct {
	t, v float64
	k    int
}

//revgen:gradient x value
func orderedPoints(x []float64) float64 {
	var ps []orderedPoint
	for i, v := range x {
		ps = append(ps, orderedPoint{v * v, v, i % 2})
	}
	slices.SortFunc(ps, func(a, b orderedPoint) int { return cmp.Compare(a.t, b.t) })
	s := 0.0
	for i, p := range ps {
		s += p.v * p.t * float64(i)
	}
	sort.SliceStable(ps, func(i, j int) bool {
		if ps[i].k != ps[j].k {
			return ps[i].k < ps[j].k
		}
		return ps[i].v > ps[j].v
	})
	for i, p := range ps {
		s += math.Sin(p.v) * p.t * float64(i*i)
	}
	return s
}

// sharedRoom appends where another name reads what the memory had before.
//
//revgen:gradient x hessian value
func sharedRoom(x []float64) float64 {
	y := make([]float64, 0, 4)
	full := y[:4]
	s := 0.0
	for i := range full {
		full[i] = x[i] * x[i+1]
	}
	for i := range full {
		s += full[i] * full[i]
		y = append(y, x[i]*x[i+3])
	}
	z := full[:1]
	s += z[0] * y[3] * x[0]
	var w []float64
	for i := range 7 {
		w = append(w, x[i], x[i]*x[0])
	}
	v := w
	w = append(w, x[0], x[1], x[2])
	w[0] = x[1] * x[1] // Go has made new memory
	return s + v[0]*x[3] + w[0]*float64(cap(x[1:4])-cap(x[2:]))
}

// freshDiagonals makes matrices of slices that each iteration makes.
//
//revgen:gradient x value
func freshDiagonals(x []float64) float64 {
	var ds [3]*mat.DiagDense
	for k := range ds {
		y := make([]float64, 2)
		y[0], y[1] = x[k], x[k+1]*x[k]
		z := y[:]
		ds[k] = mat.NewDiagDense(1, z[:1])
	}
	s := 0.0
	for k := range ds {
		s += ds[k].At(0, 0) * x[4] * float64(k+1)
	}
	return s
}

// notNumbers sorts, by Go's order, numbers of which some are NaN: these come first.
//
//revgen:gradient x value
func notNumbers(x []float64) float64 {
	y, z := append([]float64(nil), x...), append([]float64(nil), x...)
	y[2], z[3] = math.NaN(), math.NaN()
	sort.Float64s(y)
	slices.Sort(z)
	s := 0.0
	for i := 1; i < len(x); i++ {
		s += y[i] * y[i] * float64(i) * z[i]
	}
	return s
}

// stableTies sorts many elements with ties.
//
//revgen:gradient x value
func stableTies(x []float64) float64 {
	ps, qs := make([]orderedPoint, 50), make([]orderedPoint, 50)
	for i := range ps {
		ps[i] = orderedPoint{x[i%7], x[i%5] * float64(i), i * 7 % 3}
		qs[i] = ps[i]
	}
	sort.SliceStable(ps[:50], func(i, j int) bool { return ps[i].k < ps[j].k })
	slices.SortStableFunc(qs, func(a, b orderedPoint) int { return cmp.Compare(a.k, b.k) })
	s := 0.0
	for i := range ps {
		s += ps[i].v*ps[i].t*float64(i*i) + qs[i].v*float64(i)
	}
	return s
}

// byWeight sorts by an order with a switch, and if with else.
//
//revgen:gradient x
func byWeight(x []float64) float64 {
	y := append([]float64(nil), x...)
	slices.SortFunc(y, func(a, b float64) int {
		switch {
		case a*a > b*b:
			return -1
		case a*a < b*b:
			return 1
		}
		return 0
	})
	s := 0.0
	for i, v := range y {
		s += v * v * v * float64(i+1)
	}
	sort.Slice(y, func(i, j int) bool {
		if y[i] < 0.2 {
			if y[j] >= 0.2 {
				return true
			}
		} else if y[j] < 0.2 {
			return false
		} else {
			return y[i] > y[j]
		}
		return y[i] < y[j]
	})
	for i, v := range y {
		s += v * v * float64(i)
	}
	return s
}
