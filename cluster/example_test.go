package cluster_test

import (
	"fmt"

	"revnum/cluster"
	"revnum/revsparse"
)

func ExampleSums() {
	s := cluster.NewSums(1)
	plain := 0.
	for _, v := range []float64{1e100, 1, -1e100, 0x1p-60} {
		s.Add([]float64{v})
		plain += v
	}
	sum := make([]float64, 1)
	s.RoundTo(sum)
	fmt.Println(sum[0], plain)
	// Output: 1 8.673617379884035e-19
}

// Each of three ranks has two numbers. Reduce adds them up.
func ExampleRun() {
	err := cluster.Run(3, func(r cluster.Reducer) error {
		s, sum := cluster.NewSums(2), make([]float64, 2)
		s.Add([]float64{1, 0.1 * float64(r.Rank())})
		if err := s.Reduce(r, nil); err != nil {
			return err
		}
		s.RoundTo(sum)
		if r.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [3 0.30000000000000004]
	// <nil>
}

// Two ranks have two rows each of a bidiagonal matrix. Both get all of Aᵀ·y.
func ExampleRows() {
	err := cluster.Run(2, func(r cluster.Reducer) error {
		first, end := cluster.RowsOf(r, 4, 1)
		var row, col []int
		var val []float64
		for i := first; i < end; i++ {
			row, col, val = append(row, i-first, i-first), append(col, i, i+1), append(val, 1, -1)
		}
		part, err := revsparse.FromTriplets(end-first, 5, row, col, val)
		if err != nil {
			return err
		}
		a, err := cluster.NewRows(r, 4, 1, 1, part)
		if err != nil {
			return err
		}
		y, back := make([]float64, end-first), make([]float64, 5)
		a.MulTo(y, []float64{0, 1, 4, 9, 16})
		if err := a.TransMulTo(back, y); err != nil {
			return err
		}
		if r.Rank() == 0 {
			fmt.Println(y, back)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [-1 -3] [-1 -2 -2 -2 7]
	// <nil>
}
