package plusplus

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSeed(t *testing.T) {
	x := []float64{0, 0, 5, 9, 9}
	dist := slices.Repeat([]float64{math.Inf(1)}, len(x))
	var centres []float64
	ctx, cancel := context.WithCancel(t.Context())
	add := func(n, point int) {
		if n != len(centres) {
			t.Errorf("centre %d comes as number %d", len(centres), n)
		}
		centres = append(centres, x[point])
		for i, v := range x {
			dist[i] = min(dist[i], (v-x[point])*(v-x[point]))
		}
	}
	if !Seed(ctx, rand.New(rand.NewPCG(2, 7)), 3, dist, add) {
		t.Error("not done")
	}
	// Points where a centre is are chosen no more.
	slices.Sort(centres)
	if !slices.Equal(centres, []float64{0, 5, 9}) {
		t.Errorf("centres %v", centres)
	}
	cancel()
	if Seed(ctx, rand.New(rand.NewPCG(2, 7)), 3, dist, add) || len(centres) != 3 {
		t.Errorf("%d centres after the end", len(centres))
	}
}

func TestWeighted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 6))
	w := []float64{0, 1, 0, 3, 0}
	var counts [5]int
	for range 4000 {
		counts[weighted(rnd, w, 0)]++
	}
	// Four standard deviations around 3000.
	if counts[1]+counts[3] != 4000 || !(math.Abs(float64(counts[3]-3000)) <= 4*math.Sqrt(750)) {
		t.Errorf("counts %v for weights %v", counts, w)
	}
	if got := weighted(rnd, make([]float64, 3), 2); got != 2 {
		t.Errorf("all weights 0: %d, want 2", got)
	}
}
