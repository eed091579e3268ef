package cluster

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"revnum/cluster/shard"
	"revnum/internal/parallel"
	"revnum/rev"
)

// Points are the points of a set of shards, of which each rank works on its share of the
// blocks. All ranks see all files.
type Points struct {
	r          Reducer
	set        *shard.Set
	first, end int // blocks of this rank
	workers    []pointsWorker
	sums       map[int]*Sums // by number

	means, variances []float64 // of the columns
}

// pointsWorker is what a goroutine needs.
type pointsWorker struct {
	block, part []float64
	sums        map[int]*Sums
	failed      int // the block at which it failed
	err         error
}

// NewPoints opens the points, and looks at each of them once. All ranks call it. The
// errors of open, files that differ between ranks, and numbers that are not finite are
// errors on all of them. Workers is the number of goroutines of each rank; 0 means
// GOMAXPROCS.
func NewPoints(r Reducer, workers int, open func() (*shard.Set, error)) (*Points, error) {
	set, err := open()
	if err := Agree(r, err); err != nil {
		if set != nil {
			err = errors.Join(err, set.Close())
		}
		return nil, err
	}
	p := &Points{r: r, set: set, sums: make(map[int]*Sums)}
	if err := p.start(workers); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return p, nil
}

func (p *Points) start(workers int) error {
	mine := p.set.String()
	first, err := Share(p.r, []byte(mine))
	if err != nil {
		return err
	}
	if string(first) != mine {
		err = fmt.Errorf("it sees other files than rank 0: %s, and not %s", mine, first)
	}
	if err := Agree(p.r, err); err != nil {
		return err
	}
	n, d := p.set.Dims()
	blocks, size := p.set.Blocks(), p.r.Size()
	p.first, p.end = share(blocks, p.r.Rank(), size), share(blocks, p.r.Rank()+1, size)
	p.workers = make([]pointsWorker, parallel.Workers(workers))
	for w := range p.workers {
		p.workers[w].sums = make(map[int]*Sums)
	}

	// About a point of the first block, columns that do not vary have exactly 0 for sums.
	origin := make([]float64, d)
	var failed error
	if p.r.Rank() == 0 {
		var row []float64
		row, failed = p.set.ReadRow(0)
		copy(origin, row)
	}
	if err := Agree(p.r, failed); err != nil {
		return err
	}
	b := make([]byte, 8*d)
	putFloats(b, origin)
	if err := p.r.Broadcast(b); err != nil {
		return err
	}
	getFloats(origin, b)
	moments := func(power int, about []float64) ([]float64, error) {
		s, err := p.sum(d, func(w *pointsWorker, part []float64, block int, x rev.General[float64]) error {
			clear(part)
			for i := range x.Rows {
				for j, v := range x.Row(i) {
					v -= origin[j]
					v -= about[j]
					if power == 2 {
						v *= v
					}
					part[j] += v
				}
			}
			if power == 1 {
				return p.set.CheckFinite(block, x)
			}
			return nil
		})
		if err := s.Reduce(p.r, err); err != nil {
			return nil, err
		}
		sums := make([]float64, d)
		s.RoundTo(sums)
		floats.Scale(1/float64(n), sums)
		return sums, nil
	}
	if p.means, err = moments(1, make([]float64, d)); err != nil {
		return err
	}
	if p.variances, err = moments(2, p.means); err != nil {
		return err
	}
	floats.Add(p.means, origin)
	return nil
}

// share returns the first of n things that belongs to a rank.
func share(n, rank, size int) int { return int(int64(rank) * int64(n) / int64(size)) }

// Dims returns the number of all points, and of columns.
func (p *Points) Dims() (n, d int) { return p.set.Dims() }

// Columns returns copies of the means and the variances of the columns.
func (p *Points) Columns() (means, variances []float64) {
	return slices.Clone(p.means), slices.Clone(p.variances)
}

// Close closes the files.
func (p *Points) Close() error { return p.set.Close() }

// sum returns the sums of this rank: do stores in part the n numbers that a block x adds
// to them. The error is that of the first block that has one.
func (p *Points) sum(n int, do func(w *pointsWorker, part []float64, block int, x rev.General[float64]) error) (*Sums, error) {
	t := &pointsTask{p: p, n: n, do: do}
	for w := range p.workers {
		p.workers[w].err = nil
		if s := p.workers[w].sums[n]; s != nil {
			s.Reset()
		}
	}
	parallel.Run(len(p.workers), p.end-p.first, t)
	s := p.sums[n]
	if s == nil {
		s = NewSums(n)
		p.sums[n] = s
	}
	s.Reset()
	var failed error
	at := p.end
	for w := range p.workers {
		w := &p.workers[w]
		if w.sums[n] != nil {
			s.Merge(w.sums[n])
		}
		if w.err != nil && w.failed < at {
			at, failed = w.failed, w.err
		}
	}
	return s, failed
}

// pointsTask is the parallel task of sum.
type pointsTask struct {
	p  *Points
	n  int
	do func(w *pointsWorker, part []float64, block int, x rev.General[float64]) error
}

// Block implements parallel.Task.
func (t *pointsTask) Block(worker, b int) {
	w := &t.p.workers[worker]
	block := t.p.first + b
	if w.err != nil && w.failed < block {
		return
	}
	x, err := t.p.set.Read(block, w.block)
	w.block = x.Data
	if err == nil {
		w.part = slices.Grow(w.part[:0], t.n)[:t.n]
		err = t.do(w, w.part, block, x)
	}
	if err != nil {
		w.failed, w.err = block, err
		return
	}
	if w.sums[t.n] == nil {
		w.sums[t.n] = NewSums(t.n)
	}
	w.sums[t.n].Add(w.part)
}

// Blocks returns the number of blocks of all ranks.
func (p *Points) Blocks() int { return p.set.Blocks() }

// String says what files and blocks there are.
func (p *Points) String() string { return p.set.String() }
