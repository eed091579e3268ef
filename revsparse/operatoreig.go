package revsparse

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Operator is a symmetric matrix A(θ) that depends on parameters θ and is given by its
// products with vectors.
type Operator interface {
	// Dims returns the numbers of rows and of parameters.
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
// matrix. The gradient of the parameters is the gradient of
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

// NewOperatorEig returns the kernel that adds to values and vectors, over gonum's types,
// sharing their storage. Values or vectors may be nil.
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
	second                  bool // whether dgtheta is wanted
}

func (s *operatorSearch) mulTo(y, x []float64) {
	clear(y)
	s.op.AddMul(y, s.theta, x)
}

func (s *operatorSearch) addMulTangent(y, x []float64) {
	s.op.AddMulTangent(y, s.theta, s.dtheta, x)
}

func (s *operatorSearch) addGradient(u, v, du, dv []float64) {
	s.op.AddGradient(s.gtheta, s.theta, u, v)
	if s.second {
		s.op.AddGradient(s.dgtheta, s.theta, du, v)
		s.op.AddGradient(s.dgtheta, s.theta, u, dv)
		s.op.AddGradientTangent(s.dgtheta, s.theta, s.dtheta, u, v)
	}
}

// Run implements rev.Kernel.
func (k OperatorEig) Run(p rev.Pass[OperatorEig]) error {
	rows, n := k.Op.Dims()
	if k.Theta.N != n {
		panic(rev.ShapeError[OperatorEig]("Theta", "has %d elements, want %d as Op says", k.Theta.N, n))
	}
	g, t, gt := &p.G, &p.T, &p.GT
	pairs := countPairs[OperatorEig](rows, k.pairs(), g.pairs(), t.pairs(), gt.pairs())
	s := workspace.Get[*operatorSearch]()
	s.op, s.theta = k.Op, load(s.theta, k.Theta, n)
	s.dtheta, s.second = load(s.dtheta, t.Theta, n), gt.Theta.Data != nil
	s.gtheta, s.dgtheta = workspace.Zeros(s.gtheta, n), workspace.Zeros(s.dgtheta, n)
	e := &s.eigen
	e.start(s, "OperatorEig", k.EigOptions, rows, pairs, epsilon[float64]())
	err := e.find()
	if err == nil {
		gradient := g.Theta.Data != nil || s.second
		err = k.pairs().pass(e, g.pairs(), t.pairs(), gt.pairs(), gradient, t.Theta.Data != nil, float64(p.Sign()))
	}
	if err == nil {
		accumulate(g.Theta, 1, s.gtheta)
		accumulate(gt.Theta, 1, s.dgtheta)
	}
	s.op = nil
	workspace.Put(s)
	return err
}
