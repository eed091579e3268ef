package science

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
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
