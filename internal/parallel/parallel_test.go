package parallel

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"revnum/internal/long"
)

// blockFunc is a Task of a function.
type blockFunc func(worker, block int)

func (f blockFunc) Block(worker, block int) { f(worker, block) }

// counting checks that each block runs once and that no two calls share a
// worker at a time.
type counting struct {
	busy  []atomic.Int32
	times []int
	err   atomic.Value
}

func (c *counting) Block(worker, block int) {
	if worker < 0 || worker >= len(c.busy) {
		c.err.Store(fmt.Errorf("worker %d of %d", worker, len(c.busy)))
		return
	}
	if c.busy[worker].Add(1) != 1 {
		c.err.Store(fmt.Errorf("worker %d runs two blocks at a time", worker))
	}
	c.times[block]++
	if block%3 == 0 {
		runtime.Gosched()
	}
	c.busy[worker].Add(-1)
}

func checkRun(workers, blocks int) error {
	c := &counting{busy: make([]atomic.Int32, workers), times: make([]int, blocks)}
	Run(workers, blocks, c)
	if err := c.err.Load(); err != nil {
		return err.(error)
	}
	for b, n := range c.times {
		if n != 1 {
			return fmt.Errorf("workers=%d blocks=%d: block %d ran %d times", workers, blocks, b, n)
		}
	}
	return nil
}

func TestRun(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 7} {
		for _, blocks := range []int{0, 1, 2, 3, 6, 50} {
			for range 20 {
				if err := checkRun(workers, blocks); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestRunsOnSeveralGoroutines(t *testing.T) {
	// Each of two blocks waits for the other, so one goroutine cannot run both.
	var wg sync.WaitGroup
	wg.Add(2)
	Run(2, 2, blockFunc(func(_, _ int) {
		wg.Done()
		wg.Wait()
	}))
}

func TestShares(t *testing.T) {
	// The caller waits in its first block until the other worker has done its
	// share and then the rest of the caller's. The other waits for the caller to begin.
	var order []int
	var begun, rest sync.WaitGroup
	begun.Add(1)
	rest.Add(5)
	Run(2, 6, blockFunc(func(worker, block int) {
		if worker == 0 {
			begun.Done()
			rest.Wait()
			order = append(order, block)
			return
		}
		begun.Wait()
		order = append(order, block)
		rest.Done()
	}))
	if !slices.Equal(order, []int{3, 4, 5, 1, 2, 0}) {
		t.Errorf("blocks ended in the order %v", order)
	}
}

func TestOneWorkerRunsInline(t *testing.T) {
	var order []int
	before := runtime.NumGoroutine()
	Run(1, 5, blockFunc(func(worker, block int) {
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines, %d before", n, before)
		}
		if worker != 0 {
			t.Errorf("worker %d", worker)
		}
		order = append(order, block)
	}))
	if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
		t.Errorf("blocks ran in the order %v", order)
	}
}

func TestConcurrentCallers(t *testing.T) {
	var wg sync.WaitGroup
	for caller := range 16 {
		wg.Go(func() {
			for i := range 100 {
				if err := checkRun(2+(caller+i)%3, 1+i%9); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	pool.Lock()
	defer pool.Unlock()
	if len(pool.idle) != pool.followers {
		t.Errorf("%d of %d followers are idle when no call is in progress", len(pool.idle), pool.followers)
	}
	if pool.followers > 6 {
		t.Errorf("%d followers, but no call asked for more than 6", pool.followers)
	}
}

func TestNested(t *testing.T) {
	var sum atomic.Int64
	Run(3, 6, blockFunc(func(_, i int) {
		Run(3, 6, blockFunc(func(_, j int) {
			Run(2, 4, blockFunc(func(_, k int) {
				sum.Add(int64(100*i + 10*j + k))
			}))
		}))
	}))
	var want int64
	for i := range int64(6) {
		for j := range int64(6) {
			for k := range int64(4) {
				want += 100*i + 10*j + k
			}
		}
	}
	if got := sum.Load(); got != want {
		t.Errorf("sum %d, want %d", got, want)
	}
}

// caught returns what f panics with.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestPanic(t *testing.T) {
	cause := new(int)
	for _, workers := range []int{1, 2, 7} {
		for range 50 {
			var running atomic.Int32
			v := caught(func() {
				Run(workers, 20, blockFunc(func(_, block int) {
					running.Add(1)
					defer running.Add(-1)
					switch {
					case block == 3:
						runtime.Gosched()
						panic(cause)
					case block > 3:
						panic(block)
					}
				}))
			})
			if v != any(cause) {
				t.Fatalf("workers=%d: panicked with %v, want that of block 3", workers, v)
			}
			if n := running.Load(); n != 0 {
				t.Fatalf("workers=%d: %d blocks still running", workers, n)
			}
			if err := checkRun(workers, 20); err != nil {
				t.Fatalf("after a panic: %v", err)
			}
		}
	}
}

// interrupt is what interrupt_calls of ports/capi does.
func interrupt() {
	for {
		if n := Calls.Load(); n <= 0 || Calls.CompareAndSwap(n, n+math.MinInt32) {
			return
		}
	}
}

// An interrupt ends Run at its next block, and a block that waits for one that will not run.
func TestInterrupt(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for range 50 {
			var blocks atomic.Int32
			Begin()
			v := caught(func() {
				Run(workers, 1000, blockFunc(func(_, block int) {
					if blocks.Add(1) == 10 {
						interrupt()
					}
				}))
			})
			if n := int(blocks.Load()); v != any(ErrInterrupted) || n < 10 || n > 10+workers {
				t.Fatalf("workers=%d: panicked with %v after %d blocks", workers, v, n)
			}
			End()
			Begin()
			v = caught(func() {
				Run(workers, 20, blockFunc(func(_, block int) {
					interrupt()
					for w := (Wait{}); ; w.Pause() {
					}
				}))
			})
			if v != any(ErrInterrupted) {
				t.Fatalf("workers=%d: panicked with %v in a wait", workers, v)
			}
			End()
			if err := checkRun(workers, 20); err != nil {
				t.Fatalf("after an interrupt: %v", err)
			}
		}
	}
}

// An interrupt ends all calls that run, and none that begins later or while there is none.
func TestInterruptEndsCallsThatRun(t *testing.T) {
	interrupt()
	Begin()
	Begin()
	CheckInterrupt()
	interrupt()
	interrupt()
	begun := make(chan any)
	go func() {
		Begin()
		defer End()
		begun <- caught(CheckInterrupt)
	}()
	End() // the other call still runs, and is to end
	select {
	case <-begun:
		t.Error("a call began before those that were to end had ended")
	case <-time.After(10 * time.Millisecond):
	}
	if v := caught(CheckInterrupt); v != any(ErrInterrupted) {
		t.Errorf("when another call had ended, a call found %v", v)
	}
	End()
	if v := <-begun; v != nil {
		t.Errorf("a later call panicked with %v", v)
	}
}

// Interrupts at any time leave no call to be ended.
func TestInterruptsAtAnyTime(t *testing.T) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for !stop.Load() {
				Begin()
				_ = caught(func() { Run(2, 4, blockFunc(func(_, _ int) {})) })
				End()
			}
		})
	}
	for range 200 {
		interrupt()
		time.Sleep(nap)
	}
	stop.Store(true)
	wg.Wait()
	if n := Calls.Load(); n != 0 {
		t.Errorf("%d calls are left", n)
	}
}

func TestGoexit(t *testing.T) {
	for trial := range 50 {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			var both sync.WaitGroup
			both.Add(2)
			Run(2, 2, blockFunc(func(worker, _ int) {
				both.Done()
				both.Wait()
				if worker == trial%2 {
					runtime.Goexit()
				}
			}))
		}()
		if v := <-done; v == nil {
			t.Fatal("Run returned as if the block had been done")
		}
		if err := checkRun(3, 20); err != nil {
			t.Fatalf("after Goexit: %v", err)
		}
	}
}

// With one worker a block runs in the calling goroutine, with nothing between.
func TestOneWorkerGoexit(t *testing.T) {
	for _, panics := range []bool{true, false} {
		done := make(chan any)
		ran, returned := 0, false
		go func() {
			defer func() { done <- recover() }()
			Run(1, 3, blockFunc(func(_, block int) {
				ran++
				switch {
				case block == 0:
				case panics:
					panic("block 1")
				default:
					runtime.Goexit()
				}
			}))
			returned = true
		}()
		v := <-done
		if panics != (v == any("block 1")) || returned || ran != 2 {
			t.Errorf("panics: %v: recovered %v, Run returned: %v, after %d blocks", panics, v, returned, ran)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	c := &counting{busy: make([]atomic.Int32, 3), times: make([]int, 12)}
	if n := testing.AllocsPerRun(200, func() { Run(3, 12, c) }); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func TestSleepingFollowers(t *testing.T) {
	for range 5 {
		time.Sleep(time.Millisecond) // long past the spinning
		if err := checkRun(4, 9); err != nil {
			t.Fatal(err)
		}
	}
}

// followerGoroutines returns how many goroutines are followers.
func followerGoroutines() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*follower).run(")
}

// TestFollowersEnd waits until all followers have ended. Later calls have new ones.
func TestFollowersEnd(t *testing.T) {
	for range 2 {
		if err := checkRun(12, 30); err != nil {
			t.Fatal(err)
		}
		if followerGoroutines() == 0 {
			t.Error("no followers")
		}
		for began := time.Now(); followerGoroutines() > 0; time.Sleep(idleTime / 4) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%d followers are left", followerGoroutines())
			}
		}
		pool.Lock()
		followers, idle := pool.followers, len(pool.idle)
		pool.Unlock()
		if followers != 0 || idle != 0 {
			t.Errorf("%d followers, %d of them idle", followers, idle)
		}
	}
}

// TestFollowersEndingAndCalled has calls at the times when followers end.
func TestFollowersEndingAndCalled(t *testing.T) {
	for _, i := range []int{0, 1, -1, 2, -2, 3, -3, -4}[:long.Or(8, 3)] {
		time.Sleep(idleTime + time.Duration(i)*100*time.Microsecond)
		if err := checkRun(4, 9); err != nil {
			t.Fatal(err)
		}
	}
}

// A follower that ends just when a request to it was taken back keeps no token. With one it would later
// wake up without a job, and be idle twice.
func TestFollowerEndsAfterRequestTakenBack(t *testing.T) {
	for {
		pool.Lock()
		n := pool.followers
		pool.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(idleTime / 10)
	}
	h := &follower{wake: make(chan struct{}, 1)}
	h.start = h.run
	h.wake <- struct{}{}
	pool.Lock()
	pool.followers++
	pool.Unlock()
	h.rest()
	if !h.leave() {
		t.Fatal("the follower was not idle")
	}
	if err := checkRun(2, 9); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		time.Sleep(idleTime / 20) // the follower sleeps
		pool.Lock()
		idle, followers := len(pool.idle), pool.followers
		pool.Unlock()
		if idle > followers {
			t.Fatalf("%d of %d followers are idle", idle, followers)
		}
	}
}

func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	if got := Workers(0); got != 3 {
		t.Errorf("Workers(0) = %d with GOMAXPROCS=3", got)
	}
	runtime.GOMAXPROCS(1)
	if got := Workers(0); got != 1 {
		t.Errorf("Workers(0) = %d with GOMAXPROCS=1", got)
	}
	if err := checkRun(3, 10); err != nil {
		t.Errorf("with GOMAXPROCS=1: %v", err)
	}
	for w, want := range map[int]int{5: 5, perProcessor: perProcessor, perProcessor + 1: perProcessor, math.MaxInt: perProcessor} {
		if got := Workers(w); got != want {
			t.Errorf("Workers(%d) = %d with GOMAXPROCS=1, want %d", w, got, want)
		}
	}
	runtime.GOMAXPROCS(2)
	if got := Workers(1000000); got != 2*perProcessor {
		t.Errorf("Workers(1000000) = %d with GOMAXPROCS=2", got)
	}
	if caught(func() { Workers(-1) }) == nil {
		t.Error("Workers(-1) did not panic")
	}
}

// busyWork computes for about the given number of nanoseconds per block.
type busyWork struct{ steps int }

var sink atomic.Uint64

func (w *busyWork) Block(_, block int) {
	x := uint64(block + 1)
	for range w.steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	if x == 0 {
		sink.Add(1)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, steps := range []int{1, 30000} {
			b.Run(fmt.Sprintf("workers=%d/steps=%d", workers, steps), func(b *testing.B) {
				w := &busyWork{steps}
				b.ReportAllocs()
				for b.Loop() {
					Run(workers, 2, w)
				}
			})
		}
	}
}

// Blocks may wait for earlier ones, with fewer processors than workers too.
func TestWait(t *testing.T) {
	for _, processors := range []int{1, 2} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		const blocks = 500
		var taken, done atomic.Int64
		Run(3, blocks, blockFunc(func(_, _ int) {
			b := taken.Add(1) - 1
			if b%100 == 0 {
				time.Sleep(time.Millisecond) // the others stop looking
			}
			for w := (Wait{}); done.Load() < b; w.Pause() {
			}
			done.Add(1)
		}))
		if done.Load() != blocks {
			t.Errorf("%d blocks of %d ran on %d processors", done.Load(), blocks, processors)
		}
	}
}

// A follower that has ended starts again without an allocation: a caller that works alone for long
// between its forks, as on a slow machine, allocates no more than others.
func TestEndedFollowersStartAgain(t *testing.T) {
	task := &busyWork{steps: 1}
	allocs := testing.AllocsPerRun(2, func() {
		Run(3, 3, task)
		for running := 1; running > 0; time.Sleep(idleTime / 10) {
			pool.Lock()
			running = pool.followers
			pool.Unlock()
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// If a block of a sequence panics or ends it, the blocks that wait for others end, too. A sequence that begins
// again hands out the same blocks, and waits again.
func TestSequence(t *testing.T) {
	const blocks = 20
	var s Sequence
	for _, workers := range []int{1, 2, 7} {
		for _, bad := range []int{blocks, 0, 3, blocks - 1} { // none, and one of them
			var done atomic.Int64
			var waits atomic.Int32
			s.Begin()
			v := caught(func() {
				Run(workers, blocks, blockFunc(func(_, _ int) {
					b := s.Take()
					s.Do(func() bool {
						if w := (Wait{}); b == bad && workers > 1 && b < blocks-1 {
							for i := 0; waits.Load() == 0 && i < 60000; i++ { // until another one waits, if there is another worker
								w.Pause()
							}
						}
						if b > bad {
							waits.Add(1)
						}
						if !s.Await(&done, b) {
							return false
						}
						if b == bad {
							panic("block")
						}
						done.Store(int64(b + 1))
						return true
					})
				}))
			})
			if bad < blocks && v != any("block") || bad == blocks && v != nil || int(done.Load()) != bad {
				t.Errorf("%d workers, block %d fails: panic %v, %d blocks done", workers, bad, v, done.Load())
			}
			if bad < blocks && s.Await(&done, blocks) {
				t.Errorf("%d workers, block %d fails: a wait for the last one succeeds", workers, bad)
			}
		}
	}
	s.Begin()
	s.Stop()
	if s.Await(new(atomic.Int64), 1) {
		t.Error("a wait succeeds after Stop")
	}
	s.Begin()
	var done atomic.Int64
	time.AfterFunc(time.Millisecond, func() { done.Store(1) })
	if !s.Await(&done, 1) {
		t.Error("a wait ends before the block is done")
	}
}
