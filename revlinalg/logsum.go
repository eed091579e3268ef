package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// LogSum is the kernel
//
//	Out ⊕= ⊕_i x_i,  that is  Out' = log(e^Out + Σ_i e^x_i),
//
// of a vector of logs, the sum of the numbers. With w_i = e^(x_i-Out'), the
// share of a number in the new value of Out,
//
//	x̄_i += Ōut'·w_i,  Ōut = Ōut'·e^(Out-Out'),
//	Ȯut' = Ȯut·e^(Out-Out') + Σ_i w_i·ẋ_i.
//
// # Logs as operands
//
// In this and the other kernels over logs the elements of operands are the logs
// themselves: ulog.Logs, Logs32 and FixedLogs give those of a slice of numbers
// without a copy. So cotangents and tangents, which are derivatives by the logs,
// are plain numbers in a kernel of the same type. For a number x and the log
// X = log x, X̄ = x·x̄ and Ẋ = ẋ/x. For probabilities, where Ōut is 1, X̄ is the
// posterior probability of what x is the probability of.
//
// # Accuracy
//
// The log of the sum itself is within (n + 4 + 3·|its log| + log n)·ε/2 for n
// terms. That of no terms is -Inf.
//
// Inverse restores Out within ε·(|Out'| + 2)·e^(Out'-Out), where ε is 2⁻⁵² or
// 2⁻²³. So what is small beside the sum is lost, as in a float that a larger
// one is added to and subtracted from; at worst it comes back as zero. There is
// one case in which nothing is rounded: a sum that was put in the place of a
// zero, Out = -Inf, is taken out again to the bit, and is then 0 in number and
// in cotangent. The cotangent cannot be brought back from there: InverseAdjoint,
// and so a program that fails in Adjoint, leaves NaN.
//
// There are no such kernels over ulog.Fixed: the log of a sum is rounded, and what
// was added could not be taken out to the bit. LogProd and PowerProduct, which only
// multiply, take it.
//
// # Another way
//
// LogSumExp takes the same sum and adds its log to an output, that is, it
// multiplies a number by the sum. Where the sum is not to be added to others,
// that loses nothing on the way back.
type LogSum[T rev.Float] struct {
	Out *T            `rev:"inout"`
	X   rev.Vector[T] `rev:"in"`
}

// NewLogSum returns the kernel over a gonum vector of logs, sharing its
// storage.
func NewLogSum(out *float64, x *mat.VecDense) LogSum[float64] {
	return LogSum[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out ⊕= ⊕ x_i.
func (k LogSum[T]) Forward() { k.run(false, LogSum[T]{}, LogSum[T]{}, LogSum[T]{}) }

// Inverse computes Out ⊖= ⊕ x_i.
func (k LogSum[T]) Inverse() { k.run(true, LogSum[T]{}, LogSum[T]{}, LogSum[T]{}) }

// Adjoint computes Out ⊖= ⊕ x_i and the cotangents of x and Out.
func (k LogSum[T]) Adjoint(g LogSum[T]) { k.run(true, g, LogSum[T]{}, LogSum[T]{}) }

// Tangent computes Out ⊕= ⊕ x_i and the tangent of Out.
func (k LogSum[T]) Tangent(t LogSum[T]) { k.run(false, LogSum[T]{}, t, LogSum[T]{}) }

// AdjointTangent undoes Tangent and computes the cotangents and their tangents,
//
//	ġx_i += w_i·(Ġ + Ōut'·(ẋ_i - Ȯut')),  Ġ the tangent of Ōut'.
func (k LogSum[T]) AdjointTangent(g, t, gt LogSum[T]) { k.run(true, g, t, gt) }

// InverseAdjoint undoes Adjoint.
func (k LogSum[T]) InverseAdjoint(g LogSum[T]) { k.run(false, g, LogSum[T]{}, LogSum[T]{}) }

// InverseTangent undoes Tangent.
func (k LogSum[T]) InverseTangent(t LogSum[T]) { k.run(true, LogSum[T]{}, t, LogSum[T]{}) }

// InverseAdjointTangent undoes AdjointTangent.
func (k LogSum[T]) InverseAdjointTangent(g, t, gt LogSum[T]) { k.run(false, g, t, gt) }

func (k LogSum[T]) run(back bool, g, t, gt LogSum[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	k.reduction().run(back, g.reduction(), t.reduction(), gt.reduction())
}

func (k LogSum[T]) reduction() logReduction[T] {
	return logReduction[T]{Out: k.Out, X: k.X}
}
