package revnn

import "revnum/rev"

// BinaryCrossEntropy is the kernel
//
//	Out += Σ_ij log(1 + exp(x_ij)) - p_ij·x_ij
//
// where X has logits. This is the cross-entropy -p·log σ(x) - (1-p)·log σ(-x) of the probabilities
// σ(x) = 1/(1 + exp(-x)) relative to p. If Mean is set, the sum is divided by the number of
// elements, as PyTorch's BCEWithLogitsLoss does. The derivatives are
//
//	x̄ += Ōut·(σ(x) - p),  p̄ -= Ōut·x,  Ȯut += Σ (σ(x) - p)·ẋ - x·ṗ,
//
// and, of second order,
//
//	ġx += ġOut·(σ(x) - p) + Ōut·(σ(x)·σ(-x)·ẋ - ṗ),  ġp -= ġOut·x + Ōut·ẋ.
//
// Nothing overflows or cancels for 0 <= p <= 1: with h = 1 for x > 0, and otherwise 0, a term is
// (h - p)·x + log(1 + exp(-|x|)), and its slope is h - p plus or minus σ(-|x|). In floating point
// the sum of n elements is then within (n+5)·ε times itself, and the slope within 4·ε times the sum
// of the magnitudes of its two terms. In fixed point a term is within 1.1 units in the last place,
// and the sum must be below 2²⁰. An infinite logit whose p is 0 or 1 may give NaN, as it does in
// PyTorch. Vectors are matrices of one row.
type BinaryCrossEntropy[T rev.Real] struct {
	Out     *T             `rev:"acc"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	P       rev.General[T] `rev:"in" shape:"n,c"`
	Mean    bool
	Workers int // 0 means GOMAXPROCS
}

// binaryCrossEntropyRun is Run of BinaryCrossEntropy. It returns no error.
func binaryCrossEntropyRun[T rev.Real](k *BinaryCrossEntropy[T], p *rev.Pass[BinaryCrossEntropy[T]]) error {
	runLoss(loss{f: logistic}, p.Sign(), k.Mean, k.Workers, binaryCrossEntropyOperands(k), binaryCrossEntropyOperands(&p.G), binaryCrossEntropyOperands(&p.T), binaryCrossEntropyOperands(&p.GT))
	return nil
}

func binaryCrossEntropyOperands[T rev.Real](k *BinaryCrossEntropy[T]) lossOperands[T] {
	return lossOperands[T]{k.Out, k.X, k.P}
}
