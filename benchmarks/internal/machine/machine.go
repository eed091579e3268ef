package machine

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
)

// Machine is a description of this machine. Rates are those of one core.
type Machine struct {
	CPU     string  `json:"cpu"`
	Cores   int     `json:"cores"`   // that Go uses
	Tier    string  `json:"tier"`    // of the vector code
	Go      string  `json:"go"`      // version
	FMA64   float64 `json:"fma64"`   // multiply-adds on float64, flop/s
	FMA32   float64 `json:"fma32"`   // multiply-adds on float32, flop/s
	Reading float64 `json:"reading"` // from memory, byte/s
	Triad   float64 `json:"triad"`   // a = b + s·c in memory, byte/s without those of the allocation of a

	// Moved says how much rates varied if the machine was measured more than once. It
	// is the largest drop of a rate below its best, as a fraction of the best.
	Moved float64 `json:"moved"`

	// Lost is the part of the time that other programs took from a busy loop: how far the
	// mean rate of its multiply-adds is below the best, as a fraction of the best. Of more
	// measurements the largest counts.
	Lost float64 `json:"lost"`
}

// loaded is the Moved or Lost from which on the machine counts as having other work to do.
// Rates of an idle machine repeat within a few percent.
const loaded = 0.1

// Load says why the machine counts as having other work to do. It is empty if it does not.
func (m *Machine) Load() string {
	switch {
	case m.Lost > loaded:
		return fmt.Sprintf("other programs took %.0f%% of a core", 100*m.Lost)
	case m.Moved > loaded:
		return fmt.Sprintf("these rates moved by %.0f%% during the run", 100*m.Moved)
	}
	return ""
}

// spare is the memory of Measure, several times the last cache of most machines. It is kept from one call to the next: the
// system takes longer to provide it than tests measure.
var (
	measuring sync.Mutex
	spare     []float64
)

// Measure measures the machine for about the given time.
func Measure(d time.Duration) Machine {
	m := Machine{
		CPU: cpuName(), Cores: runtime.GOMAXPROCS(0), Tier: cpu.InUse().String(), Go: runtime.Version(),
	}
	const rounds = 10000 // about 0.1 ms
	var mean float64
	m.FMA64, mean = rate(d/4, func() int64 { return cpu.PeakFMA[float64](rounds) })
	m.Lost = 1 - mean/m.FMA64
	m.FMA32, _ = rate(d/4, func() int64 { return cpu.PeakFMA[float32](rounds) })

	measuring.Lock()
	defer measuring.Unlock()
	if spare == nil {
		spare = slices.Repeat([]float64{1}, 16<<20)
	}
	x := spare
	m.Reading, _ = rate(d/4, func() int64 { return vec.ReadAll(x) })
	third := len(x) / 3
	m.Triad, _ = rate(d/4, func() int64 { return vec.Triad(x[:third], x[third:2*third], 0.5, x[2*third:3*third]) })
	return m
}

// Best takes over the higher rates of another measurement of the machine. It notes by
// how much rates moved.
func (m *Machine) Best(o Machine) {
	m.Lost = max(m.Lost, o.Lost)
	for _, r := range [][2]*float64{{&m.FMA64, &o.FMA64}, {&m.FMA32, &o.FMA32}, {&m.Reading, &o.Reading}, {&m.Triad, &o.Triad}} {
		low, high := min(*r[0], *r[1]), max(*r[0], *r[1])
		*r[0] = high
		m.Moved = max(m.Moved, (high-low)/high)
	}
}

// rate returns the best and the mean rate, per second, of the work that f returns.
func rate(d time.Duration, f func() int64) (best, mean float64) {
	begin, sum := time.Now(), 0.0
	for time.Since(begin) < d {
		start := time.Now()
		work := float64(f())
		best = max(best, work/time.Since(start).Seconds())
		sum += work
	}
	return best, sum / time.Since(begin).Seconds()
}

// cpuName returns the name of the processor, or the architecture if the name is
// unknown.
func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if key, value, ok := strings.Cut(sc.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// Environ returns the environment for programs of other projects that are measured beside ours, with
// the given number of threads. Variables that make OpenBLAS take code for another processor than
// this one are left out.
func Environ(threads int) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OPENBLAS_CORETYPE=") || strings.HasPrefix(v, "OPENBLAS_L2_SIZE=")
	})
	for _, name := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"} { // NPROC: XLA, under JAX
		env = append(env, fmt.Sprintf("%s=%d", name, threads))
	}
	return env
}
