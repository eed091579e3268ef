package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"revnum/revmodels/ba"
)

// DefaultObservations is the approximate number of observations in a block of SolveBA.
const DefaultObservations = 1 << 14

// SolveBA improves the cameras and points of p, as ba.SolveParts does. All ranks call
// it with the same problem. Points and their observations are divided into blocks of
// about the given number of observations; 0 means DefaultObservations. Each rank has a
// share of the blocks. All ranks have all cameras. Workers is the number of goroutines
// of each rank; 0 means GOMAXPROCS.
//
// All ranks get the solution in p. It has the same bits for any number of ranks. Only
// rank 0 returns a report and calls opts.Progress. When ctx is done on rank 0, all
// ranks get the best solution so far, and rank 0 returns the error of ctx.
//
// A step of conjugate gradients sums 9 numbers a camera over the ranks, in one message
// each way. A new linearisation sums 97 numbers a camera, and each radius that is tried
// another 90.
func SolveBA(ctx context.Context, r Reducer, p *ba.Problem, observations, workers int, opts *ba.Options) (*ba.Report, error) {
	if observations <= 0 {
		observations = DefaultObservations
	}
	if err := sameProblem(r, p); err != nil {
		return nil, err
	}
	var loss ba.Loss
	if opts != nil {
		loss = opts.Loss
	}
	cut := p.Cut(observations)
	blocks := len(cut) - 1
	var mine []int
	for b := share(blocks, r.Rank(), r.Size()); b < share(blocks, r.Rank()+1, r.Size()); b++ {
		mine = append(mine, b)
	}
	parts, err := p.Parts(cut, mine, loss)
	if err := Agree(r, err); err != nil {
		return nil, err
	}
	s := &bundle{parts: parts, cameras: p.NumCameras(), adders: newAdders(workers)}
	s.scratch = make([]bundleScratch, len(s.adders.own))
	s.team = newTeam(r, 1+len(p.Cameras), s.answer)
	cameras := slices.Clone(p.Cameras)
	var report *ba.Report
	err = s.team.run(func() (err error) {
		report, err = ba.SolveParts(ctx, cameras, s, opts)
		return err
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	return report, errors.Join(err, s.gather(r, p, cameras))
}

// sameProblem returns an error unless all ranks have the same problem.
func sameProblem(r Reducer, p *ba.Problem) error {
	h := fnv.New64a()
	var b [8]byte
	add := func(v uint64) {
		binary.LittleEndian.PutUint64(b[:], v)
		_, _ = h.Write(b[:])
	}
	for _, list := range [][]int{p.Camera, p.Point} {
		add(uint64(len(list)))
		for _, v := range list {
			add(uint64(v))
		}
	}
	for _, list := range [][]float64{p.Cameras, p.Points, p.Features} {
		add(uint64(len(list)))
		for _, v := range list {
			add(math.Float64bits(v))
		}
	}
	mine := h.Sum(nil)
	first, err := Share(r, mine)
	if err != nil {
		return err
	}
	if !slices.Equal(first, mine) {
		err = fmt.Errorf("it has another problem than rank 0")
	}
	return Agree(r, err)
}

// gather stores the cameras of rank 0 and the points of all ranks in p.
func (s *bundle) gather(r Reducer, p *ba.Problem, cameras []float64) error {
	b := make([]byte, 8*len(cameras))
	putFloats(b, cameras)
	if err := r.Broadcast(b); err != nil {
		return err
	}
	getFloats(p.Cameras, b)
	// Each number comes from one rank. Its bits are added to zeros of the others.
	all := make([]int64, len(p.Points))
	for _, part := range s.parts {
		for i, v := range part.Points() {
			all[3*part.First()+i] = int64(math.Float64bits(v))
		}
	}
	if err := r.Sum(all); err != nil {
		return err
	}
	for i, v := range all {
		p.Points[i] = math.Float64frombits(uint64(v))
	}
	return nil
}

// bundle is ba.Parts over ranks.
type bundle struct {
	team    *team
	parts   []*ba.Part
	cameras int
	adders  adders
	scratch []bundleScratch // one for each goroutine
	all     []float64
}

type bundleScratch struct{ operands, numbers, perCamera []float64 }

// Ask implements ba.Parts.
func (s *bundle) Ask(q ba.Question, x float64, operands, numbers, perCamera []float64) error {
	n := len(numbers) + len(perCamera)
	s.all = slices.Grow(s.all[:0], n)[:n]
	err := s.team.ask(s.all, stop+1+uint64(q), []float64{x}, operands)
	copy(perCamera, s.all[copy(numbers, s.all):])
	return err
}

// answer answers a request.
func (s *bundle) answer(r request) (*Sums, error) {
	q := ba.Question(r.what - stop - 1)
	x, operands := r.operands[0], r.operands[1:]
	width, few, wide := q.Sizes()
	return s.adders.run(len(s.parts), few+wide*s.cameras, func(worker, b int, sums *Sums) error {
		part, t := s.parts[b], &s.scratch[worker]
		cameras := part.Cameras()
		t.operands = t.operands[:0]
		for _, c := range cameras[:len(cameras)*min(width, 1)] {
			t.operands = append(t.operands, operands[width*c:width*(c+1)]...)
		}
		t.numbers = slices.Grow(t.numbers[:0], few)[:few]
		t.perCamera = slices.Grow(t.perCamera[:0], wide*len(cameras))[:wide*len(cameras)]
		part.Answer(q, x, t.operands, t.numbers, t.perCamera)
		sums.AddAt(0, t.numbers)
		q.AddPerCamera(cameras, s.cameras, t.perCamera, func(at int, x []float64) { sums.AddAt(few+at, x) })
		return nil
	})
}
