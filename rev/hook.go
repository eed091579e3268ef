package rev

import (
	"fmt"
	"math"

	"revnum/fixed"
)

// Hook returns the step that calls f in Adjoint, and does nothing else. f gets the
// state s and the cotangents g at that point of the program. It may look at both, for a
// log, and may change g. It must not change s.
//
// AdjointTangent returns an error that wraps [ErrUnsupported], because it would need
// the derivative of f. So does a pass that undoes an adjoint. f must not use operands
// that [ParallelShared] shares.
func Hook[S any](f func(s, g *S)) Step[S] { return Step[S]{hook[S](f)} }

type hook[S any] func(s, g *S)

func (f hook[S]) name() string { return "Hook" }

func (f hook[S]) run(p pass[S]) error {
	switch {
	case p.g == nil:
		return nil
	case !p.back || p.t != nil:
		return &Unsupported{"Hook", p.String()}
	}
	f(p.s, p.g)
	return nil
}

// ReverseGradient returns the step that changes the signs of the cotangents of an
// operand, and does nothing else. What comes before it in a program is then trained to
// make worse what comes after it: Y. Ganin and V. Lempitsky, Unsupervised domain
// adaptation by backpropagation, ICML (2015). of finds the operand in the state, and
// its cotangents in the state of cotangents.
//
// Tangents keep their signs, so Adjoint is not the transpose of Tangent.
func ReverseGradient[S any, T Real](of func(s *S) []T) Step[S] {
	return Step[S]{&gradientHook[S, T]{"ReverseGradient", of, func(p pass[S], g, gt []T) error {
		for _, x := range [...][]T{g, gt} {
			for i, v := range x {
				x[i] = -v
			}
		}
		return nil
	}}}
}

// ClipGradient returns the step that scales the cotangents x̄ of an operand to the norm
// bound if they are longer, and does nothing else. of is as in [ReverseGradient]. In
// AdjointTangent the tangents ġ of x̄ become those of the scaled cotangents. Where n = ‖x̄‖
// exceeds the bound b, that is
//
//	ġ <- b/n·(ġ - x̄·(x̄·ġ)/n²),  x̄ <- b/n·x̄
//
// Cotangents with a NaN or an infinity are left as they are. A pass that undoes an
// adjoint returns an error that wraps [ErrUnsupported]. ClipGradient panics unless
// bound is positive.
func ClipGradient[S any, T Real](bound float64, of func(s *S) []T) Step[S] {
	if !(bound > 0) {
		panic(fmt.Sprintf("rev: ClipGradient: the bound is %v, and must be positive", bound))
	}
	return Step[S]{&gradientHook[S, T]{"ClipGradient", of, func(p pass[S], g, gt []T) error {
		if !p.back {
			return &Unsupported{"ClipGradient", p.String()}
		}
		clip(bound, g, gt)
		return nil
	}}}
}

func clip[T Real](bound float64, g, gt []T) {
	var largest, sum, dot float64
	for _, v := range g {
		largest = max(largest, math.Abs(fixed.Float(v)))
	}
	if !(largest > 0) || math.IsInf(largest, 1) {
		return
	}
	for _, v := range g { // relative to the largest, so that squares neither over- nor underflow
		x := fixed.Float(v) / largest
		sum += float64(x * x)
	}
	length := math.Sqrt(sum)
	n := largest * length // +Inf if it overflows
	if !(n > bound) {
		return
	}
	unit := func(v T) float64 { return fixed.Float(v) / largest / length } // v/n
	for i, v := range gt {
		dot += float64(unit(g[i]) * fixed.Float(v))
	}
	for i, v := range gt {
		gt[i] = fixed.Of[T](bound / n * (fixed.Float(v) - float64(unit(g[i])*dot)))
	}
	for i, v := range g {
		g[i] = fixed.Of[T](bound * unit(v))
	}
}

// A gradientHook changes cotangents of an operand.
type gradientHook[S any, T Real] struct {
	what   string
	of     func(s *S) []T
	change func(p pass[S], g, gt []T) error
}

func (h *gradientHook[S, T]) name() string { return h.what }

func (h *gradientHook[S, T]) run(p pass[S]) error {
	if p.g == nil {
		return nil
	}
	g := h.of(p.g)
	var gt []T
	if p.gt != nil {
		gt = h.of(p.gt)
	}
	for _, x := range [...][]T{g, gt} {
		if _, isShared, split := ownOf(p.own, x); isShared || split {
			return fmt.Errorf("%s: the operand is shared by the branches of ParallelShared", h.what)
		}
	}
	return h.change(p, g, gt)
}
