package revsparse

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Operator is a symmetric matrix A(θ) that depends on parameters θ and is given by its
// products with vectors.
type Operator interface {
	// Dims returns the number of rows, and that of parameters.
	Dims() (rows, params int)

	// AddMul computes y += A(θ)·x.
	AddMul(y, theta, x []float64)

	// AddMulTangent computes y += Ȧ·x, where Ȧ = Σ_p θ̇_p·∂A/∂θ_p. Where A is linear
	// in θ that is A(θ̇).
	AddMulTangent(y, theta, dtheta, x []float64)

	// AddGradient adds the gradient of uᵀ·A(θ)·v with respect to θ to g.
	AddGradient(g, theta, u, v []float64)

	// AddGradientTangent adds the derivative of that gradient along θ̇, for the same u
	// and v, to g. If A is linear in θ it adds nothing. Only AdjointTangent calls it.
	AddGradientTangent(g, theta, dtheta, u, v []float64)
}

// OperatorEig is the kernel
//
//	Values_i += λ_i,  Vectors_ji += (v_i)_j,  A(θ)·v_i = λ_i·v_i,  ‖v_i‖ = 1
//
// of the first k eigenpairs of a symmetric operator. It is DominantEig without a
// matrix. The gradient of the parameters is that of
//
//	Σ_i u_iᵀ·A(θ)·v_i,  u_i = λ̄_i·v_i - (A - λ_i)⁺·v̄_i,
//
// with u_i and v_i held fixed. All methods give the same bits if the operator does.
// Squares of its results must not overflow or underflow.
type OperatorEig struct {
	Values  rev.Vector[float64]  `rev:"acc" shape:"k"`   // k
	Vectors rev.General[float64] `rev:"acc" shape:"n,k"` // n×k, a vector a column
	Theta   rev.Vector[float64]  `rev:"in" shape:"p"`    // the parameters
	Op      Operator
	EigOptions
}

// NewOperatorEig returns the kernel over gonum's types, sharing their storage.
// Values or vectors may be nil.
func NewOperatorEig(values *mat.VecDense, vectors *mat.Dense, op Operator, theta *mat.VecDense) OperatorEig {
	return OperatorEig{Values: rev.ViewVec(values), Vectors: rev.ViewDense(vectors), Theta: rev.ViewVec(theta), Op: op}
}

func (k *OperatorEig) pairs() eigenpairs[float64] {
	return eigenpairs[float64]{k.Values, k.Vectors}
}

// operatorSearch is the search for the eigenpairs of an operator.
type operatorSearch struct {
	eigen eigen
	op    Operator
	theta []float64

	dtheta, gtheta, dgtheta []float64
}

func (s *operatorSearch) mulTo(y, x []float64) {
	clear(y)
	s.op.AddMul(y, s.theta, x)
}

func (s *operatorSearch) addMulTangent(y, x []float64) {
	s.op.AddMulTangent(y, s.theta, s.dtheta, x)
}

func (s *operatorSearch) addGradient(u, v []float64) {
	s.op.AddGradient(s.gtheta, s.theta, u, v)
}

// search finds the pairs, as many as like has if k has none.
func (k *OperatorEig) search(like ...eigenpairs[float64]) (*operatorSearch, error) {
	n, params := k.Op.Dims()
	if k.Theta.N != params {
		panic(rev.ShapeError[OperatorEig]("Theta", "has %d elements, want %d as Op says", k.Theta.N, params))
	}
	pairs := k.pairs().count(n, like...)
	s := workspace.Get[operatorSearch]()
	s.op, s.theta = k.Op, load(s.theta, k.Theta, k.Theta.N)
	s.eigen.start(s, "OperatorEig", k.EigOptions, n, pairs, epsilon[float64]())
	if err := s.eigen.find(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *operatorSearch) end() {
	s.op = nil
	workspace.Put(s)
}

// Forward computes Values += λ and Vectors += v.
func (k OperatorEig) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes Values -= λ and Vectors -= v.
func (k OperatorEig) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes Values -= λ and Vectors -= v, and adds the gradient to θ̄.
func (k OperatorEig) Adjoint(g OperatorEig) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Values += λ and Vectors += v, and adds their tangents.
func (k OperatorEig) Tangent(t OperatorEig) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes the tangents of the pairs back
// out, and adds the tangent of the gradient, with u_i, v_i and A moving.
func (k OperatorEig) AdjointTangent(g, t, gt OperatorEig) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel.
func (k OperatorEig) Run(p rev.Pass[OperatorEig]) error {
	g, t, gt := &p.G, &p.T, &p.GT
	s, err := k.search(g.pairs(), t.pairs(), gt.pairs())
	if err != nil {
		return err
	}
	defer s.end()
	e, sign := &s.eigen, float64(p.Sign())
	switch {
	case p.Adjoint && p.Tangent:
		s.dtheta = load(s.dtheta, t.Theta, k.Theta.N)
		if err := g.pairs().differentiate(e, gt.pairs(), t.Theta.Data != nil); err != nil {
			return err
		}
		s.gtheta, s.dgtheta = workspace.Zeros(s.gtheta, k.Theta.N), workspace.Zeros(s.dgtheta, k.Theta.N)
		for i := range e.k {
			v, u := e.vector(i), e.solution(i)
			dv, du := e.dv[i*e.n:(i+1)*e.n], e.dxi[i*e.n:(i+1)*e.n]
			k.Op.AddGradient(s.gtheta, s.theta, u, v)
			k.Op.AddGradient(s.dgtheta, s.theta, du, v)
			k.Op.AddGradient(s.dgtheta, s.theta, u, dv)
			k.Op.AddGradientTangent(s.dgtheta, s.theta, s.dtheta, u, v)
		}
		accumulate(g.Theta, 1, s.gtheta)
		accumulate(gt.Theta, 1, s.dgtheta)
		t.pairs().addRates(e, sign)
	case g.Theta.Data != nil:
		s.gtheta = workspace.Zeros(s.gtheta, k.Theta.N)
		if err := g.pairs().addGradients(e); err != nil {
			return err
		}
		accumulate(g.Theta, 1, s.gtheta)
	case t.Theta.Data != nil:
		s.dtheta = load(s.dtheta, t.Theta, k.Theta.N)
		if err := t.pairs().addTangents(e, sign); err != nil {
			return err
		}
	}
	k.pairs().add(e, sign)
	return nil
}
