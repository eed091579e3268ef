package catalog

const (
	sumOfLogs       = "the log of a sum is rounded, so what was added cannot be taken out to the bit"
	divides         = "solutions leave the range, and errors of fixed size do not get small beside them"
	signedLogs      = "the operands are logs, which carry no sign"
	roundedDivision = "quotients by small pivots leave ±2²⁰"
	smallDistances  = "derivatives, quotients by distances of values, leave ±2²⁰"
)

// byReal says that a kernel over complex numbers has one over real numbers beside
// it.
func byReal(name string) not {
	return not{"float64": "by " + name, "float32": "by " + name, "Q43": "by " + name}
}

// OverNumbers are the kernels over numbers as they are.
var OverNumbers = []Kernel{
	{"y += W·x + b", over{of(affine[float64]), of(affine[float32]), of(affine[q43])}, nil},
	{"C += op(A)·op(B)", over{of(matMul[float64]), of(matMul[float32]), of(matMul[q43])}, nil},
	{"X <- U(θ)·X", over{of(unitary[float64]), of(unitary[float32]), of(unitary[q43])},
		not{"complex128": "by ComplexUnitary"}},
	{"X <- U(θ, φ, δ)·X", over{of(complexUnitary)},
		not{"float64": "by Unitary", "float32": "by Unitary", "Q43": "by Unitary"}},
	{"A <-> R and angles, R = U(θ)·A", over{of(givensQR[float64]), of(givensQR[float32])},
		not{"Q43": "a rounded angle does not tell apart all pairs of elements above 1"}},
	{"y += α·x", over{of(axpy[float64]), of(axpy[float32]), of(axpy[q43]), of(axpy[c128])}, nil},
	{"r += Σ conj(x_i)·y_i", over{of(dot[float64]), of(dot[float32]), of(dot[q43]), of(dot[c128])}, nil},
	{"r += Σ x_i", over{of(sum[float64]), of(sum[float32]), of(sum[q43]), of(sum[c128])}, nil},
	{"r += Σ x_i²", over{of(sumSquares[float64]), of(sumSquares[float32]), of(sumSquares[q43])}, not{"complex128": "by ComplexSumSquares"}},
	{"r += ‖x‖", over{of(norm2[float64]), of(norm2[float32]), of(norm2[q43])}, not{"complex128": "by ComplexNorm2"}},
	{"r += ‖A‖_F", over{of(frobenius[float64]), of(frobenius[float32]), of(frobenius[q43])}, not{"complex128": "by ComplexFrobenius"}},
	{"r += ‖x‖₁", over{of(norm1[float64]), of(norm1[float32]), of(norm1[q43])}, not{"complex128": "by ComplexNorm1"}},
	{"r += ‖x‖_∞", over{of(normInf[float64]), of(normInf[float32]), of(normInf[q43])}, nil},
	{"A += α·x·yᵀ", over{of(outer[float64]), of(outer[float32]), of(outer[q43])}, nil},
	{"r += mean of x", over{of(mean[float64]), of(mean[float32]), of(mean[q43])}, nil},
	{"r += variance of x", over{of(variance[float64]), of(variance[float32]), of(variance[q43])}, nil},
	{"C += covariance of the columns of X", over{of(covariance[float64]), of(covariance[float32]), of(covariance[q43])}, nil},
	{"r += cross-entropy of softmax x_i, for rows i", over{of(crossEntropy[float64]), of(crossEntropy[float32]), of(crossEntropy[q43])}, nil},
	{"r += log Σ exp x_i", over{of(logSumExp[float64]), of(logSumExp[float32]), of(logSumExp[q43])}, nil},
	{"y += softmax x", over{of(softmax[float64]), of(softmax[float32]), of(softmax[q43])}, nil},
	{"r += Σ abs(x_i)²", over{of(complexSumSquares)}, byReal("SumSquares")},
	{"r += ‖x‖₁", over{of(complexNorm1)}, byReal("Norm1")},
	{"r += ‖x‖", over{of(complexNorm2)}, byReal("Norm2")},
	{"r += ‖A‖_F", over{of(complexFrobenius)}, byReal("Frobenius")},
	{"y_i += abs x_i", over{of(complexAbs)}, byReal("Abs")},
	{"y_i += exp x_i", over{of(exp[float64]), of(exp[float32]), of(exp[q43])}, nil},
	{"y_i += log x_i", over{of(log[float64]), of(log[float32]), of(log[q43]), of(complexLog)}, nil},
	{"y_i += √x_i", over{of(sqrt[float64]), of(sqrt[float32]), of(sqrt[q43])}, nil},
	{"y_i += sin x_i", over{of(sin[float64]), of(sin[float32]), of(sin[q43])}, nil},
	{"y_i += cos x_i", over{of(cos[float64]), of(cos[float32]), of(cos[q43])}, nil},
	{"y_i += abs x_i", over{of(abs[float64]), of(abs[float32]), of(abs[q43])}, not{"complex128": "by ComplexAbs"}},
	{"z_i += atan2(x_i, y_i)", over{of(atan2[float64]), of(atan2[float32]), of(atan2[q43])}, nil},
	{"z_i += x_i^y_i", over{of(pow[float64]), of(pow[float32]), of(pow[q43])}, nil},
	{"L += chol(A)", over{of(cholesky[float64]), of(cholesky[float32])}, not{"Q43": roundedDivision}},
	{"Q += Q(A), R += R(A), by reflections", over{of(qr[float64]), of(qr[float32])}, not{"Q43": roundedDivision}},
	{"the same, R with a positive diagonal", over{of(gramSchmidt[float64]), of(gramSchmidt[float32])}, not{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B, A triangular", over{of(denseTriSolve[float64]), of(denseTriSolve[float32])}, not{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B", over{of(solve[float64]), of(solve[float32])}, not{"Q43": roundedDivision}},
	{"B += A⁻¹", over{of(inv[float64]), of(inv[float32])}, not{"Q43": roundedDivision}},
	{"r += det A", over{of(det[float64]), of(det[float32])}, not{"Q43": roundedDivision}},
	{"r += det A, by minors", over{of(detMinors[float64]), of(detMinors[float32]), of(detMinors[q43])}, nil},
	{"r += log abs(det A), s += sign(det A)", over{of(logDet[float64]), of(logDet[float32])}, not{"Q43": roundedDivision}},
	{"w += w(A), V += V(A), A = V·diag(w)·Vᵀ", over{of(symEig[float64]), of(symEig[float32])}, not{"Q43": smallDistances}},
	{"U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ", over{of(svd[float64]), of(svd[float32])}, not{"Q43": smallDistances}},
	{"r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)²", over{of(polyLeastSquares[float64]), of(polyLeastSquares[float32])},
		not{"Q43": "powers of x leave ±2²⁰, or vanish below 2⁻⁴³"}},
	{"r += Σ_i min_k ‖x_i - c_k‖²", over{of(cost[float64]), of(cost[float32])},
		not{"Q43": "not yet: its candidates are found by products of float matrices"}},
	{"C += α·op(A)·B, A sparse", over{of(sparseMul[float64]), of(sparseMul[float32]), of(sparseMul[q43]), of(sparseMul[c128])}, nil},
	{"r += Σ conj(A_ij)·B_ij, both sparse", over{of(sparseDot[float64]), of(sparseDot[float32]), of(sparseDot[q43]), of(sparseDot[c128])}, nil},
	{"S_ij += A_i·B_j at the entries of a sparse S", over{of(sampledMul[float64]), of(sampledMul[float32]), of(sampledMul[q43])}, nil},
	{"C_ij += Σ_l A_il·B_lj, all sparse", over{of(spgemm[float64]), of(spgemm[float32]), of(spgemm[q43])}, nil},
	{"C += α·(A + Aᵀ - diag A)·B, A sparse", over{of(symmetricMul[float64]), of(symmetricMul[float32]), of(symmetricMul[q43])}, nil},
	{"r += misfit of an embedding of a graph", over{of(loss[float64]), of(loss[float32]), of(loss[q43])}, nil},
	{"x += op(A)⁻¹·b, A sparse and triangular", over{of(triSolve[float64]), of(triSolve[float32])},
		not{"Q43": divides}},
	{"X += op(A)⁻¹·B, A sparse", over{of(sparseSolve[float64]), of(sparseSolve[float32])},
		not{"Q43": divides}},
	{"x += A⁻¹·b, A sparse, symmetric and positive definite", over{of(sparseCG[float64]), of(sparseCG[float32])},
		not{"Q43": divides}},
	{"λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric", over{of(dominantEig[float64]), of(dominantEig[float32])},
		not{"Q43": divides}},
	{"the same, A an operator", over{of(operatorEig)},
		not{"float32": "operators work on float64", "Q43": divides}},
	{"r += log loss of a recurrent network", over{of(lstmLoss[float64]), of(lstmLoss[float32]), of(lstmLoss[q43])}, nil},
	{"R += reprojection errors, cameras of 9 parameters", over{of(snavely[float64]), of(snavely[float32]), of(snavely[q43])}, nil},
	{"R += weighted ones, cameras of 11 parameters; Z += 1 - w²", over{of(weighted[float64]), of(weighted[float32]), of(weighted[q43])}, nil},
	{"r += log posterior of a Gaussian mixture", over{of(logPosterior[float64]), of(logPosterior[float32])},
		not{"Q43": "by FixedLogPosterior"}},
	{"the same", over{of(fixedLogPosterior)},
		not{"float64": "by LogPosterior", "float32": "by LogPosterior"}},
}

// OverLogs are the kernels whose operands are logs, that is numbers of package ulog,
// though their elements are floats or fixed-point numbers.
var OverLogs = []Kernel{
	{"r ⊕= Σ x_i", over{of(logSum[float64]), of(logSum[float32])},
		not{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r ⊕= Σ x_i·y_i", over{of(logDot[float64]), of(logDot[float32])},
		not{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B", over{of(logMatMul[float64]), of(logMatMul[float32])},
		not{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B, A sparse", over{of(sparseLogMul[float64]), of(sparseLogMul[float32])},
		not{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"z_i ⊕= x_i·y_i", over{of(logMulElem[float64]), of(logMulElem[float32])},
		not{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r *= Π x_i", over{of(logProd[float64]), of(logProd[float32]), of(logProd[q43])},
		not{"ulog.Signed": signedLogs}},
	{"y_i *= Π_j x_j^a_ij", over{of(logPowers[float64]), of(logPowers[float32]), of(logPowers[q43])},
		not{"ulog.Signed": signedLogs}},
	{"R_ik *= responsibility of component k for point i", over{of(logResponsibilities[float64]), of(logResponsibilities[float32])},
		not{"ulog.Fixed": "log densities of points far away leave ±2²⁰", "ulog.Signed": "responsibilities are not negative"}},
}
