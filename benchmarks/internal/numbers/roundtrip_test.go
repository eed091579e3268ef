package numbers_test

import (
	"math"
	"testing"
	"time"

	"revnum/benchmarks/internal/numbers"
	"revnum/internal/long"
)

// TestRoundTrips checks that programs change the numbers, and come back: to the bit
// over fixed point and its logs, up to rounding over floats.
func TestRoundTrips(t *testing.T) {
	trips, err := numbers.RoundTrips(300)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		number string
		exact  bool
		bound  float64
	}{
		{"float32", false, 1e-3}, {"float64", false, 1e-11}, {"fixed.Q43", true, 0},
		{"ulog.Float32", false, 1e-2}, {"ulog.Float64", false, 1e-11}, {"ulog.Fixed", true, 0},
	}
	if len(trips) != len(want) {
		t.Fatalf("%d types of numbers, want %d", len(trips), len(want))
	}
	for i, w := range want {
		r := trips[i]
		if r.Number != w.number || r.Exact != w.exact || r.Exact != (r.Error == 0) || !(r.Error <= w.bound) {
			t.Errorf("%s: error %v, exact %v; want %s: at most %v, exact %v", r.Number, r.Error, r.Exact, w.number, w.bound, w.exact)
		}
		if !(r.Moved > 0.1) {
			t.Errorf("%s: moved by %v, want some 1", r.Number, r.Moved)
		}
	}
	// The programs are the same ones over all types.
	for i := range 2 {
		if d := math.Abs(trips[3*i+1].Moved - trips[3*i+2].Moved); !(d <= 1e-8) {
			t.Errorf("%s and %s moved by %v and %v", trips[3*i+1].Number, trips[3*i+2].Number, trips[3*i+1].Moved, trips[3*i+2].Moved)
		}
	}

	none, err := numbers.RoundTrips(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range none {
		if r.Moved != 0 || !r.Exact {
			t.Errorf("%s: no steps moved by %v, exact %v", r.Number, r.Moved, r.Exact)
		}
	}
	if _, err := numbers.RoundTrips(-1); err == nil {
		t.Error("no error for -1 steps")
	}
}

// TestMemory checks that the memory of a program does not grow with its steps.
func TestMemory(t *testing.T) {
	extra := func(steps int) []int64 {
		trips, err := numbers.RoundTrips(steps)
		if err != nil {
			t.Fatal(err)
		}
		var e []int64
		for _, r := range trips {
			e = append(e, r.Extra)
		}
		return e
	}
	few, many := extra(10), extra(2000)
	for i := range few {
		if many[i] > few[i]+1<<14 {
			t.Errorf("type %d: 10 steps take %d bytes, 2000 steps %d", i, few[i], many[i])
		}
	}
}

// TestBars checks that every bar is measured, or without REVNUM_LONG every sixth: TestNumbers of package main measures all.
func TestBars(t *testing.T) {
	n := 0
	for _, measure := range numbers.All() {
		if n++; n%6 > 0 && !long.Tests() {
			continue
		}
		b := measure(time.Microsecond)
		if !(b.Time > 0) || !(b.Other > 0) || b.Ratio != b.Time/b.Other || !(b.Limit > 0) || b.Met() != (b.Ratio <= b.Limit) {
			t.Errorf("%+v", b)
		}
	}
	if n != numbers.NumBars() {
		t.Errorf("%d bars, want %d", n, numbers.NumBars())
	}
}
