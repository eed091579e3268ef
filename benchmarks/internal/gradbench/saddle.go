package gradbench

import (
	"encoding/json"
	"fmt"
	"math"
)

// The eval finds the saddle of f(p, q) = ‖p‖² - ‖q‖²: the minimum over p of the maximum
// over q, both by gradient descent. The derivative of the maximum with respect to p
// goes through the descent q ← q + η·f_q, where η counts as a constant. Forward, for
// each of the two directions of p, it uses
//
//	q̇ ← q̇ + η·(f_qp + f_qq·q̇),  ḟ = f_p + f_q·q̇
//
// In reverse, from q̄ = f_q and p̄ = f_p at the maximum back over the recorded steps,
// it uses
//
//	p̄ += η·f_qpᵀ·q̄,  q̄ += η·f_qqᵀ·q̄.
//
// f_q itself comes from the tangent of f in two directions, or from its adjoint. For
// this f, f_qp is 0.

// saddleTangent returns the derivative of f in the direction (ṗ, q̇).
func saddleTangent(p, q, dp, dq pair) float64 { return 2*p.dot(dp) - 2*q.dot(dq) }

// saddleAdjoint returns bar times the gradients of f.
func saddleAdjoint(p, q pair, bar float64) (pBar, qBar pair) {
	return pair{2 * bar * p.x, 2 * bar * p.y}, pair{-2 * bar * q.x, -2 * bar * q.y}
}

// saddleCurved returns the derivative of f_q in the direction q̇.
func saddleCurved(dq pair) pair { return pair{-2 * dq.x, -2 * dq.y} }

// A saddleMode selects how the outer and the inner derivatives are computed.
type saddleMode struct{ outerReverse, innerReverse bool }

// negated returns -f(p, q) and its gradient with respect to q.
func (m saddleMode) negated(p, q pair) (float64, pair) {
	f := q.dot(q) - p.dot(p)
	if m.innerReverse {
		_, g := saddleAdjoint(p, q, -1)
		return f, g
	}
	return f, pair{-saddleTangent(p, q, pair{}, pair{1, 0}), -saddleTangent(p, q, pair{}, pair{0, 1})}
}

// maximum returns the maximum over q, found from start, and its gradient with respect
// to p. They are NaN if the descent fails.
func (m saddleMode) maximum(p, start pair, etas *[]float64) (float64, pair) {
	inner := func(q pair) (float64, pair) { return m.negated(p, q) }
	if m.outerReverse {
		*etas = (*etas)[:0]
		q, err := descend(inner, start, func(_ pair, eta float64) { *etas = append(*etas, eta) })
		if err != nil {
			return math.NaN(), pair{math.NaN(), math.NaN()}
		}
		pBar, qBar := saddleAdjoint(p, q, 1)
		for i := len(*etas) - 1; i >= 0; i-- {
			qBar = qBar.plus((*etas)[i], saddleCurved(qBar))
		}
		return p.dot(p) - q.dot(q), pBar
	}
	var dq [2]pair // for the two directions of p
	q, err := descend(inner, start, func(_ pair, eta float64) {
		for d := range dq {
			dq[d] = dq[d].plus(eta, saddleCurved(dq[d]))
		}
	})
	if err != nil {
		return math.NaN(), pair{math.NaN(), math.NaN()}
	}
	return p.dot(p) - q.dot(q), pair{saddleTangent(p, q, pair{1, 0}, dq[0]), saddleTangent(p, q, pair{0, 1}, dq[1])}
}

func (m saddleMode) evaluation(input json.RawMessage, _ int) (evaluation, error) {
	from, err := parseSaddle(input)
	if err != nil {
		return evaluation{}, err
	}
	start, out := pair{from[0], from[1]}, make([]float64, 4)
	var etas []float64
	maximum := func(p pair) (float64, pair) { return m.maximum(p, start, &etas) }
	return saddlePoint(maximum, m, start, out), nil
}

// saddlePoint returns the evaluation that finds the minimum p over the maximum, and then the
// maximum q.
func saddlePoint(maximum func(p pair) (float64, pair), m saddleMode, start pair, out []float64) evaluation {
	var failed error
	call := func() {
		var p, q pair
		if p, failed = descend(maximum, start, nil); failed != nil {
			return
		}
		q, failed = descend(func(q pair) (float64, pair) { return m.negated(p, q) }, start, nil)
		out[0], out[1], out[2], out[3] = p.x, p.y, q.x, q.y
	}
	return toNumbers(call, out).unless(&failed)
}

// parseSaddle reads the point from which the descents start.
func parseSaddle(input json.RawMessage) ([]float64, error) {
	var in struct{ Start numbers }
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	if in.Start == nil {
		return nil, missing("start")
	}
	if len(in.Start) != 2 {
		return nil, fmt.Errorf("start: expected 2 numbers, found %d", len(in.Start))
	}
	return in.Start, nil
}
