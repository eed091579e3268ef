package revlinalg

import "revnum/rev"

// Shims until each kernel has a Run of its own.

func (k Cholesky[T]) Run(p rev.Pass[Cholesky[T]]) error {
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

func (k Det[T]) Run(p rev.Pass[Det[T]]) error {
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

func (k DetMinors[T]) Run(p rev.Pass[DetMinors[T]]) error {
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

func (k GramSchmidt[T]) Run(p rev.Pass[GramSchmidt[T]]) error {
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

func (k Inv[T]) Run(p rev.Pass[Inv[T]]) error {
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

func (k LogDet[T]) Run(p rev.Pass[LogDet[T]]) error {
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

func (k MatMul[T]) Run(p rev.Pass[MatMul[T]]) error {
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

func (k QR[T]) Run(p rev.Pass[QR[T]]) error {
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

func (k Solve[T]) Run(p rev.Pass[Solve[T]]) error {
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

func (k SVD[T]) Run(p rev.Pass[SVD[T]]) error {
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

func (k SymEig[T]) Run(p rev.Pass[SymEig[T]]) error {
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

func (k TriSolve[T]) Run(p rev.Pass[TriSolve[T]]) error {
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
