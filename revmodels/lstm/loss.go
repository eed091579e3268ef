package lstm

import (
	"revnum/fixed"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Loss is the kernel
//
//	Out += F
//
// of the mean log loss F of a network of L layers that
// reads a sequence of C characters of B bits each. For t = 0, ..., C-2 it reads
// character x_t and predicts x_{t+1}. With σ(z) = 1/(1 + exp(-z)), all products element
// by element, and u the input of a layer, h its hidden state and c its memory:
//
//	u   = x_t·w_in in the lowest layer, h' of the layer below in the others
//	f   = σ(u·W_f + b_f),  i = σ(h·W_i + b_i),  o = σ(u·W_o + b_o),  g = tanh(h·W_g + b_g)
//	c'  = c·f + i·g,       h' = o·tanh(c')
//	y_t = h'·w_out + b_out, with h' of the highest layer
//	F   = -1/((C-1)·B) · Σ_t Σ_j x_{t+1,j}·(y_tj - log(2 + Σ_k exp y_tk))
//
// The in gate and the change see the hidden state, not the input. This and the 2 in the
// logarithm follow ADBench. A network without layers has h' = u. The mean of no
// predictions (C < 2) or of no bits is 0.
//
// The absolute error of a state is of the order of C·2⁻⁵³, and smaller where gates
// forget. Everything is computed in float64, whatever T is, and added to outputs and
// gradients in T. The vector tiers round differently. Inverse restores Out up to the
// rounding of one addition and one subtraction, and to the bit over Q43, where F must
// be within its range.
//
// The equations are those of ADBench (Šrajer, Kukelova and Fitzgibbon, 2018, arXiv
// 1807.10129) and GradBench. The cells are those of Hochreiter and Schmidhuber, 1997,
// with the forget gate of Gers, Schmidhuber and Cummins, 2000.
type Loss[T rev.Real] struct {
	Out      *T             `rev:"acc"`              // F
	Main     rev.General[T] `rev:"in" shape:"M,4*B"` // a row W_f, W_i, W_o, W_g and a row b_f, b_i, b_o, b_g of each layer
	Extra    rev.General[T] `rev:"in" shape:"3,B"`   // w_in, w_out, b_out
	State    rev.General[T] `rev:"in" shape:"M,B"`   // a row h and a row c of each layer, before the first step
	Sequence rev.General[T] `rev:"in" shape:"C,B"`   // a character x a row
}

// With s = -F̄/((C-1)·B), p_t = softmax of y_t and of log 2, and G_t = Σ_j x_{t+1,j},
// the output gives
//
//	ȳ_tj = s·(x_{t+1,j} - G_t·p_tj)
//	x̄_{t+1,j} += s·(y_tj - log(2 + Σ_k exp y_tk))
//	w̄_out += Σ_t ȳ_t·h'_t,  b̄_out += Σ_t ȳ_t,  h̄'_t = ȳ_t·w_out
//
// and the layers, from the highest to the lowest and in each from the last step to the
// first, what package cells says. The input gives w̄_in += Σ_t ū_t·x_t and
// x̄_t += ū_t·w_in. Tangents are those of the same equations (see duals.go).

// lossRun is Run of Loss. It returns no error.
func lossRun[T rev.Real](k *Loss[T], p *rev.Pass[Loss[T]]) error {
	if k.Main.Rows%2 != 0 {
		panic(rev.ShapeError[Loss[T]]("Main", "has %d rows, want an even number", k.Main.Rows))
	}
	steps, bits := k.Sequence.Rows-1, k.Sequence.Cols
	if steps < 1 || bits == 0 {
		return nil
	}
	scale := -1 / (float64(steps) * float64(bits))
	if k.Out != nil || p.G.Out != nil {
		s := workspace.Get[*sweep]()
		read(s, k)
		s.forward()
		if k.Out != nil {
			*k.Out += T(T(p.Sign()) * fixed.Of[T](scale*s.total))
		}
		if p.G.Out != nil {
			s.backward(scale * fixed.Float(*p.G.Out))
			addGradients(s, &p.G)
		}
		workspace.Put(s)
	}
	if p.T.Out != nil || p.GT.Out != nil || p.G.Out != nil && p.Tangent {
		s := workspace.Get[*dualSweep]()
		readDuals(s, k, &p.T)
		s.forward()
		if p.T.Out != nil {
			*p.T.Out += T(T(p.Sign()) * fixed.Of[T](scale*s.total.d))
		}
		if p.Adjoint {
			var bar dual
			if p.G.Out != nil {
				bar.v = scale * fixed.Float(*p.G.Out)
			}
			if p.GT.Out != nil {
				bar.d = scale * fixed.Float(*p.GT.Out)
			}
			s.backward(bar)
			addTangents(s, &p.GT)
		}
		workspace.Put(s)
	}
	return nil
}
