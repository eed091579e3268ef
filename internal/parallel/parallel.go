// Package parallel is a deterministic fork-join over the blocks of a problem.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Task is work cut into blocks that write disjoint outputs. Block is called
// once for each block, from any goroutine; worker is in [0, Workers) and no two
// calls run at the same time with the same worker, so it may index scratch.
type Task interface {
	Block(worker, block int)
}

// Workers returns the number of workers that a Workers field of w asks for:
// w itself, or GOMAXPROCS if w is 0. It panics if w is negative.
func Workers(w int) int {
	if w < 0 {
		panic("parallel: negative number of workers")
	}
	if w == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return w
}

// Run runs all blocks of t on the given number of workers and returns when all
// are done.
func Run(workers, blocks int, t Task) {
	workers = min(workers, blocks)
	if workers <= 1 {
		for b := range blocks {
			t.Block(0, b)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				b := int(next.Add(1)) - 1
				if b >= blocks {
					return
				}
				t.Block(w, b)
			}
		}()
	}
	wg.Wait()
}
