package revlinalg

import (
	"revnum/fixed"
	"revnum/rev"
)

// Cross is the kernel
//
//	Z_i += X_i × Y_i
//
// of the rows of matrices, which are vectors in space, with the derivatives
//
//	X̄_i += Y_i × Z̄_i,  Ȳ_i += Z̄_i × X_i,  Ż_i += Ẋ_i × Y_i + X_i × Ẏ_i
//
// and, of second order, with ĠZ the tangent of Z̄,
//
//	ĠX_i += Y_i × ĠZ_i + Ẏ_i × Z̄_i,  ĠY_i += ĠZ_i × X_i + Z̄_i × Ẋ_i.
//
// Operands have n rows of 3 elements. Each product is rounded once, and in floating point
// so is the difference of two of them: an element is within 3ε·|x_a·y_b| + 3ε·|x_b·y_a|. In
// fixed point the difference is exact and wraps. Inverse restores Z to the bit in fixed point,
// and otherwise within a rounding of its largest value.
type Cross[T rev.Real] struct {
	Z rev.General[T] `rev:"acc" shape:"n,3"`
	X rev.General[T] `rev:"in" shape:"n,3"`
	Y rev.General[T] `rev:"in" shape:"n,3"`
}

func crossAddProduct[T rev.Real](_ *Cross[T], sign int, z, x, y rev.General[T]) {
	if sign < 0 { // -(x × y)
		x, y = y, x
	}
	for i := range z.Rows {
		z, x, y := (*[3]T)(z.Data[i*z.Stride:]), (*[3]T)(x.Data[i*x.Stride:]), (*[3]T)(y.Data[i*y.Stride:])
		x0, x1, x2 := x[0], x[1], x[2]
		y0, y1, y2 := y[0], y[1], y[2]
		z[0] += fixed.Product(x1, y2) - fixed.Product(x2, y1)
		z[1] += fixed.Product(x2, y0) - fixed.Product(x0, y2)
		z[2] += fixed.Product(x0, y1) - fixed.Product(x1, y0)
	}
}

func crossAddLeft[T rev.Real](k *Cross[T], gx, gz, y rev.General[T]) {
	crossAddProduct(k, 1, gx, y, gz)
}

func crossAddRight[T rev.Real](k *Cross[T], gy, x, gz rev.General[T]) {
	crossAddProduct(k, 1, gy, gz, x)
}
