package gmm

import "revnum/rev"

// Shims until each kernel has a Run of its own.

func (k FixedLogPosterior) Run(p rev.Pass[FixedLogPosterior]) error {
	switch p.Legacy() {
	case 0:
		return k.Forward()
	case 1:
		return k.Inverse()
	case 2:
		return k.Adjoint(p.G)
	case 3:
		return k.Tangent(p.T)
	case 4:
		return k.AdjointTangent(p.G, p.T, p.GT)
	case 5:
		rev.Negate(&k)
		err := k.Adjoint(p.G)
		rev.Negate(&k)
		return err
	case 6:
		rev.Negate(&k, &p.T)
		err := k.Tangent(p.T)
		rev.Negate(&k, &p.T)
		return err
	case 7:
		rev.Negate(&k, &p.T)
		err := k.AdjointTangent(p.G, p.T, p.GT)
		rev.Negate(&k, &p.T)
		return err
	}
	return nil
}

func (k LogPosterior[T]) Run(p rev.Pass[LogPosterior[T]]) error {
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

func (k LogResponsibilities[T]) Run(p rev.Pass[LogResponsibilities[T]]) error {
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
