package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
	"revnum/rev"
)

// inTeams has clusters of blocks, whose blocks have from least to most warps.
func inTeams(t *testing.T, least, most int) {
	t.Helper()
	setTeamWarps(t, least, most)
	testDevice = withTensorCores(t, 1<<26, 90)
}

func setTeamWarps(t *testing.T, least, most int) {
	t.Helper()
	before := [2]int{leastTeamWarps, teamWarps}
	t.Cleanup(func() { leastTeamWarps, teamWarps = before[0], before[1] })
	leastTeamWarps, teamWarps = least, most
}

// TestSolveTeams compares panels that clusters of blocks eliminate: in a part of 16 columns and in several, in a panel and in
// several, with several rows of a thread and several warps of a block.
func TestSolveTeams(t *testing.T) {
	inTeams(t, 1, 2)
	compareSolve[float64](t, 65, 2, 0, false, "Forward")
	compareSolve[float64](t, 134, 1, 0, true, allPasses...)
	compareSolve[float32](t, 150, 1, 0, false, "Forward")
	t.Run("warps", func(t *testing.T) {
		inTeams(t, 2, 2)
		compareSolve[float64](t, 90, 1, 0, true, "Forward")
		inTeams(t, 3, 3)
		compareSolve[float32](t, 131, 1, 0, false, "Forward")
	})
	t.Run("rows", func(t *testing.T) {
		inTeams(t, 1, 1)
		compareSolve[float64](t, 300, 1, 0, false, "Forward")
		compareSolve[float32](t, 280, 1, 0, true, "Forward")
	})
	t.Run("too many rows", func(t *testing.T) {
		inTeams(t, 0, 0)
		compareSolve[float64](t, 70, 1, 0, false, "Forward")
	})
}

// TestSolveTeamsRoom has a card without room for a cluster, and one that does not say.
func TestSolveTeamsRoom(t *testing.T) {
	if os.Getenv("REVNUM_DEVICE") != "" {
		t.Skip("this needs the interpreter")
	}
	k := randomSolve[float64](rand.New(rand.NewPCG(37, 38)), 70, 1, 0, false)
	withoutRoom(t, "panelColumnsF64", func() error { return rev.Forward(k) }, func() { compareSolve[float64](t, 70, 1, 0, false, "Forward") })
	qr := randomQR[float64](rand.New(rand.NewPCG(37, 38)), 70, 5, 0)
	withoutRoom(t, "reflectColumnsF64", func() error { return rev.Forward(qr) }, func() { compareQR(t, 70, 5, 0) })
}

// withoutRoom has passes that take a kernel of clusters if they fit.
func withoutRoom(t *testing.T, kernel string, pass func() error, compare func()) {
	t.Helper()
	d := interpret(t, 1<<26)
	d.capability, d.narrow = 90, true
	testDevice = open(t, d)
	compare()
	if fits, asked := testDevice.fits[kernel]; fits || !asked {
		t.Errorf("%s: asked %v, fits %v", kernel, asked, fits)
	}
	testDevice.fits[kernel] = true // the interpreter refuses the launch
	if err := pass(); err == nil || !strings.Contains(err.Error(), "no room for a cluster") {
		t.Errorf("%s: error %v", kernel, err)
	}
	d = interpret(t, 1<<26)
	d.capability, d.unanswered = 90, errors.New("no answer")
	testDevice = open(t, d)
	if err := pass(); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("%s: error %v", kernel, err)
	}
	d.unanswered = nil
	compare()
}

// TestSolveTeamsSingular has two equal rows, one of which a multiplication by a reciprocal may leave as some ε.
func TestSolveTeamsSingular(t *testing.T) {
	inTeams(t, 1, 2)
	const n = 70
	k := randomSolve[float64](rand.New(rand.NewPCG(39, 40)), n, 1, 0, false)
	copy(k.A.Row(60), k.A.Row(20))
	var singular *rev.SingularError
	if err := rev.Forward(k); !errors.As(err, &singular) || !(float64(singular.Condition) >= 1/(n*epsilon[float64]())) {
		t.Errorf("error %v", err)
	}
}

// TestSolveTeamsSizes compares the sizes of this package and of kernels.
func TestSolveTeamsSizes(t *testing.T) {
	for name, size := range map[string]int{
		"panelCols": panelCols, "partCols": partCols, "ownRows": ownRows, "clusterBlocks": teamBlocks, "exchangeCols": exchangeCols, "mostPivots": aheadCols, "maxThreads": maxThreads, "lanes": warp,
	} {
		var found []string
		for _, file := range []string{"lu_sm90.cu", "qr_sm90.cu", "lu.cu", "cluster.h", "number.h"} {
			text, err := os.ReadFile(filepath.Join("kernels", file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^constexpr int .*\b`+name+` = (\d+)`).FindAllSubmatch(text, -1) {
				found = append(found, string(m[1]))
			}
		}
		if !slices.Equal(found, []string{strconv.Itoa(size)}) {
			t.Errorf("%s is %v in kernels, and %d here", name, found, size)
		}
	}
}

// TestSolveTeamsAhead factors panels beside products, in two orders that events allow.
func TestSolveTeamsAhead(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		testDevice.driver.(*late).capability = 90
		compareSolve[float64](t, 200, 3, 0, false, "Forward")
	})
}

// TestSolveTeamsPivots has columns with many elements of the largest magnitude, of which the first is the pivot, and pivots that are
// large, small, zero, infinite or no numbers. Equal elements are in rows of different blocks, of different warps and of one thread.
// Pivots and the order of rows are those of a card without clusters.
func TestSolveTeamsPivots(t *testing.T) {
	comparePivots[float64](t, 1e-10, 0x1p1023, 0x1p-1030)
	comparePivots[float32](t, 1e-4, 0x1p127, 0x1p-128)
}

func comparePivots[T rev.Float](t *testing.T, tolerance float64, large, small T) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(31, 32))
	// All pivots are near by, and all multipliers are below 1.
	dominated := func(by T) func(rev.General[T]) {
		return func(a rev.General[T]) {
			for i, row := range rnd.Perm(a.Rows) {
				for j := range a.Row(i) {
					a.Row(i)[j] *= by / 64
				}
				a.Row(i)[row] = 1.3 * by // whose reciprocal is rounded
			}
		}
	}
	fillAll := func(f func(i, j int) T) func(rev.General[T]) {
		return func(a rev.General[T]) {
			for i, row := range rnd.Perm(a.Rows) {
				for j := range a.Row(i) {
					a.Row(i)[j] = f(row, j)
				}
			}
		}
	}
	one := map[int]int{}
	for i := range 1024 {
		one[i] = rnd.IntN(60)
	}
	for name, fill := range map[string]func(a rev.General[T]){
		"signs": fillAll(func(i, j int) T { return T(1 - 2*(bits.OnesCount(uint(i&j))%2)) }), // powers of two and zeros remain
		"equal": fillAll(func(int, int) T { return 1 }),
		"zero":  fillAll(func(int, int) T { return 0 }),
		"one in a row": fillAll(func(i, j int) T {
			if one[i] != j {
				return 0
			}
			return T(1 - i%2*2)
		}),
		"large":    dominated(large),
		"small":    dominated(small),
		"NaN":      func(a rev.General[T]) { a.Row(77)[20] = T(math.NaN()) },
		"infinite": func(a rev.General[T]) { a.Row(50)[5], a.Row(60)[5] = T(math.Inf(1)), T(math.Inf(-1)) },
	} {
		for _, size := range []struct{ n, cols, warps int }{{96, 66, 2}, {300, 20, 1}} {
			what := fmt.Sprintf("%T, %s, %v", *new(T), name, size)
			setTeamWarps(t, size.warps, size.warps)
			a := general[T](rnd, size.n, size.n)
			fill(a)
			scale := 0.0
			for _, v := range a.Data {
				if v := math.Abs(float64(v)); v <= math.MaxFloat64 {
					scale = max(scale, v)
				}
			}
			factors, pivots, order := factorOf(t, withTensorCores(t, 1<<25, 75), a, size.cols)
			teams, itsPivots, itsOrder := factorOf(t, withTensorCores(t, 1<<25, 90), a, size.cols)
			if !slices.Equal(pivots, itsPivots) || !slices.Equal(order, itsOrder) {
				t.Errorf("%s: pivots %v and order %v, want %v and %v", what, itsPivots, itsOrder, pivots, order)
				continue
			}
			for e, w := range factors {
				i, j, bound := e/a.Cols, e%a.Cols, tolerance
				if j >= i || j >= size.cols {
					bound *= scale
				}
				if (name == "large" || name == "small") && j == 0 {
					bound = 0 // quotients
				}
				if v, w := float64(teams[e]), float64(w); v != w && (v == v || w == w) && !(math.Abs(v-w) <= bound) {
					t.Errorf("%s: element (%d, %d) is %v, want %v", what, i, j, v, w)
					break
				}
			}
		}
	}
}

// factorOf eliminates columns of a matrix. It returns the matrix, the places of the pivots and the order of the rows.
func factorOf[T rev.Float](t *testing.T, dev *Device, a rev.General[T], cols int) (factors []T, pivots, order []int64) {
	t.Helper()
	x := must(NewGeneral(dev, a))(t)
	factors, pivots, order, err := eliminated(x, cols)
	if err := errors.Join(err, x.Data.Free()); err != nil {
		t.Fatal(err)
	}
	return factors, pivots, order
}

func eliminated[T rev.Float](a General[T], cols int) (factors []T, pivots, order []int64, err error) {
	n, size := a.Rows, int(unsafe.Sizeof(*new(T)))
	k := Solve[T]{A: a}
	s := luSystems[T]{stacks: stacks[T]{count: 1}, k: &k}
	w := begin(&k, &rev.Pass[Solve[T]]{})
	s.pass = &w
	candidates := across(n, pivotRows) * candidateBytes / size
	s.free = s.room(1, size*(n*n+2*candidates)+8*2*n)
	s.order, s.pivots = uint64(s.take(n*8/size).address()), uint64(s.take(n*8/size).address())
	for i := range s.candidates {
		s.candidates[i] = uint64(s.take(candidates).address())
	}
	s.lu = s.matrices(n, n)
	s.load()
	s.eliminate(s.stacks, 0, cols, 0, cols)
	s.exchange(s.stacks, 0, cols, cols, 0, n+1)
	factors, pivots, order = make([]T, n*n), make([]int64, cols), make([]int64, n)
	get(s.pass, factors, s.lu.data.address())
	get(s.pass, pivots, uintptr(s.pivots))
	get(s.pass, order, uintptr(s.order))
	return factors, pivots, order, w.end()
}

// TestSolveTeamsBarriers removes each barrier from the kernels, one after the other: of a cluster, of a block and of a warp. The
// interpreter finds each.
func TestSolveTeamsBarriers(t *testing.T) {
	if os.Getenv("REVNUM_DEVICE") != "" {
		t.Skip("this needs the interpreter")
	}
	withoutBarriers[float64](t)
	withoutBarriers[float32](t)
}

func withoutBarriers[T rev.Float](t *testing.T) {
	t.Helper()
	dev := withTensorCores(t, 1<<24, 90)
	panel := func(n, cols, warps int) func() error {
		a := must(NewGeneral(dev, general[T](rand.New(rand.NewPCG(35, 36)), n, n)))(t)
		return func() error { return panelOf(a, cols, warps) }
	}
	needsBarriers(t, "lu_sm90.ptx", typed[T]("panelColumns"), []barrierTest{
		{clusterBarriers, panel(90, 34, 1), 3, 0},
		{blockBarriers, panel(90, 34, 2), 5, 0},
		{warpBarriers, panel(800, 18, 1), 3 * 2 * ownRows, 2 * ownRows}, // of three loops over the rows of a thread
	})
}

const (
	clusterBarriers = `barrier\.cluster\.arrive\.aligned;\s*barrier\.cluster\.wait\.aligned;`
	blockBarriers   = `bar\.sync.*;`
	warpBarriers    = `bar\.warp\.sync.*;`
)

// A barrierTest runs a kernel that has at least so many barriers. Each skip-th from the first follows one of all threads, if skip is
// not 0.
type barrierTest struct {
	barrier     string
	run         func() error
	least, skip int
}

// needsBarriers removes barriers from a kernel, one after the other.
func needsBarriers(t *testing.T, file, name string, tests []barrierTest) {
	t.Helper()
	if _, err := kernelOf(name); err != nil {
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
	t.Cleanup(func() { set(whole) })
	bytes, err := kernels.PTX.ReadFile(file)
	if folder := os.Getenv("REVNUM_PTX"); folder != "" {
		bytes, err = os.ReadFile(filepath.Join(folder, file))
	}
	if err != nil {
		t.Fatal(err)
	}
	text := string(bytes)
	from := strings.Index(text, ".entry "+name)
	to := from + strings.Index(text[from:], "\n}\n")
	for _, test := range tests {
		if err := test.run(); err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(test.barrier).FindAllStringIndex(text[from:to], -1)
		if len(all) < test.least {
			t.Errorf("%d barriers %s, want at least %d", len(all), test.barrier, test.least)
		}
		for i, at := range all {
			if test.skip > 0 && i%test.skip == 0 {
				continue
			}
			m, err := ptx.Parse(file, text[:from+at[0]]+text[from+at[1]:])
			if err != nil {
				t.Fatal(err)
			}
			set(m)
			if err := test.run(); err == nil || !strings.Contains(err.Error(), "kernel "+name) {
				t.Errorf("%s without %s number %d: error %v", name, test.barrier, i, err)
			}
		}
		set(whole)
	}
}

// panelOf eliminates a panel, and exchanges rows in some of them.
func panelOf[T rev.Float](a General[T], cols, warps int) error {
	n := uint64(a.Rows)
	k := Solve[T]{A: a}
	w := begin(&k, &rev.Pass[Solve[T]]{})
	pivots := uint64(w.room(1, 2*8*a.Rows))
	w.launch(typed[T]("panelColumns"), grid{[3]int{teamBlocks, 1, 1}, [3]int{warp * warps, 1, 1}}, uint64(a.Data.address()), pivots+8*n, pivots, n, 0, uint64(cols), 0, 8)
	return w.end()
}
