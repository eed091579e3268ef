package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// A Reducer is one of several ranks: processes or goroutines that compute together. All
// ranks call the same methods in the same order, with slices of the same lengths. Each
// method returns when it is finished for the calling rank.
//
// Errors concern the connection, not the data. After an error no further call can
// succeed.
type Reducer interface {
	Rank() int // from 0 on
	Size() int // number of ranks

	// Sum stores in x, on all ranks, the sum of the x of all ranks, element by
	// element. Integers wrap, so that the result is the same in any order.
	Sum(x []int64) error

	// Broadcast stores the b of rank 0 in the b of all others.
	Broadcast(b []byte) error
}

// ErrLost is the error of a Reducer that has lost a rank.
var ErrLost = errors.New("cluster: another rank has ended")

// Agree returns nil if err is nil on all ranks. Otherwise it returns the error of the
// lowest rank that has one. That rank gets the error itself. The others get its text,
// with the number of the rank.
func Agree(r Reducer, err error) error {
	failed := make([]int64, r.Size())
	if err != nil {
		failed[r.Rank()] = 1
	}
	if lost := r.Sum(failed); lost != nil {
		return errors.Join(err, lost)
	}
	for rank, v := range failed {
		if v == 0 {
			continue
		}
		text := make([]int64, 1024)
		if rank == r.Rank() {
			for i, b := range []byte(err.Error()) {
				if i < len(text) {
					text[i] = int64(b)
				}
			}
		}
		if lost := r.Sum(text); lost != nil {
			return errors.Join(err, lost)
		}
		if rank == r.Rank() {
			return err
		}
		b := make([]byte, 0, len(text))
		for _, v := range text {
			if v != 0 {
				b = append(b, byte(v))
			}
		}
		return fmt.Errorf("rank %d: %s", rank, b)
	}
	return nil
}

// Share returns the b of rank 0, on all ranks. It ignores the b of the others.
func Share(r Reducer, b []byte) ([]byte, error) {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(b)))
	if err := r.Broadcast(length[:]); err != nil {
		return nil, err
	}
	if r.Rank() != 0 {
		b = make([]byte, binary.LittleEndian.Uint64(length[:]))
	}
	return b, r.Broadcast(b)
}

// Run calls f in the given number of goroutines, each with a rank of its own, and
// returns when all have returned. The error is that of the lowest rank whose error is
// not ErrLost. If a rank returns while others wait for it, these get ErrLost. If a rank
// panics, Run panics too.
func Run(ranks int, f func(r Reducer) error) error {
	m := &meeting{size: ranks}
	m.turn.L = &m.mu
	errs, panics := make([]error, ranks), make([]any, ranks)
	var wg sync.WaitGroup
	for rank := range ranks {
		wg.Go(func() {
			defer m.leave()
			defer func() { panics[rank] = recover() }()
			errs[rank] = f(&local{m, rank})
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	var lost error
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrLost) {
			return err
		}
		lost = errors.Join(lost, err)
	}
	return lost
}

// Alone returns the Reducer of a program that is its only rank.
func Alone() Reducer { return &local{&meeting{size: 1}, 0} }

// A meeting is where the ranks of Run meet.
type meeting struct {
	mu     sync.Mutex
	turn   sync.Cond
	size   int
	here   int    // ranks that wait
	left   int    // ranks that have returned
	round  uint64 // how many times they have met
	sum    []int64
	text   []byte
	result struct {
		sum  []int64
		text []byte
	}
}

type local struct {
	m    *meeting
	rank int
}

func (l *local) Rank() int { return l.rank }
func (l *local) Size() int { return l.m.size }

// Sum implements Reducer.
func (l *local) Sum(x []int64) error {
	if l.m.size == 1 {
		return nil
	}
	return l.m.meet(func(m *meeting) {
		if m.here == 1 {
			m.sum = make([]int64, len(x))
		}
		for i, v := range x {
			m.sum[i] += v
		}
	}, func(m *meeting) { copy(x, m.result.sum) })
}

// Broadcast implements Reducer.
func (l *local) Broadcast(b []byte) error {
	if l.m.size == 1 {
		return nil
	}
	return l.m.meet(func(m *meeting) {
		if l.rank == 0 {
			m.text = append([]byte(nil), b...)
		}
	}, func(m *meeting) { copy(b, m.result.text) })
}

// meet calls bring, and when all ranks have done so, take.
func (m *meeting) meet(bring, take func(m *meeting)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left > 0 {
		return ErrLost
	}
	m.here++
	bring(m)
	round := m.round
	if m.here == m.size {
		m.here = 0
		m.round++
		m.result.sum, m.result.text = m.sum, m.text
		m.sum, m.text = nil, nil
		m.turn.Broadcast()
	}
	for m.round == round {
		if m.left > 0 {
			return ErrLost
		}
		m.turn.Wait()
	}
	take(m)
	return nil
}

// leave says that a rank has returned.
func (m *meeting) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left++
	m.turn.Broadcast()
}
