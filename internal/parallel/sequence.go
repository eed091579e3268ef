package parallel

import "sync/atomic"

// A Sequence hands out the blocks of a Task in order, to any worker that asks. A
// block may therefore wait for the results of an earlier block, because some worker has
// begun that one.
type Sequence struct {
	next    atomic.Int64
	stopped atomic.Bool
}

// Begin makes the sequence start again.
func (s *Sequence) Begin() {
	s.next.Store(0)
	s.stopped.Store(false)
}

// Do calls f for a block. If f panics or returns false, no worker waits any more.
func (s *Sequence) Do(f func() bool) {
	done := false
	defer func() {
		if !done {
			s.stopped.Store(true)
		}
	}()
	done = f()
}

// Take returns the next block.
func (s *Sequence) Take() int { return int(s.next.Add(1) - 1) }

// Await waits until done is at least n. It returns false if the sequence was stopped
// before.
func (s *Sequence) Await(done *atomic.Int64, n int) bool {
	for w := (Wait{}); done.Load() < int64(n); w.Pause() {
		if s.stopped.Load() {
			return false
		}
	}
	return true
}

// Stop lets no worker wait any more.
func (s *Sequence) Stop() { s.stopped.Store(true) }
