package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// A request is a question of rank 0 to all ranks: a number that says what it asks for,
// and operands.
type request struct {
	what     uint64
	operands []float64
}

// stop is the request that ends a team.
const stop = 0

// A team is the ranks that answer the requests of rank 0.
type team struct {
	r       Reducer
	message []byte
	failed  error // the error of a request, which all ranks know

	// answer returns this rank's part of the answer. With an error the part is not
	// valid.
	answer func(q request) (*Sums, error)
}

// newTeam returns a team. A request with at most the given number of operands is one
// message.
func newTeam(r Reducer, operands int, answer func(q request) (*Sums, error)) *team {
	return &team{r: r, message: make([]byte, 16+8*operands), answer: answer}
}

// send sends a request from rank 0 to all others.
func (t *team) send(q request) (request, error) {
	binary.LittleEndian.PutUint64(t.message, q.what)
	binary.LittleEndian.PutUint64(t.message[8:], uint64(len(q.operands)))
	body := t.message[16:]
	fits := 8*len(q.operands) <= len(body)
	if fits {
		putFloats(body, q.operands)
	}
	if err := t.r.Broadcast(t.message); err != nil {
		return q, err
	}
	q.what = binary.LittleEndian.Uint64(t.message)
	n := int(binary.LittleEndian.Uint64(t.message[8:]))
	if 8*n > len(body) {
		body = make([]byte, 8*n)
		if t.r.Rank() == 0 {
			putFloats(body, q.operands)
		}
		if err := t.r.Broadcast(body); err != nil {
			return q, err
		}
	}
	if t.r.Rank() != 0 {
		q.operands = make([]float64, n)
		getFloats(q.operands, body)
	}
	return q, nil
}

func putFloats(dst []byte, x []float64) {
	for i, v := range x {
		binary.LittleEndian.PutUint64(dst[8*i:], math.Float64bits(v))
	}
}

func getFloats(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
}

// ask stores the sum of the answers of all ranks in dst. Rank 0 calls it.
func (t *team) ask(dst []float64, what uint64, operands ...[]float64) error {
	if t.failed != nil {
		return t.failed
	}
	q, err := t.send(request{what, slices.Concat(operands...)})
	if err == nil {
		s, failed := t.answer(q)
		if err = s.Reduce(t.r, failed); err == nil {
			s.RoundTo(dst)
		}
	}
	t.failed = err
	return err
}

// done reports whether err says that a context is done.
func done(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// run runs lead on rank 0, and answers its requests on the others. It returns the error
// of lead on all ranks. Ranks other than 0 get its text, or context.Canceled.
func (t *team) run(lead func() error) error {
	t.failed = nil
	if t.r.Rank() == 0 {
		err := lead()
		if t.failed != nil { // all ranks know
			return err
		}
		end := request{what: stop}
		if done(err) {
			end.operands = []float64{1}
		}
		if _, lost := t.send(end); lost != nil || len(end.operands) > 0 {
			return errors.Join(err, lost)
		}
		return Agree(t.r, err)
	}
	for {
		q, err := t.send(request{})
		switch {
		case err != nil:
			return err
		case q.what == stop && len(q.operands) > 0:
			return context.Canceled
		case q.what == stop:
			return Agree(t.r, nil)
		}
		s, failed := t.answer(q)
		if err := s.Reduce(t.r, failed); err != nil {
			return err
		}
	}
}
