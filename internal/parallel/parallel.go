package parallel

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Task is work cut into blocks that write disjoint outputs. Block is called once for
// each block, from any goroutine. worker is in [0, workers). No two calls run at the
// same time with the same worker, so worker may index scratch memory.
type Task interface {
	Block(worker, block int)
}

// perProcessor is the largest number of workers for each processor.
const perProcessor = 8

// Workers returns the number of workers for a kernel whose field Workers is w. That
// is w, but at most perProcessor times GOMAXPROCS, or GOMAXPROCS if w is 0. More
// workers would only take memory, because each has a goroutine and scratch memory.
// Workers panics if w is negative.
func Workers(w int) int {
	if w < 0 {
		panic("parallel: negative number of workers")
	}
	if 0 < w && w <= perProcessor {
		return w // runtime.GOMAXPROCS takes a lock
	}
	processors := runtime.GOMAXPROCS(0)
	if w == 0 {
		return processors
	}
	return min(w, perProcessor*processors)
}

// Calls is how many calls of the library for C (ports/capi) run. An interrupt, which may be a handler
// of signals in C, adds math.MinInt32 if there are any. Run and Wait then panic with ErrInterrupted
// before their next block, until all these calls have ended. They recover.
var Calls atomic.Int32

// ErrInterrupted is what Run and Wait panic with because of an interrupt.
var ErrInterrupted = errors.New("interrupted")

// Begin counts a call. It waits for the end of those that an interrupt ends, as it is to end no others.
func Begin() {
	for {
		n := Calls.Load()
		if n >= 0 && Calls.CompareAndSwap(n, n+1) {
			return
		}
		if n < 0 {
			time.Sleep(nap)
		}
	}
}

// End ends a call.
func End() {
	if Calls.Add(-1) == math.MinInt32 {
		Calls.Store(0) // nothing else changes it now
	}
}

// CheckInterrupt panics with ErrInterrupted if calls are interrupted.
func CheckInterrupt() {
	if Calls.Load() < 0 {
		panic(ErrInterrupted)
	}
}

// Run runs the blocks 0, 1, ..., blocks-1 of t on at most the given number of
// workers, and returns when all are done. With one worker the blocks run in the
// calling goroutine, in this order. With more, the caller is worker 0, and each
// worker begins with a share of its own. A block then finds in the cache of its core
// what it left there in the call before. Any number of goroutines may call Run, and
// a block may call it too.
//
// If a block panics, later blocks that have not started do not run. When the
// others have finished, Run panics with the value of the first block, in order, that
// panicked. With one worker the value is the same: nothing is recovered, and the
// panic of the block goes on.
//
// A block must not call runtime.Goexit (as testing.T.FailNow does). If one does and
// there is one worker, the calling goroutine ends, and later blocks do not
// run. With more workers Run panics.
func Run(workers, blocks int, t Task) {
	workers = min(workers, blocks)
	if workers <= 1 {
		for b := range blocks {
			CheckInterrupt()
			t.Block(0, b)
		}
		return
	}
	j := fork(workers, blocks, t)
	defer j.join()
	j.work(0)
}

// A job is a call of Run in progress.
type job struct {
	task      Task
	workers   int
	blocks    int64
	next      []atomic.Int64 // the first block of each worker's share that has not started
	stop      atomic.Int64   // blocks from this one on are left out
	pending   atomic.Int32   // the caller and the followers that are not done
	done      chan struct{}
	followers []*follower

	mu       sync.Mutex
	panicked bool
	block    int64 // the first block that panicked, and what with
	value    any
}

// A follower is a goroutine that works on one job at a time, as worker number
// worker.
//
// Its state is nil while it is idle and looks for work, asleep while it waits for a
// token, a job when it is asked to work on that job, and working while it works. A
// caller takes a follower off the stack of idle followers and stores its job in the
// state. While the state is still that job, the caller may take the request back.
type follower struct {
	state  atomic.Pointer[job]
	wake   chan struct{} // gets one token for each step from asleep to a job
	idle   *time.Timer   // ends the follower; nil until it first sleeps
	worker int
	start  func() // run, made once
}

// idleTime is how long a follower sleeps before it ends. Tests that look for leaked goroutines
// wait longer, and a new follower costs less than waking up an old one.
const idleTime = 200 * time.Millisecond

var asleep, working = new(job), new(job)

// spins returns how often an idle follower, a waiting caller or a waiting block looks
// again before it goes to sleep. That takes some 50 µs. Waking up may take as long, and
// a kernel that has forked once will probably fork again in that time. With a single
// processor there is nobody to wait for.
func spins() int {
	if runtime.GOMAXPROCS(0) == 1 {
		return 1
	}
	return 50000
}

// pause lets other goroutines run now and then. The goroutine that is waited for may
// be among them.
func pause(i int) {
	if i%1024 == 1023 {
		runtime.Gosched()
	}
}

// A Wait is the wait of a block for what another worker computes:
//
//	for w := (parallel.Wait{}); !done.Load(); w.Pause() {
//	}
//
// At first it looks again at once, because the other worker is probably about to finish.
// If that takes too long, the system may have stopped the other worker to run another
// program. Then Pause sleeps, so that the other worker can have this processor. To go on
// looking would keep it from working until the end of a time slice.
type Wait struct{ looked, most int }

// Pause lets some time pass.
func (w *Wait) Pause() {
	CheckInterrupt()
	if w.most == 0 {
		w.most = spins()
	}
	if w.looked == w.most {
		time.Sleep(nap)
		return
	}
	pause(w.looked)
	w.looked++
}

// nap is less than the shortest time for which systems sleep.
const nap = 20 * time.Microsecond

var pool struct {
	sync.Mutex
	idle      []*follower // the last to become idle on top, as it is likely awake
	ended     []*follower // to be started again, which does not allocate
	followers int         // number of followers that run
	jobs      []*job
}

// fork returns a running job with the available followers. There are never more
// followers than a single call has asked for. If other calls have them, the caller
// works with fewer. No block can tell the difference.
func fork(workers, blocks int, t Task) *job {
	pool.Lock()
	var j *job
	if n := len(pool.jobs); n > 0 {
		j = pool.jobs[n-1]
		pool.jobs = pool.jobs[:n-1]
	} else {
		j = &job{done: make(chan struct{}, 1)}
	}
	for n := len(pool.idle); n > 0 && len(j.followers) < workers-1; n-- {
		j.followers = append(j.followers, pool.idle[n-1])
		pool.idle = pool.idle[:n-1]
	}
	for len(j.followers) < workers-1 && pool.followers < workers-1 {
		var h *follower
		if n := len(pool.ended); n > 0 {
			h = pool.ended[n-1]
			pool.ended = pool.ended[:n-1]
			h.state.Store(nil)
		} else {
			h = &follower{wake: make(chan struct{}, 1)}
			h.start = h.run
		}
		j.followers = append(j.followers, h)
		pool.followers++
		go h.start()
	}
	pool.Unlock()

	j.task, j.workers, j.blocks = t, workers, int64(blocks)
	for len(j.next) < workers {
		j.next = append(j.next, atomic.Int64{})
	}
	for w := range workers {
		j.next[w].Store(j.share(w))
	}
	j.stop.Store(int64(blocks))
	j.pending.Store(int32(len(j.followers) + 1))
	for i, h := range j.followers {
		h.worker = i + 1
		if h.state.Swap(j) == asleep {
			h.wake <- struct{}{}
		}
	}
	return j
}

// join waits for the blocks in progress, gives the job back, and repeats the panic
// of a block if there was one.
func (j *job) join() {
	left := int32(1)
	for _, h := range j.followers {
		if h.state.CompareAndSwap(j, nil) {
			h.rest()
			left++
		}
	}
	if j.pending.Add(-left) != 0 {
		for i, n := 0, spins(); i < n && j.pending.Load() != 0; i++ {
			pause(i)
		}
		<-j.done
	}
	panicked, value := j.panicked, j.value
	j.task, j.panicked, j.value = nil, false, nil
	clear(j.followers)
	j.followers = j.followers[:0]
	pool.Lock()
	pool.jobs = append(pool.jobs, j)
	pool.Unlock()
	if panicked {
		panic(value)
	}
}

// share returns the first block of a worker's share.
func (j *job) share(worker int) int64 { return int64(worker) * j.blocks / int64(j.workers) }

// work runs the blocks of the worker's share, and then the remaining blocks of the
// other shares.
func (j *job) work(worker int) {
	b, inBlock := int64(0), false
	defer func() {
		if !inBlock {
			return
		}
		v := recover()
		if v == nil {
			// The goroutine is ending; another worker must not believe
			// that the block was done.
			v = "parallel: runtime.Goexit called in a block"
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if !j.panicked || b < j.block {
			j.panicked, j.block, j.value = true, b, v
			j.stop.Store(b)
		}
	}()
	for i := range j.workers {
		share := (worker + i) % j.workers
		for {
			if b = j.next[share].Add(1) - 1; b >= min(j.share(share+1), j.stop.Load()) {
				break
			}
			inBlock = true
			CheckInterrupt()
			j.task.Block(worker, int(b))
			inBlock = false
		}
	}
}

// run is the life of a follower.
func (h *follower) run() {
	for j := h.await(); j != nil; j = h.await() {
		h.serve(j)
	}
}

// await returns the next job of the follower. The state is then working. After some idle time
// await returns nil, and the follower must end.
func (h *follower) await() *job {
	for {
		for i := range spins() {
			if j := h.state.Load(); j != nil && h.state.CompareAndSwap(j, working) {
				return j
			}
			pause(i)
		}
		if h.state.CompareAndSwap(nil, asleep) && !h.sleep() {
			return nil
		}
	}
}

// sleep waits for a token. It returns false if the follower has left the stack of idle ones.
func (h *follower) sleep() bool {
	if h.idle == nil {
		h.idle = time.NewTimer(idleTime)
	} else {
		h.idle.Reset(idleTime)
	}
	select {
	case <-h.wake:
		h.idle.Stop()
		return true
	case <-h.idle.C:
	}
	if h.leave() {
		return false
	}
	<-h.wake // a caller has taken the follower, and sends a token
	return true
}

// leave takes the follower off the stack of idle ones for good. It returns false if it is not
// there.
func (h *follower) leave() bool {
	pool.Lock()
	defer pool.Unlock()
	i := slices.Index(pool.idle, h)
	if i < 0 {
		return false
	}
	pool.idle = slices.Delete(pool.idle, i, i+1)
	select {
	case <-h.wake: // of a request that was taken back, and would wake the follower later
	default:
	}
	pool.ended = append(pool.ended, h)
	pool.followers--
	return true
}

// serve works on j.
func (h *follower) serve(j *job) {
	ended := true
	defer func() {
		if ended { // by runtime.Goexit
			pool.Lock()
			pool.followers--
			pool.Unlock()
		} else {
			// The follower becomes idle before the caller can return, so
			// that the next call finds it.
			h.state.Store(nil)
			h.rest()
		}
		if j.pending.Add(-1) == 0 {
			j.done <- struct{}{}
		}
	}()
	j.work(h.worker)
	ended = false
}

// rest puts the follower on the stack of idle ones.
func (h *follower) rest() {
	pool.Lock()
	pool.idle = append(pool.idle, h)
	pool.Unlock()
}
