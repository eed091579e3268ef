package ba

import "revnum/rev"

// Shims until each kernel has a Run of its own.

func (k Snavely[T]) Run(p rev.Pass[Snavely[T]]) error {
	switch p.Legacy() {
	case 0:
		k.Forward()
	case 1:
		k.Inverse()
	case 2:
		k.Adjoint(p.G)
	case 3:
		k.Tangent(p.T)
	case 4:
		k.AdjointTangent(p.G, p.T, p.GT)
	case 5:
		rev.Negate(&k)
		k.Adjoint(p.G)
		rev.Negate(&k)
	case 6:
		rev.Negate(&k, &p.T)
		k.Tangent(p.T)
		rev.Negate(&k, &p.T)
	case 7:
		rev.Negate(&k, &p.T)
		k.AdjointTangent(p.G, p.T, p.GT)
		rev.Negate(&k, &p.T)
	}
	return nil
}

func (k Weighted[T]) Run(p rev.Pass[Weighted[T]]) error {
	switch p.Legacy() {
	case 0:
		k.Forward()
	case 1:
		k.Inverse()
	case 2:
		k.Adjoint(p.G)
	case 3:
		k.Tangent(p.T)
	case 4:
		k.AdjointTangent(p.G, p.T, p.GT)
	case 5:
		rev.Negate(&k)
		k.Adjoint(p.G)
		rev.Negate(&k)
	case 6:
		rev.Negate(&k, &p.T)
		k.Tangent(p.T)
		rev.Negate(&k, &p.T)
	case 7:
		rev.Negate(&k, &p.T)
		k.AdjointTangent(p.G, p.T, p.GT)
		rev.Negate(&k, &p.T)
	}
	return nil
}
