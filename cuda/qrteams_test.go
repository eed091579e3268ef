package cuda

import (
	"errors"
	"math/rand/v2"
	"testing"

	"revnum/rev"
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
// that the largest element of the column of R is in another block, part or panel.
func TestQRTeamsDoubtful(t *testing.T) {
	const m, n = 150, 80
	for _, at := range [][2]int{{2, 5}, {3, 40}, {20, 75}, {66, 79}} {
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
			k.A.Row(at[0])[at[1]] = 1e4
			k.A.Row(at[1])[at[1]], k.A.Row(m - 1)[at[1]] = 1e-6, -1e-13
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
			near[hostQR[float64]](t, 1e-9)("", got, want)
		}
	}
}

// TestQRAhead reduces panels beside products, in two orders that events allow, with and without clusters.
func TestQRAhead(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		compareQR(t, 80, 70, 2)
		testDevice.driver.(*late).capability = 90
		compareQR(t, 132, 130, 0)
	})
}

// TestQRAheadWithoutMemory lets each allocation of a pass fail that makes a stream.
func TestQRAheadWithoutMemory(t *testing.T) {
	panels(t, 64)
	exhaust[hostQR[float64], QR[float64]](t, func(rnd *rand.Rand) hostQR[float64] { return randomQR[float64](rnd, 70, 66, 1) })
}
