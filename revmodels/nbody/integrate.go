package nbody

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"revnum/fixed"
	"revnum/rev"
)

// A Method is a way to take a step of time. All are compositions of Drift and Kick that
// are symmetric in time and keep volumes in phase space. The energy of bodies that stay
// apart does not drift away. Its error is of the order dt^Order.
type Method int

// The methods.
const (
	// Leapfrog, of order 2, takes one Kick a step.
	Leapfrog Method = iota
	// ForestRuth, of order 4, takes 3: E. Forest and R. D. Ruth, Fourth-order symplectic
	// integration, Physica D 43 (1990).
	ForestRuth
	// PEFRL, of order 4, takes 4, and has an error that is some 25 times smaller than
	// that of ForestRuth: I. P. Omelyan, I. M. Mryglod and R. Folk, Optimized
	// Forest-Ruth- and Suzuki-like algorithms, Comput. Phys. Commun. 146 (2002).
	PEFRL
	// Yoshida6, of order 6, takes 7: solution A of H. Yoshida, Construction of higher
	// order symplectic integrators, Phys. Lett. A 150 (1990).
	Yoshida6
	// Yoshida8, of order 8, takes 15. The construction is Yoshida's. The coefficients are
	// those of M. Suzuki and K. Umeno, Higher-order decomposition theory of exponential
	// operators (1993), as in E. Hairer, C. Lubich and G. Wanner, Geometric numerical
	// integration (2006), equation V.3.11.
	Yoshida8
)

var methods = [...]struct {
	name  string
	order int
}{{"Leapfrog", 2}, {"ForestRuth", 4}, {"PEFRL", 4}, {"Yoshida6", 6}, {"Yoshida8", 8}}

// Methods returns all methods.
func Methods() []Method { return []Method{Leapfrog, ForestRuth, PEFRL, Yoshida6, Yoshida8} }

func (m Method) valid() bool { return m >= 0 && int(m) < len(methods) }

// String returns the name of the method.
func (m Method) String() string {
	if !m.valid() {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methods[m].name
}

// Order returns the order of the method.
func (m Method) Order() int { return methods[m].order }

// Coefficients returns the parts of a step: it drifts by drifts[0]·dt, kicks by
// kicks[0]·dt, drifts by drifts[1]·dt, and so on. There is one drift more than kicks.
func (m Method) Coefficients() (drifts, kicks []float64) {
	switch m {
	case Leapfrog:
		return leapfrogs(1)
	case ForestRuth:
		theta := 1 / (2 - math.Cbrt(2))
		return leapfrogs(theta, 1-2*theta, theta)
	case PEFRL:
		const xi, lambda, chi = 0.1786178958448091, -0.2123418310626054, -0.06626458266981849
		return []float64{xi, chi, 1 - 2*(chi+xi), chi, xi},
			[]float64{(1 - 2*lambda) / 2, lambda, lambda, (1 - 2*lambda) / 2}
	case Yoshida6:
		return symmetric(0.78451361047755726382, 0.23557321335935813368, -1.17767998417887100695)
	case Yoshida8:
		return symmetric(0.74167036435061295345, -0.40910082580003159400, 0.19075471029623837995, -0.57386247111608226666,
			0.29906418130365592384, 0.33462491824529818378, 0.31529309239676659663)
	}
	panic(m.unknown())
}

// unknown is the panic of an unknown method.
func (m Method) unknown() error {
	return &rev.OperandError{Kernel: "nbody.Options", Operand: "Method", Reason: fmt.Sprintf("is %v", m), Err: errors.ErrUnsupported}
}

// symmetric returns the composition of leapfrogs of the lengths w, of a middle length,
// and of w from the last to the first. The middle length makes the sum 1.
func symmetric(w ...float64) (drifts, kicks []float64) {
	all, middle := make([]float64, 2*len(w)+1), 1.0
	for i, v := range w {
		all[i], all[len(all)-1-i] = v, v
		middle -= 2 * v
	}
	all[len(w)] = middle
	return leapfrogs(all...)
}

// leapfrogs returns the composition of leapfrogs of the lengths w.
func leapfrogs(w ...float64) (drifts, kicks []float64) {
	drifts = make([]float64, len(w)+1)
	for i, v := range w {
		drifts[i] += v / 2
		drifts[i+1] += v / 2
	}
	return drifts, w
}

// Options say how to integrate.
type Options struct {
	Method    Method
	Dt        float64 // the step of time; may be negative or 0
	Softening float64 // ε of Kick
	Workers   int     // 0 means GOMAXPROCS
}

// A plan lists the drifts and kicks of a method: the first drift, and then the parts of
// each step. The last drift of a step is joined with the first one of the next step.
type plan struct {
	first float64
	step  []stepPart
}

// A stepPart is a drift or a kick by a multiple of dt.
type stepPart struct {
	kick   bool
	length float64
}

var plans = sync.OnceValue(func() []plan {
	plans := make([]plan, len(methods))
	for m := range plans {
		drifts, kicks := Method(m).Coefficients()
		p := &plans[m]
		p.first = drifts[0]
		for i, kick := range kicks {
			drift := drifts[i+1]
			if i == len(kicks)-1 {
				drift += drifts[0]
			}
			p.step = append(p.step, stepPart{true, kick}, stepPart{false, drift})
		}
	}
	return plans
})

// plan panics if the method is unknown.
func (m Method) plan() *plan {
	if !m.valid() {
		panic(m.unknown())
	}
	return &plans()[m]
}

// EnergyOf returns the energy of s times the constant of gravitation, as Energy does.
func EnergyOf[T rev.Real](s *System[T], softening float64) (float64, error) {
	n := s.Q.Rows
	q, v, mu := rev.NewGeneral[float64](n, 3, nil), rev.NewGeneral[float64](n, 3, nil), make([]float64, n)
	for i := range n {
		for c := range 3 {
			q.Data[3*i+c], v.Data[3*i+c] = fixed.Float(s.Q.Row(i)[c]), fixed.Float(s.V.Row(i)[c])
		}
		mu[i] = fixed.Float(s.Mu.Data[i*s.Mu.Inc])
	}
	var e float64
	err := Energy[float64]{Out: &e, Q: q, V: v, Mu: rev.ViewSlice(mu), Softening: softening}.Forward()
	return e, err
}
