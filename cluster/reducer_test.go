package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"revnum/cluster"
)

func TestRun(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 8} {
		err := cluster.Run(ranks, func(r cluster.Reducer) error {
			for round := range 50 {
				x := []int64{1, int64(r.Rank()), -1 << 62}
				if err := r.Sum(x); err != nil {
					return err
				}
				sum := int64(-1) << 62
				sum *= int64(ranks) // wraps
				if want := []int64{int64(ranks), int64(ranks * (ranks - 1) / 2), sum}; x[0] != want[0] || x[1] != want[1] || x[2] != want[2] {
					return fmt.Errorf("sum %v, want %v", x, want)
				}
				b := []byte{byte(r.Rank()), 7}
				if r.Rank() == 0 {
					b[0] = byte(100 + round)
				}
				if err := r.Broadcast(b); err != nil {
					return err
				}
				if b[0] != byte(100+round) || b[1] != 7 {
					return fmt.Errorf("broadcast %v", b)
				}
			}
			text, err := cluster.Share(r, []byte(strings.Repeat("x", 10*(3-min(r.Rank(), 3)))))
			if err == nil && len(text) != 30 {
				err = fmt.Errorf("%d bytes, want 30", len(text))
			}
			return err
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

func TestRunErrors(t *testing.T) {
	own := errors.New("disk full")
	err := cluster.Run(3, func(r cluster.Reducer) error {
		if r.Rank() == 1 {
			return own
		}
		return r.Sum(make([]int64, 1))
	})
	if !errors.Is(err, own) {
		t.Errorf("a rank that ends: %v, want %v", err, own)
	}
	err = cluster.Run(4, func(r cluster.Reducer) error {
		var mine error
		if r.Rank() >= 2 {
			mine = fmt.Errorf("%w on %d", own, r.Rank())
		}
		err := cluster.Agree(r, mine)
		if err == nil {
			return errors.New("no error")
		}
		if r.Rank() == 2 != errors.Is(err, own) {
			return fmt.Errorf("rank %d: %w", r.Rank(), err)
		}
		if want := "rank 2: disk full on 2"; r.Rank() != 2 && err.Error() != want {
			t.Errorf("rank %d got %q, want %q", r.Rank(), err, want)
		}
		return cluster.Agree(r, nil)
	})
	if err != nil {
		t.Error(err)
	}
	defer func() {
		if p := recover(); p != "no" {
			t.Errorf("panic %v, want that of the rank", p)
		}
	}()
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		if r.Rank() == 1 {
			panic("no")
		}
		return r.Sum(nil)
	})
}
