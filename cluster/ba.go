package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"hash/fnv"
	"math"
	"slices"

	"revnum/revmodels/ba"
)

// DefaultObservations is the approximate number of observations in a block of SolveBA.
const DefaultObservations = 1 << 14

// A BAState is where a solution is after an iteration. SolveBA goes on from there, to the
// same bits as if it had not stopped.
type BAState struct {
	ba.State
	Points  []float64 `json:"points"`
	Problem uint64    `json:"problem"` // HashBA of the problem with which the solution began
}

// A BACheckpoint says how SolveBA leaves a trace. The zero BACheckpoint leaves none.
type BACheckpoint struct {
	Resume *BAState // if not nil, where to go on; on all ranks

	// Save, if not nil, is called on rank 0 after each iteration whose number is a multiple
	// of Every. It must not keep the state.
	Save  func(*BAState) error
	Every int
}

// SolveBA improves the cameras and points of p, as ba.SolveParts does. All ranks call
// it with the same problem. Points and their observations are divided into blocks of
// about the given number of observations; 0 means DefaultObservations. Each rank has a
// share of the blocks. All ranks have all cameras. Workers is the number of goroutines
// of each rank; 0 means GOMAXPROCS.
//
// All ranks get the solution in p. It has the same bits for any number of ranks. Only
// rank 0 returns a report and calls opts.Progress. When ctx is done on rank 0, all
// ranks get the best solution so far, and rank 0 returns the error of ctx. A nil c is the
// zero BACheckpoint. To resume, all ranks call SolveBA with the problem with which the
// solution began, and with the state.
//
// A step of conjugate gradients sums 9 numbers a camera over the ranks, in one message
// each way. A new linearisation sums 97 numbers a camera, and each radius that is tried
// another 90.
func SolveBA(ctx context.Context, r Reducer, p *ba.Problem, observations, workers int, opts *ba.Options, c *BACheckpoint) (*ba.Report, error) {
	if observations <= 0 {
		observations = DefaultObservations
	}
	if c == nil {
		c = &BACheckpoint{}
	}
	problem, err := sameProblem(r, p, c.Resume)
	if err != nil {
		return nil, err
	}
	if from := c.Resume; from != nil && (from.Problem != problem || len(from.Points) != len(p.Points)) {
		return nil, errors.New("cluster: a state of another problem")
	}
	var loss ba.Loss
	if opts != nil {
		loss = opts.Loss
	}
	if err := p.Validate(); err != nil { // Cut needs a valid problem, the same one on all ranks
		return nil, err
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
	s := &bundle{r: r, parts: parts, cameras: p.NumCameras(), adders: newAdders(workers), points: make([]int64, len(p.Points))}
	s.scratch = make([]bundleScratch, len(s.adders.own))
	s.team = newTeam(r, 1+len(p.Cameras), s.answer)
	cameras := slices.Clone(p.Cameras)
	checkpoint := new(ba.Checkpoint)
	if c.Resume != nil {
		checkpoint.Resume = &c.Resume.State
		for _, part := range parts {
			first := 3 * part.First()
			part.Resume(c.Resume.Points[first : first+len(part.Points())])
		}
	}
	if c.Save != nil {
		state := &BAState{Points: make([]float64, len(p.Points)), Problem: problem}
		checkpoint.Save = func(now *ba.State) error {
			if now.Iteration%max(c.Every, 1) != 0 {
				return nil
			}
			if err := s.team.ask(nil, bundleGather); err != nil {
				return err
			}
			state.State = *now
			s.pointsTo(state.Points)
			return c.Save(state)
		}
	}
	var report *ba.Report
	err = s.team.run(func() (err error) {
		report, err = ba.SolveParts(ctx, cameras, s, opts, checkpoint)
		return err
	})
	if err != nil && !done(err) {
		return nil, err
	}
	return report, errors.Join(err, s.finish(p, cameras))
}

// A hasher is a 64-bit hash, FNV-1a, of numbers.
type hasher struct{ hash.Hash64 }

func (h hasher) add(v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	_, _ = h.Write(b[:])
}

func (h hasher) addAll(lists ...[]float64) {
	for _, list := range lists {
		h.add(uint64(len(list)))
		for _, v := range list {
			h.add(math.Float64bits(v))
		}
	}
}

// HashBA returns a hash of all numbers of p, as BAState.Problem has.
func HashBA(p *ba.Problem) uint64 {
	h := hasher{fnv.New64a()}
	for _, list := range [][]int{p.Camera, p.Point} {
		h.add(uint64(len(list)))
		for _, v := range list {
			h.add(uint64(v))
		}
	}
	h.addAll(p.Cameras, p.Points, p.Features)
	return h.Sum64()
}

// sameProblem returns the hash of the problem, or an error unless all ranks have the same and
// resume from the same state.
func sameProblem(r Reducer, p *ba.Problem, from *BAState) (uint64, error) {
	problem := HashBA(p)
	h := hasher{fnv.New64a()}
	h.add(problem)
	if from != nil {
		h.add(from.Problem)
		h.add(uint64(from.Iteration))
		h.addAll([]float64{from.Radius, from.Shrink}, from.Cameras, from.Points)
	}
	mine := h.Sum(nil)
	first, err := Share(r, mine)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(first, mine) {
		err = errors.New("it has another problem than rank 0, or another state to resume from")
	}
	return problem, Agree(r, err)
}

// finish stores the cameras of rank 0 and the points of all ranks in p.
func (s *bundle) finish(p *ba.Problem, cameras []float64) error {
	b := make([]byte, 8*len(cameras))
	putFloats(b, cameras)
	if err := s.r.Broadcast(b); err != nil {
		return err
	}
	getFloats(p.Cameras, b)
	err := s.gather()
	if err == nil {
		s.pointsTo(p.Points)
	}
	return err
}

// gather sets the points to those of all ranks. Each number comes from one rank. Its bits
// are added to zeros of the others.
func (s *bundle) gather() error {
	clear(s.points)
	for _, part := range s.parts {
		for i, v := range part.Points() {
			s.points[3*part.First()+i] = int64(math.Float64bits(v))
		}
	}
	return s.r.Sum(s.points)
}

// pointsTo stores the points that were gathered in dst.
func (s *bundle) pointsTo(dst []float64) {
	for i, v := range s.points {
		dst[i] = math.Float64frombits(uint64(v))
	}
}

// bundle is ba.Parts over ranks.
type bundle struct {
	r       Reducer
	team    *team
	parts   []*ba.Part
	cameras int
	adders  adders
	scratch []bundleScratch // one for each goroutine
	all     []float64
	points  []int64 // the bits of the points of all ranks, after gather
}

// Requests of SolveBA. Those from bundleAsk on are questions.
const (
	bundleGather = stop + 1 + iota
	bundleAsk
)

type bundleScratch struct{ operands, numbers, perCamera []float64 }

// Ask implements ba.Parts.
func (s *bundle) Ask(q ba.Question, x float64, operands, numbers, perCamera []float64) error {
	n := len(numbers) + len(perCamera)
	s.all = slices.Grow(s.all[:0], n)[:n]
	err := s.team.ask(s.all, bundleAsk+uint64(q), []float64{x}, operands)
	copy(perCamera, s.all[copy(numbers, s.all):])
	return err
}

// answer answers a request.
func (s *bundle) answer(r request) (*Sums, error) {
	if r.what == bundleGather {
		return NewSums(0), s.gather()
	}
	q := ba.Question(r.what - bundleAsk)
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
		sums.addAt(0, t.numbers)
		q.AddPerCamera(cameras, s.cameras, t.perCamera, func(at int, x []float64) { sums.addAt(few+at, x) })
		return nil
	})
}
