package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"

	"revnum/rev"
)

// FFT is the kernel
//
//	X <- F·X,  F_jk = exp(-2πi·j·k/n)/√n
//
// of revlinalg.FFT in place, for one transform or many. Count is the number of transforms, whose numbers stand
// one after the other in X; 0 means 1. The factor 1/√n makes F unitary. The derivatives are
//
//	Ẋ <- F·Ẋ,  X̄ <- Fᴴ·X̄
//
// and the tangents of cotangents are transformed like X̄.
//
// If n is a power of 2, a block makes transforms of up to 2048 numbers in shared memory, several if they are
// short. Longer ones are passes over the memory, of transforms of up to 1024 numbers: two passes for n up to
// 2²⁰, three up to 2³⁰, and four for 2³¹. The last two of three are made for parts of the numbers, in two streams, so
// that a cache keeps what is between them. Every other n is a convolution with exp(iπk²/n), by two transforms of
// the least power of 2 that is at least 2·n-1 (L. I. Bluestein, 1970). The device keeps its tables, of n and that
// many numbers, for the last 16 such lengths. Scratch memory is that of X for two passes and twice that for more,
// and for a convolution one or two times that of its transforms. If n is more than 2³¹, or more than 2³⁰ and no
// power of 2, Run returns an error.
//
// An element is within about ε·log₂(n)·‖X‖ of the exact one, for the X of its transform. So is an element that
// Inverse restores.
type FFT struct {
	X     Vector[complex128] `rev:"inout" shape:"n"`
	Count int
}

// Run implements rev.Kernel. It returns the errors of the device. It panics with a *rev.OperandError if X
// cannot be divided into Count transforms.
func (k FFT) Run(p rev.Pass[FFT]) error {
	count, n := signalsOf[FFT](k.X.N, k.Count)
	w := begin(&k, &p)
	if n > 1 {
		f := newTransforms(&w, n, count, true)
		for _, v := range [...]Vector[complex128]{k.X, p.G.X, p.T.X, p.GT.X} {
			if v.Data != nil {
				x := signals{v.Data.address(), v.Inc, n * v.Inc, n, complexNumbers}
				f.run(x, x, p.Back, 1/math.Sqrt(float64(n)))
			}
		}
	}
	return w.end()
}

// signalsOf returns how many signals the X of a kernel has, and their length.
func signalsOf[K any](n, count int) (signals, length int) {
	count = max(count, 1)
	if n%count != 0 {
		panic(rev.ShapeError[K]("X", "has %d numbers, which are not those of Count = %d transforms", n, count))
	}
	return count, n / count
}

// signals are what a pass of transforms reads or writes, as in kernels/fft.cu.
type signals struct {
	at                 uintptr
	inc, batch, length int
	kind               signalKind
}

type signalKind int

const (
	complexNumbers signalKind = iota
	addedNumbers              // a pass adds to them
	realNumbers               // a pass adds real parts to them
)

// When a pass takes conjugates, as in kernels/fft.cu.
const (
	atLoad = 1 << iota
	beforeFactors
	atStore
)

// The sizes of kernels/fft.cu.
const (
	fftHeld  = 8 // numbers of a thread
	fftRoots = 1 << 11

	mostFFTLog = 31
)

// fftLogs are logarithms of how many numbers the longest transform has that is one pass, and the longest that
// is a part of others. Tests lower them.
var fftLogs = struct{ whole, part int }{11, 10}

// transforms make the transforms of a pass, of so many signals of n numbers.
type transforms struct {
	*pass
	n, count      int
	log           int // of the transforms that are made
	roots         uintptr
	chirp, around uintptr // of a convolution
	rooms         [2]uintptr
	next          int   // the room that is written next
	side          *pass // of chunks beside those of the pass, or nil
}

// newTransforms prepares all that may fail. Call it before the pass writes. If not replacing, the results are not n complex
// numbers that replace what was there.
func newTransforms(w *pass, n, count int, replacing bool) *transforms {
	f := &transforms{pass: w, n: n, count: count, log: bits.Len(uint(n - 1))}
	if w.err != nil || w.dev == nil {
		return f
	}
	roots := w.table(0, func() (t fftTable) {
		t.first = tableOf(w, fftRoots)
		w.launch("fftRoots", vectorGrid(fftRoots/2), uint64(t.first.address()), fftRoots)
		return t
	})
	f.roots = roots.first.address()
	passes := len(partsOfLog(f.log))
	if n == 1 || n&(n-1) != 0 {
		f.log = bits.Len(uint(2*n - 1)) // 2ˡ is more than 2·n-2
		passes = 2 * len(partsOfLog(f.log))
	}
	if f.log > mostFFTLog {
		w.fail(fmt.Errorf("cuda: transforms of 2^%d numbers, want at most 2^%d", f.log, mostFFTLog))
	}
	for i := range min(2, passes-1) {
		f.rooms[i] = w.room(1+i, count<<f.log*int(unsafe.Sizeof(complex128(0))))
	}
	convolves := f.log != bits.TrailingZeros(uint(n))
	if parts := partsOfLog(f.log); (replacing || convolves) && len(parts) == 3 && f.chunkLog(parts) < parts[0] && 1<<f.log>>parts[0]>>min(parts[1], parts[2]) <= bounds.rows {
		f.side = w.beside()
	}
	if n == 1 || n&(n-1) != 0 {
		t := w.table(n, func() fftTable { return f.convolution() })
		f.chirp, f.around = t.first.address(), t.second.address()
	}
	return f
}

// convolution computes the tables of a convolution.
func (f *transforms) convolution() (t fftTable) {
	t = fftTable{first: tableOf(f.pass, f.n), second: tableOf(f.pass, 1<<f.log)}
	f.launch("fftChirp", vectorGrid(1<<f.log), uint64(t.first.address()), uint64(f.n), uint64(t.second.address()), uint64(1)<<f.log)
	one := *f
	one.count = 1
	around := one.dense(t.second.address())
	one.transform(step{name: "fftPass", x: around, y: around, scale: 1})
	return t
}

// An fftTable is kept on a device.
type fftTable struct {
	first, second Memory[complex128]
	used          int64 // when it was used last
}

func (t fftTable) free(d *Device) error { return join(release(d, t.first), release(d, t.second)) }

// mostTables is how many tables a device keeps.
const mostTables = 16 + 1

// table returns a table for transforms of n numbers. The first pass that needs it makes it, and waits, as
// passes in other streams may read it next.
func (w *pass) table(n int, compute func() fftTable) fftTable {
	if w.err != nil || w.dev == nil {
		return fftTable{}
	}
	tables := w.dev.tables
	t, ok := tables[n]
	if !ok {
		if len(tables) == mostTables {
			w.dropTables(1)
		}
		t = compute()
		if errors.Is(w.err, ErrMemory) && len(tables) > 1 { // the tables of other lengths may leave too little
			w.err = t.free(w.dev)
			w.dropTables(len(tables) - 1)
			t = compute()
		}
		if w.err == nil {
			w.err = wrap(w.dev.driver.sync(w.stream.id))
		}
		if w.err != nil {
			w.err = join(w.err, t.free(w.dev))
			return fftTable{}
		}
	}
	w.dev.uses++
	t.used = w.dev.uses
	tables[n] = t
	return t
}

// dropTables frees the tables of n lengths, those that were used longest ago. That of the roots stays.
func (w *pass) dropTables(n int) {
	for range n {
		oldest := -1
		for other, t := range w.dev.tables {
			if other != 0 && (oldest < 0 || t.used < w.dev.tables[oldest].used) {
				oldest = other
			}
		}
		if oldest < 0 {
			return
		}
		w.err = join(w.err, w.dev.tables[oldest].free(w.dev))
		delete(w.dev.tables, oldest)
	}
}

// tableOf returns memory for a table of n numbers.
func tableOf(w *pass, n int) (m Memory[complex128]) {
	if w.err == nil {
		m, w.err = allocate[complex128](w.dev, n)
	}
	return m
}

// dense returns signals without gaps at an address.
func (f *transforms) dense(at uintptr) signals {
	return signals{at, 1, 1 << f.log, 1 << f.log, complexNumbers}
}

// run computes y = scale·√n·F·x, or that with Fᴴ. It adds to a y of the kinds that are added to.
func (f *transforms) run(x, y signals, back bool, scale float64) {
	f.next = 0
	first, last := 0, 0
	if back {
		first, last = atLoad, atStore
	}
	if f.chirp == 0 {
		name := "fftPass"
		if x.kind == realNumbers {
			name = "fftReals"
		} else if y.kind == realNumbers { // twice that, of numbers without another half
			name, scale = "fftToReals", scale/2
		}
		f.transform(step{name: name, x: x, y: y, conjugates: first | last, scale: scale})
		return
	}
	// The convolution is a product of transforms, and the inverse one is that of conjugates.
	middle := f.transform(step{name: "fftFactors", x: x, before: f.chirp, after: f.around, conjugates: first, scale: 1})
	f.transform(step{name: "fftFactors", x: middle, y: y, after: f.chirp, conjugates: atLoad | beforeFactors | last, scale: scale})
}

// A step is a pass of kernels/fft.cu.
type step struct {
	name          string
	x, y          signals
	before, after uintptr
	conjugates    int
	scale         float64
	r, done       int // it makes transforms of 2ʳ numbers, after those of 2^done
}

// partsOfLog returns the logarithms of the transforms that passes for one of 2ˡ numbers make. Tests change it.
var partsOfLog = func(l int) (parts []int) {
	if l <= fftLogs.whole {
		return []int{l}
	}
	for count := across(l, fftLogs.part); count > 0; count-- {
		r := across(l, count)
		parts = append(parts, r)
		l -= r
	}
	return parts
}

// transform makes a transform of 2ˡ numbers, as a step that is one pass or several, and returns where it
// is. If y is nowhere, that is in scratch memory.
func (f *transforms) transform(s step) signals {
	parts, done := partsOfLog(f.log), 0
	last := len(parts) - 1
	// The blocks of the last pass write where they read, so that the pass before it can write there, too.
	inPlace := last > 1 && (s.y.at == 0 || s.y.kind == complexNumbers && s.y.length == 1<<f.log)
	var steps []step
	for i, r := range parts {
		one := step{name: s.name, x: s.x, y: s.y, scale: 1, r: r, done: done}
		if i == 0 {
			one.before, one.conjugates = s.before, s.conjugates&atLoad
		}
		if i == last {
			one.after, one.scale = s.after, s.scale
			one.conjugates |= s.conjugates &^ atLoad
		}
		if inPlace && i == last {
			one.y = one.x
		} else if s.y.at == 0 || i < last && (!inPlace || i != last-1) {
			one.y = f.dense(f.rooms[f.next])
			f.next ^= 1
		}
		steps = append(steps, one)
		s.x = one.y
		done += r
	}
	if inPlace && f.side != nil {
		f.launchStep(steps[0], chunkOf{})
		f.inChunks(steps[1], steps[2])
		return s.x
	}
	for _, one := range steps {
		f.launchStep(one, chunkOf{})
	}
	return s.x
}

// fftChunk is how many numbers two passes make at a time, so that the cache of a card keeps those of two chunks
// from the first pass to the second. Tests lower it.
var fftChunk = 1 << 20

// chunkLog returns the logarithm of the columns of a chunk of the last two of three passes, of each 2^parts[0]. The
// numbers of a chunk are those of no other chunk. A block needs so many columns.
func (f *transforms) chunkLog(parts []int) int {
	each := 1 << (f.log - parts[0])
	return min(parts[0], max(bits.Len(uint(fftChunk/each))-1, f.width(parts[1]), f.width(parts[2])))
}

// inChunks makes the last two of three passes for a chunk of a signal after the other, in two streams.
func (f *transforms) inChunks(one, two step) {
	some := f.chunkLog([]int{one.done, one.r, two.r})
	side, beside := *f, *f.side // whose error is that of this call
	side.pass = &beside
	on, other := f, &side
	for signal := range f.count {
		for lo := 0; lo < 1<<one.done; lo += 1 << some {
			other.after(on.pass) // no stream begins its next chunk before the other one has begun that before it
			on.launchStep(one, chunkOf{signal, lo, some, one.done})
			on.launchStep(two, chunkOf{signal, lo, some, one.done})
			on, other = other, on
		}
	}
	f.after(side.pass)
}

// A chunkOf a pass is what a launch makes: of each 2^period columns of a signal the 2^some from lo on. The zero
// value is all of all signals.
type chunkOf struct{ signal, lo, some, period int }

// threadsOf returns the threads of a block that makes transforms of 2ʳ numbers, and width the logarithm of its columns.
func (f *transforms) threadsOf(r int) int {
	threads := warp
	for threads*fftHeld < 1<<r || threads < bounds.threads && threads*fftHeld < f.count<<f.log {
		threads *= 2
	}
	return threads
}

func (f *transforms) width(r int) int { return bits.Len(uint(f.threadsOf(r)*fftHeld)) - 1 - r }

// launchStep makes a pass.
func (f *transforms) launchStep(s step, of chunkOf) {
	columns, threads := f.count<<(f.log-s.r), f.threadsOf(s.r)
	if s.name == "fftFactors" && s.before == 0 && s.after == 0 && s.x.kind == complexNumbers && s.y.kind == complexNumbers && min(s.x.length, s.y.length) == 1<<f.log {
		s.name = "fftPass"
	}
	name := s.name + string(rune('1'+(s.r+2)%3))
	g := grid{[3]int{across(columns<<s.r, threads*fftHeld), 1, 1}, [3]int{threads, 1, 1}}
	if of.period > 0 {
		g.blocks = [3]int{1 << (of.some - f.width(s.r)), 1 << (f.log - s.r - of.period), 1}
		of.lo += of.signal << (f.log - s.r)
	}
	var params []uint64
	for _, x := range [...]signals{s.x, s.y} {
		params = append(params, uint64(x.at), uint64(x.inc), uint64(x.batch), uint64(x.length), uint64(x.kind))
	}
	f.launch(name, g, append(params, uint64(s.before), uint64(s.after), uint64(f.roots),
		uint64(f.log), uint64(s.r), uint64(s.done), uint64(columns), uint64(s.conjugates), uint64(of.lo), uint64(of.period), rawBits(s.scale))...)
}
