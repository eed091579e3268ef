package cluster

import "revnum/internal/parallel"

// adders adds up the numbers of blocks in several goroutines.
type adders struct {
	own   []adder       // one for each goroutine
	total map[int]*Sums // by number of sums
}

type adder struct {
	sums   map[int]*Sums // by number of sums
	failed int           // the block that failed
	err    error
}

func newAdders(workers int) adders {
	a := adders{own: make([]adder, parallel.Workers(workers)), total: make(map[int]*Sums)}
	for w := range a.own {
		a.own[w].sums = make(map[int]*Sums)
	}
	return a
}

// sumsOf returns n sums from the list, all 0.
func sumsOf(list map[int]*Sums, n int) *Sums {
	s := list[n]
	if s == nil {
		s = NewSums(n)
		list[n] = s
	}
	s.Reset()
	return s
}

// run returns n sums. It calls do, which adds the numbers of a block to s. Calls with
// the same worker never run at the same time. The error is that of the first block that
// fails.
func (a *adders) run(blocks, n int, do func(worker, block int, s *Sums) error) (*Sums, error) {
	for w := range a.own {
		sumsOf(a.own[w].sums, n)
		a.own[w].err = nil
	}
	parallel.Run(len(a.own), blocks, addersTask{a, n, do})
	s, at := sumsOf(a.total, n), blocks
	var err error
	for w := range a.own {
		w := &a.own[w]
		s.Merge(w.sums[n])
		if w.err != nil && w.failed < at {
			at, err = w.failed, w.err
		}
	}
	return s, err
}

// addersTask is the parallel task of run.
type addersTask struct {
	a  *adders
	n  int
	do func(worker, block int, s *Sums) error
}

// Block implements parallel.Task.
func (t addersTask) Block(worker, block int) {
	w := &t.a.own[worker]
	if w.err != nil && w.failed < block {
		return
	}
	if err := t.do(worker, block, w.sums[t.n]); err != nil {
		w.failed, w.err = block, err
	}
}
