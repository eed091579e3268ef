package revsparse

import "revnum/rev"

// Shims until each kernel has a Run of its own.

func (k CG[T, I]) Run(p rev.Pass[CG[T, I]]) error {
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

func (k DominantEig[T, I]) Run(p rev.Pass[DominantEig[T, I]]) error {
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

func (k Dot[T, I]) Run(p rev.Pass[Dot[T, I]]) error {
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

func (k LogMul[T, I]) Run(p rev.Pass[LogMul[T, I]]) error {
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
		k.InverseAdjoint(p.G)
	case 6:
		k.InverseTangent(p.T)
	case 7:
		k.InverseAdjointTangent(p.G, p.T, p.GT)
	}
	return nil
}

func (k Mul[T, I]) Run(p rev.Pass[Mul[T, I]]) error {
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

func (k OperatorEig) Run(p rev.Pass[OperatorEig]) error {
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

func (k SampledMul[T, I]) Run(p rev.Pass[SampledMul[T, I]]) error {
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

func (k SpGEMM[T, I]) Run(p rev.Pass[SpGEMM[T, I]]) error {
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

func (k SymmetricMul[T, I]) Run(p rev.Pass[SymmetricMul[T, I]]) error {
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

func (k TriSolve[T, I]) Run(p rev.Pass[TriSolve[T, I]]) error {
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
