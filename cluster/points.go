package cluster

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"revnum/cluster/shard"
	"revnum/rev"
)

// Points is the points of a set of shards. Each rank works on its share of the blocks.
// All ranks must see all files.
type Points struct {
	r          Reducer
	set        *shard.Set
	first, end int // blocks of this rank
	workers    []pointsWorker
	adders     adders

	means, variances []float64 // of the columns
	hashes           []int64   // of the shards
}

// pointsWorker is the memory of a goroutine.
type pointsWorker struct {
	block, part []float64
	hashes      []int64 // sums over the blocks of each shard
}

// NewPoints opens the points, and reads each of them once. All ranks call it. It
// returns an error on all ranks if open fails on one, if files differ between ranks, or
// if a number is not finite. Workers is the number of goroutines of each rank; 0 means
// GOMAXPROCS.
func NewPoints(r Reducer, workers int, open func() (*shard.Set, error)) (*Points, error) {
	set, err := open()
	if err := Agree(r, err); err != nil {
		if set != nil {
			err = errors.Join(err, set.Close())
		}
		return nil, err
	}
	p := &Points{r: r, set: set}
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
	p.adders = newAdders(workers)
	p.workers = make([]pointsWorker, len(p.adders.own))
	p.hashes = make([]int64, len(p.set.Shards()))
	for w := range p.workers {
		p.workers[w].hashes = make([]int64, len(p.hashes))
	}

	// The origin is a point, so that the sums of constant columns are exactly 0.
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
			shard.Powers(part, x, power, origin, about)
			if power == 1 {
				file, hash := p.set.Hash(block, x)
				w.hashes[file] += int64(hash)
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
	for _, w := range p.workers {
		for i, v := range w.hashes {
			p.hashes[i] += v
		}
	}
	if err := p.r.Sum(p.hashes); err != nil {
		return err
	}
	if p.variances, err = moments(2, p.means); err != nil {
		return err
	}
	floats.Add(p.means, origin)
	return nil
}

// share returns the first of n items that belongs to a rank.
func share(n, rank, size int) int { return int(int64(rank) * int64(n) / int64(size)) }

// Dims returns the number of all points, and of columns.
func (p *Points) Dims() (n, d int) { return p.set.Dims() }

// Columns returns copies of the means and the variances of the columns.
func (p *Points) Columns() (means, variances []float64) {
	return slices.Clone(p.means), slices.Clone(p.variances)
}

// Close closes the files.
func (p *Points) Close() error { return p.set.Close() }

// sum returns the n sums of this rank. It calls do for each block x, which stores in
// part the n numbers that the block adds to the sums. The error is that of the first
// block that fails.
func (p *Points) sum(n int, do func(w *pointsWorker, part []float64, block int, x rev.General[float64]) error) (*Sums, error) {
	return p.adders.run(p.end-p.first, n, func(worker, b int, s *Sums) error {
		w, block := &p.workers[worker], p.first+b
		x, err := p.set.Read(block, w.block)
		w.block = x.Data
		if err != nil {
			return err
		}
		w.part = slices.Grow(w.part[:0], n)[:n]
		if err := do(w, w.part, block, x); err != nil {
			return err
		}
		s.Add(w.part)
		return nil
	})
}

// Blocks returns the number of blocks of all ranks.
func (p *Points) Blocks() int { return p.set.Blocks() }

// Shards describes each shard by its name, without the folder, its shape, and a hash of its
// numbers (see shard.Set.Hash).
func (p *Points) Shards() []string {
	list := p.set.Shards()
	for i, hash := range p.hashes {
		list[i] += fmt.Sprintf(" and the hash %016x", uint64(hash))
	}
	return list
}
