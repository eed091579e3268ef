package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"revnum/rev"
	"revnum/revlinalg"
)

// TestQRTeams compares panels that clusters of blocks reduce: in a part of 16 columns and in several, in a panel and in several, with
// several rows of a thread and several warps of a block, and with more rows than a cluster holds.
func TestQRTeams(t *testing.T) {
	inTeams(t, 1, 2)
	compareQR(t, 65, 3, 0)
	compareQR(t, 70, 5, 2)
	compareQR(t, 140, 40, 0)
	compareQR(t, 100, 97, 0)
	t.Run("warps", func(t *testing.T) {
		inTeams(t, 2, 2)
		compareQR(t, 80, 65, 0)
		inTeams(t, 3, 3)
		compareQR(t, 200, 17, 0)
	})
	t.Run("rows", func(t *testing.T) {
		inTeams(t, 1, 1)
		compareQR(t, 300, 18, 0)
	})
	t.Run("too many rows", func(t *testing.T) {
		inTeams(t, 1, 1)
		compareQR(t, 1030, 8, 0) // the last columns have few enough
		inTeams(t, 0, 0)
		compareQR(t, 70, 10, 0)
	})
	t.Run("float32", func(t *testing.T) {
		inTeams(t, 1, 2)
		got, want := randomQR[float32](rand.New(rand.NewPCG(41, 42)), 150, 70, 0), randomQR[float32](rand.New(rand.NewPCG(41, 42)), 150, 70, 0)
		if err := errors.Join(rev.Forward(got), rev.Forward(onHost(want))); err != nil {
			t.Fatal(err)
		}
		near[hostQR[float32]](t, 1e-4)("float32", got, want)
	})
}

// TestQRTeamsDoubtful has columns that are nearly multiples of others before them, in the same part and in other parts and panels, so
// that the largest element of the column of R is in another block, part or panel. In others it is the diagonal element.
func TestQRTeamsDoubtful(t *testing.T) {
	const m, n = 150, 80
	for _, c := range []struct {
		row, column             int
		above, diagonal, bottom float64
	}{
		{2, 5, 1e4, 1e-6, -1e-13}, {3, 40, 1e4, 1e-6, -1e-13}, {20, 75, 1e4, 1e-6, -1e-13}, {66, 79, 1e4, 1e-6, -1e-13},
		{0, 5, 0, 1, 1e-16}, {0, 40, 0, 1, 1e-16}, {0, 75, 0, 1, 1e-16},
	} {
		of := func() hostQR[float64] {
			k := randomQR[float64](rand.New(rand.NewPCG(43, 44)), m, n, 0)
			for i := range m {
				row := k.A.Row(i)
				for j := range row {
					row[j] = 0
				}
				if i < n {
					row[i] = 1
				}
			}
			k.A.Row(c.row)[c.column], k.A.Row(c.column)[c.column], k.A.Row(m - 1)[c.column] = c.above, c.diagonal, c.bottom
			return k
		}
		want := of()
		if err := rev.Forward(onHost(want)); err != nil {
			t.Fatal(err)
		}
		for _, capability := range []int{75, 90} {
			testDevice = withTensorCores(t, 1<<26, capability)
			got := of()
			if err := rev.Forward(got); err != nil {
				t.Fatal(err)
			}
			near[hostQR[float64]](t, 1e-9)(fmt.Sprint("column ", c.column, ", capability ", capability), got, want)
		}
	}
}

// TestQRTeamsBarriers removes each barrier from the kernels, one after the other. The interpreter finds each.
func TestQRTeamsBarriers(t *testing.T) {
	if os.Getenv("REVNUM_DEVICE") != "" {
		t.Skip("this needs the interpreter")
	}
	reflectsWithoutBarriers[float64](t)
	reflectsWithoutBarriers[float32](t)
}

func reflectsWithoutBarriers[T rev.Float](t *testing.T) {
	t.Helper()
	const m, n, cols = 90, 40, 32 // reflections of whole parts are applied to others
	setTeamWarps(t, 2, 2)
	dev := withTensorCores(t, 1<<24, 90)
	at := must(NewGeneral(dev, general[T](rand.New(rand.NewPCG(47, 48)), n, m)))(t).Data
	l := large[T]{m: m, at: at, w: must(Alloc[T](dev, n*m))(t), s: must(Alloc[T](dev, panelCols*partCols))(t)}
	k := QR[T]{A: General[T]{Data: at}}
	run := func() error {
		w := begin(&k, &rev.Pass[QR[T]]{})
		on := stacks[T]{pass: &w, count: 1}
		l.reflect(on, 0, cols, 0, 0)
		l.reflect(on, 0, cols, cols, n)
		return w.end()
	}
	needsBarriers(t, "qr_sm90.ptx", typed[T]("reflectColumns"), []barrierTest{
		{clusterBarriers, run, 4, 0}, {blockBarriers, run, 3, 0}, {warpBarriers, run, 1, 0},
	})
}

// TestQRAhead reduces panels beside products, in two orders that events allow, with and without clusters.
func TestQRAhead(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		compareQR(t, 80, 70, 2)
		testDevice.driver.(*late).capability = 90
		compareQR(t, 132, 130, 0)
	})
}

// TestQRFormed forms parts of Q of several panels beside others, with a last part of one panel that is narrower.
func TestQRFormed(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		panels(t, 16)
		got, want := randomQR[float64](rand.New(rand.NewPCG(45, 46)), 80, 72, 2), randomQR[float64](rand.New(rand.NewPCG(45, 46)), 80, 72, 2)
		if err := rev.Forward(got); err != nil {
			t.Fatal(err)
		}
		for b := range 2 {
			k := revlinalg.QR[float64]{Q: matrixOf(want.Q, 2, b), R: matrixOf(want.R, 2, b), A: matrixOf(want.A, 2, b)}
			if err := k.Forward(); err != nil {
				t.Fatal(err)
			}
		}
		near[hostQR[float64]](t, 1e-11)("", got, want)
	})
}

// TestQRForming has matrices of one panel, of fewer panels than parts and of more, the last of which may be narrower. A column of Q
// gets the reflections of its own panel and of all before it, the last ones first, once they are there. Parts are
// ready when the next one begins, but for the last but one.
func TestQRForming(t *testing.T) {
	const width = 4
	for n := 1; n <= 40*width; n++ {
		reduced, need := 0, make([]int, n) // the column before which reflections are missing
		for j := range need {
			need[j] = min(j/width*width+width, n)
		}
		applied := 0
		q := formQ(n, width, func(lo, hi, first, end int) {
			if hi > reduced || lo%width != 0 || hi-lo > width || first < lo || first >= end {
				t.Fatalf("n = %d, reduced %d: reflections %d to %d of columns %d to %d", n, reduced, lo, hi, first, end)
			}
			for j := first; j < end; j++ {
				if need[j] != hi {
					t.Fatalf("n = %d: column %d needs reflections before %d, gets %d to %d", n, j, need[j], lo, hi)
				}
				need[j] = lo
			}
			applied++
		})
		for hi := width; hi < n; hi += width {
			reduced = hi
			if hi%q.size == 0 && q.left > 0 {
				t.Fatalf("n = %d: a part begins at %d before the last one is ready", n, hi)
			}
			before := applied
			if q.reduced(hi); applied-before > qParts {
				t.Fatalf("n = %d: %d steps beside a panel", n, applied-before)
			}
		}
		if last := n - q.end; last >= n/qParts+width {
			t.Fatalf("n = %d: the last part has %d columns", n, last)
		}
		reduced = n
		q.reduced(n)
		for j, v := range need {
			if v != 0 {
				t.Fatalf("n = %d: column %d lacks reflections before %d", n, j, v)
			}
		}
	}
}

// TestQRAheadWithoutMemory lets each allocation of a pass fail that makes a stream.
func TestQRAheadWithoutMemory(t *testing.T) {
	panels(t, 64)
	exhaust[hostQR[float64], QR[float64]](t, func(rnd *rand.Rand) hostQR[float64] { return randomQR[float64](rnd, 70, 66, 1) })
}
