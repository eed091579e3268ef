package mpi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/mpi"
	"revnum/cluster/shard"
	"revnum/revmodels/gmm"
)

// Run the tests on more ranks by
//
//	go test -c && mpirun -n 3 ./mpi.test
var world *mpi.World

func TestMain(m *testing.M) {
	var err error
	if world, err = mpi.Init(0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if status != 0 {
		world.Abort(status) // the others may be waiting for this rank
	}
	if err := world.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestReducer sums and broadcasts by the algorithms of MPI and directly. 7500 numbers are
// the most that go directly.
func TestReducer(t *testing.T) {
	for _, ranks := range []int{0, 8} {
		if err := world.SetDirect(ranks); err != nil {
			t.Fatal(err)
		}
		testReducer(t, world)
	}
	if err := world.SetDirect(17); err == nil {
		t.Error("17 ranks: no error")
	}
}

func testReducer(t *testing.T, r *mpi.World) {
	for _, n := range []int{0, 1, 5, 7500, 7501, 100000} {
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i) + 1<<40*int64(r.Rank())
		}
		if err := r.Sum(x); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if want := int64(r.Size())*int64(i) + 1<<40*int64(r.Size()*(r.Size()-1)/2); v != want {
				t.Fatalf("element %d of %d is %d, want %d", i, n, v, want)
			}
		}
		b := bytes.Repeat([]byte{byte(7 + r.Rank())}, n)
		if err := r.Broadcast(b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, bytes.Repeat([]byte{7}, n)) {
			t.Fatalf("a broadcast of %d bytes is not that of rank 0", n)
		}
	}
	x := []int64{math.MaxInt64}
	if err := r.Sum(x); err != nil {
		t.Fatal(err)
	}
	if want := int64(r.Size()) * math.MaxInt64; x[0] != want { // wraps
		t.Errorf("%d, want %d", x[0], want)
	}
	if err := r.Barrier(); err != nil {
		t.Fatal(err)
	}
	text, err := cluster.Share(r, []byte(strings.Repeat("x", 3*(1-min(r.Rank(), 1)))))
	if err != nil || string(text) != "xxx" {
		t.Errorf("shared %q (%v)", text, err)
	}
	var failed error
	if r.Rank() == r.Size()-1 {
		failed = errors.New("disk full")
	}
	if err := cluster.Agree(r, failed); err == nil || !strings.HasSuffix(err.Error(), "disk full") {
		t.Errorf("an error on the last rank: %v", err)
	}
}

// TestSameBits fits over MPI and over goroutines, also with more ranks than blocks.
func TestSameBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(2500, 3, nil)
	for i := range 2500 {
		for j := range 3 {
			x.Set(i, j, float64(i%3*(4+j))+rnd.NormFloat64())
		}
	}
	for _, rows := range []int{200, 5000} {
		fit := func(r cluster.Reducer) ([]byte, error) {
			p, err := cluster.NewPoints(r, 1, func() (*shard.Set, error) { return shard.NewSet(rows, shard.Matrix("x", x)) })
			if err != nil {
				return nil, err
			}
			defer p.Close()
			m, _, err := cluster.FitGMM(t.Context(), p, 3, 1, &gmm.Options{Polish: true}, nil)
			if err != nil {
				return nil, err
			}
			c, _, err := cluster.FitKMeans(t.Context(), p, 5, nil)
			if err != nil {
				return nil, err
			}
			return json.Marshal([]any{m, c})
		}
		got, err := fit(world)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranks := range []int{1, 4} {
			err := cluster.Run(ranks, func(r cluster.Reducer) error {
				want, err := fit(r)
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("blocks of %d rows: other bits over MPI than over %d goroutines", rows, ranks)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
