package revlinalg

import "revnum/rev"

// Shims until each kernel has a Run of its own.

func (k Abs[T]) Run(p rev.Pass[Abs[T]]) error {
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

func (k Affine[T]) Run(p rev.Pass[Affine[T]]) error {
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

func (k Atan2[T]) Run(p rev.Pass[Atan2[T]]) error {
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

func (k Axpy[T]) Run(p rev.Pass[Axpy[T]]) error {
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

func (k ComplexAbs) Run(p rev.Pass[ComplexAbs]) error {
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

func (k ComplexNorm1) Run(p rev.Pass[ComplexNorm1]) error {
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

func (k ComplexAxpy) Run(p rev.Pass[ComplexAxpy]) error {
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

func (k ComplexDot) Run(p rev.Pass[ComplexDot]) error {
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

func (k ComplexLog) Run(p rev.Pass[ComplexLog]) error {
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

func (k ComplexNorm2) Run(p rev.Pass[ComplexNorm2]) error {
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

func (k ComplexFrobenius) Run(p rev.Pass[ComplexFrobenius]) error {
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

func (k ComplexSum) Run(p rev.Pass[ComplexSum]) error {
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

func (k ComplexSumSquares) Run(p rev.Pass[ComplexSumSquares]) error {
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

func (k ComplexUnitary) Run(p rev.Pass[ComplexUnitary]) error {
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

func (k Cos[T]) Run(p rev.Pass[Cos[T]]) error {
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

func (k Covariance[T]) Run(p rev.Pass[Covariance[T]]) error {
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

func (k CrossEntropy[T]) Run(p rev.Pass[CrossEntropy[T]]) error {
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

func (k Dot[T]) Run(p rev.Pass[Dot[T]]) error {
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

func (k Exp[T]) Run(p rev.Pass[Exp[T]]) error {
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

func (k GivensQR[T]) Run(p rev.Pass[GivensQR[T]]) error {
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

func (k Log[T]) Run(p rev.Pass[Log[T]]) error {
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

func (k LogSumExp[T]) Run(p rev.Pass[LogSumExp[T]]) error {
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

func (k Mean[T]) Run(p rev.Pass[Mean[T]]) error {
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

func (k Norm1[T]) Run(p rev.Pass[Norm1[T]]) error {
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

func (k Norm2[T]) Run(p rev.Pass[Norm2[T]]) error {
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

func (k Frobenius[T]) Run(p rev.Pass[Frobenius[T]]) error {
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

func (k NormInf[T]) Run(p rev.Pass[NormInf[T]]) error {
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

func (k Outer[T]) Run(p rev.Pass[Outer[T]]) error {
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

func (k PolyLeastSquares[T]) Run(p rev.Pass[PolyLeastSquares[T]]) error {
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

func (k Pow[T]) Run(p rev.Pass[Pow[T]]) error {
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

func (k Sin[T]) Run(p rev.Pass[Sin[T]]) error {
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

func (k Softmax[T]) Run(p rev.Pass[Softmax[T]]) error {
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

func (k Sqrt[T]) Run(p rev.Pass[Sqrt[T]]) error {
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

func (k Sum[T]) Run(p rev.Pass[Sum[T]]) error {
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

func (k SumSquares[T]) Run(p rev.Pass[SumSquares[T]]) error {
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

func (k Unitary[T]) Run(p rev.Pass[Unitary[T]]) error {
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

func (k Variance[T]) Run(p rev.Pass[Variance[T]]) error {
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
