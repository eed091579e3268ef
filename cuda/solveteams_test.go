package cuda

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
	"revnum/rev"
)

// inTeams has clusters of blocks, with up to so many warps of a block.
func inTeams(t *testing.T, warps int) {
	t.Helper()
	before := teamWarps
	t.Cleanup(func() { teamWarps = before })
	teamWarps = warps
	testDevice = withTensorCores(t, 1<<26, 90)
}

// TestSolveTeams compares panels that clusters of blocks eliminate: in a part of 16 columns and in several, in a panel and in
// several, and with several rows of a thread.
func TestSolveTeams(t *testing.T) {
	inTeams(t, 2)
	compareSolve[float64](t, 65, 2, 0, false, "Forward")
	compareSolve[float64](t, 134, 1, 0, true, allPasses...)
	compareSolve[float32](t, 150, 1, 0, false, "Forward")
	t.Run("rows", func(t *testing.T) {
		inTeams(t, 1)
		compareSolve[float64](t, 300, 1, 0, false, "Forward")
		compareSolve[float32](t, 280, 1, 0, true, "Forward")
	})
	t.Run("too many rows", func(t *testing.T) {
		inTeams(t, 0)
		compareSolve[float64](t, 70, 1, 0, false, "Forward")
	})
}

// TestSolveTeamsAhead factors panels beside products, in two orders that events allow.
func TestSolveTeamsAhead(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		testDevice.driver.(*late).capability = 90
		compareSolve[float64](t, 200, 3, 0, false, "Forward")
	})
}

// TestSolveTeamsPivots has columns with many elements of the largest magnitude, of which the first is the pivot, and pivots that are
// large, small, zero, infinite or no numbers. Pivots and the order of rows are those of a card without clusters.
func TestSolveTeamsPivots(t *testing.T) {
	for name, fill := range map[string]func(a rev.General[float64]){
		"ties": func(a rev.General[float64]) { // powers of two and zeros remain
			for i, row := range rand.New(rand.NewPCG(31, 32)).Perm(a.Rows) {
				for j := range a.Row(i) {
					a.Row(i)[j] = 1 - 2*float64(bits.OnesCount(uint(row&j))%2)
				}
			}
		},
		"large":    func(a rev.General[float64]) { scaleAll(a, 0x1p1010) },
		"small":    func(a rev.General[float64]) { scaleAll(a, 0x1p-1030) },
		"zero":     func(a rev.General[float64]) { scaleAll(a, 0) },
		"NaN":      func(a rev.General[float64]) { a.Row(77)[20] = math.NaN() },
		"infinite": func(a rev.General[float64]) { a.Row(50)[5], a.Row(60)[5] = math.Inf(1), math.Inf(-1) },
	} {
		a := general[float64](rand.New(rand.NewPCG(33, 34)), 128, 128)
		fill(a)
		scale := 0.0
		for _, v := range a.Data {
			if math.Abs(v) <= math.MaxFloat64 {
				scale = max(scale, math.Abs(v))
			}
		}
		factors, pivots, order := factorOf(t, withTensorCores(t, 1<<24, 75), a)
		inTeams, itsPivots, itsOrder := factorOf(t, withTensorCores(t, 1<<24, 90), a)
		if !slices.Equal(pivots, itsPivots) || !slices.Equal(order, itsOrder) {
			t.Errorf("%s: pivots %v and order %v, want %v and %v", name, itsPivots, itsOrder, pivots, order)
		}
		for i, w := range factors {
			if v := inTeams[i]; v != w && (v == v || w == w) && !(math.Abs(v-w) <= 1e-10*max(scale, 1)) {
				t.Fatalf("%s: element (%d, %d) is %v, want %v", name, i/a.Cols, i%a.Cols, v, w)
			}
		}
	}
}

func scaleAll(a rev.General[float64], by float64) {
	for i := range a.Data {
		a.Data[i] *= by
	}
}

// factorOf returns the factors of a matrix, the places of the pivots and the order of the rows.
func factorOf(t *testing.T, dev *Device, a rev.General[float64]) (factors []float64, pivots, order []int64) {
	t.Helper()
	n := a.Rows
	k := Solve[float64]{A: must(NewGeneral(dev, a))(t)}
	s := luSystems[float64]{stacks: stacks[float64]{count: 1}, k: &k}
	w := begin(&k, &rev.Pass[Solve[float64]]{})
	s.pass = &w
	candidates := across(n, pivotRows) * candidateBytes / 8
	s.free = s.room(1, 8*(n*n+3*n+2*candidates))
	ratios := s.take(n)
	s.order, s.pivots, s.lu = uint64(s.take(n).address()), uint64(s.take(n).address()), s.matrices(n, n)
	for i := range s.candidates {
		s.candidates[i] = uint64(s.take(candidates).address())
	}
	s.factor(uint64(ratios.address()))
	factors, pivots, order = make([]float64, n*n), make([]int64, n), make([]int64, n)
	get(s.pass, factors, s.lu.data.address())
	get(s.pass, pivots, uintptr(s.pivots))
	get(s.pass, order, uintptr(s.order))
	if err := errors.Join(w.end(), k.A.Data.Free()); err != nil {
		t.Fatal(err)
	}
	return factors, pivots, order
}

// TestSolveTeamsBarriers removes each barrier of a cluster from the kernel, one after the other. The interpreter finds each.
func TestSolveTeamsBarriers(t *testing.T) {
	if os.Getenv("REVNUM_DEVICE") != "" {
		t.Skip("this needs the interpreter")
	}
	const file, wait = "lu_sm90.ptx", "	barrier.cluster.arrive.aligned;\n	barrier.cluster.wait.aligned;\n"
	text, err := kernels.PTX.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	inTeams(t, 1)
	k := randomSolve[float64](rand.New(rand.NewPCG(35, 36)), 90, 1, 0, false)
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	modules.Lock()
	whole := modules.parsed[file]
	modules.Unlock()
	set := func(m *ptx.Module) {
		modules.Lock()
		modules.parsed[file] = m
		modules.Unlock()
	}
	defer set(whole)
	parts := strings.Split(string(text), wait)
	if len(parts) < 4 {
		t.Fatalf("%d barriers", len(parts)-1)
	}
	for i := range parts[1:] {
		before := strings.Join(parts[:i+1], wait)
		if last := before[strings.LastIndex(before, ".entry"):]; !strings.HasPrefix(last, ".entry panelColumnsF64") {
			continue
		}
		m, err := ptx.Parse(file, before+strings.Join(parts[i+1:], wait))
		if err != nil {
			t.Fatal(err)
		}
		set(m)
		if err := rev.Forward(k); err == nil || !strings.Contains(err.Error(), "kernel panelColumnsF64") {
			t.Errorf("without barrier %d: error %v", i, err)
		}
	}
}
