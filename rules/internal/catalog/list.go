package catalog

import (
	"revnum/fixed"
	"revnum/revlinalg"
	"revnum/revlog"
	"revnum/revmath"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/hand"
	"revnum/revmodels/kmeans"
	"revnum/revmodels/lstm"
	"revnum/revmodels/nbody"
	"revnum/revmodels/wave"
	"revnum/revnn"
	"revnum/revsparse"
	"revnum/revtropical"
)

type (
	c128 = complex128
	q43  = fixed.Q43
)

const (
	sumOfLogs       = "the log of a sum is rounded, so what was added cannot be taken out to the bit"
	divides         = "solutions leave the range, and errors of fixed size do not get small beside them"
	signedLogs      = "the operands are logs, which carry no sign"
	roundedDivision = "quotients by small pivots leave ±2²⁰"
	smallDistances  = "derivatives, quotients by distances of values, leave ±2²⁰"
)

// What several kernels share.
var (
	windows = dims("Channels=c Height=5 Width=4 WindowHeight=3 WindowWidth=2 StrideHeight=2 StrideWidth=1")
	mixture = dims("K=2 D=3 N=r")

	petersen = graphembed.Petersen()
	prior    = gmm.Prior{Gamma: 1, M: 1}
	steps    = nbody.Options{Dt: 0.125, Softening: 1}
)

// byReal says that there is another kernel for real numbers.
func byReal(name string) reasons {
	return reasons{"float64": "by " + name, "float32": "by " + name, "Q43": "by " + name}
}

// OverNumbers are the kernels over numbers as they are.
var OverNumbers = []Kernel{
	{"y += W·x + b", reals(revlinalg.Affine[float64]{}, revlinalg.Affine[float32]{}, revlinalg.Affine[q43]{}), nil},
	{"C += op(A)·op(B)", reals(revlinalg.MatMul[float64]{}, revlinalg.MatMul[float32]{}, revlinalg.MatMul[q43]{}, dims("k=c n=r+c")), nil},
	{"X <- U(θ)·X", reals(revlinalg.Unitary[float64]{}, revlinalg.Unitary[float32]{}, revlinalg.Unitary[q43]{}),
		reasons{"complex128": "by ComplexUnitary"}},
	{"X <- U(θ, φ, δ)·X", instances{instanceOf(revlinalg.ComplexUnitary{})},
		reasons{"float64": "by Unitary", "float32": "by Unitary", "Q43": "by Unitary"}},
	{"X <- F·X, the discrete Fourier transform", instances{instanceOf(revlinalg.FFT{})},
		reasons{"float64": "by FFT of complex128", "float32": "complex64 has no kernels", "Q43": "by FixedFFT"}},
	{"the same, real and imaginary parts apart", instances{instanceOf(revlinalg.FixedFFT{})},
		reasons{"float64": "by FFT of complex128", "float32": "complex64 has no kernels", "complex128": "by FFT"}},
	{"y += half of the spectrum F·x of real numbers", instances{instanceOf(revlinalg.RealFFT{})},
		reasons{"float64": "x is, y is complex128", "float32": "complex64 has no kernels", "Q43": "by FixedFFT"}},
	{"A <-> R and angles, R = U(θ)·A", floats(revlinalg.GivensQR[float64]{}, revlinalg.GivensQR[float32]{}),
		reasons{"Q43": "a rounded angle does not tell apart all pairs of elements above 1"}},
	{"y += α·x", numbers(revlinalg.Axpy[float64]{}, revlinalg.Axpy[float32]{}, revlinalg.Axpy[q43]{}, revlinalg.Axpy[c128]{}), nil},
	{"r += Σ conj(x_i)·y_i", numbers(revlinalg.Dot[float64]{}, revlinalg.Dot[float32]{}, revlinalg.Dot[q43]{}, revlinalg.Dot[c128]{}), nil},
	{"r += Σ x_i", numbers(revlinalg.Sum[float64]{}, revlinalg.Sum[float32]{}, revlinalg.Sum[q43]{}, revlinalg.Sum[c128]{}), nil},
	{"r += Σ x_i²", reals(revlinalg.SumSquares[float64]{}, revlinalg.SumSquares[float32]{}, revlinalg.SumSquares[q43]{}), reasons{"complex128": "by ComplexSumSquares"}},
	{"r += ‖x‖", reals(revlinalg.Norm2[float64]{}, revlinalg.Norm2[float32]{}, revlinalg.Norm2[q43]{}), reasons{"complex128": "by ComplexNorm2"}},
	{"r += ‖A‖_F", reals(revlinalg.Frobenius[float64]{}, revlinalg.Frobenius[float32]{}, revlinalg.Frobenius[q43]{}), reasons{"complex128": "by ComplexFrobenius"}},
	{"r += ‖x‖₁", reals(revlinalg.Norm1[float64]{}, revlinalg.Norm1[float32]{}, revlinalg.Norm1[q43]{}), reasons{"complex128": "by ComplexNorm1"}},
	{"r += ‖x‖_∞", reals(revlinalg.NormInf[float64]{}, revlinalg.NormInf[float32]{}, revlinalg.NormInf[q43]{}), nil},
	{"A += α·x·yᵀ", reals(revlinalg.Outer[float64]{}, revlinalg.Outer[float32]{}, revlinalg.Outer[q43]{}), nil},
	{"r += mean of x", reals(revlinalg.Mean[float64]{}, revlinalg.Mean[float32]{}, revlinalg.Mean[q43]{}), nil},
	{"r += variance of x", reals(revlinalg.Variance[float64]{}, revlinalg.Variance[float32]{}, revlinalg.Variance[q43]{}), nil},
	{"C += covariance of the columns of X", reals(revlinalg.Covariance[float64]{}, revlinalg.Covariance[float32]{}, revlinalg.Covariance[q43]{}, dims("n=r k=c")), nil},
	{"r += Σ abs(x_i)²", instances{instanceOf(revlinalg.ComplexSumSquares{})}, byReal("SumSquares")},
	{"r += ‖x‖₁", instances{instanceOf(revlinalg.ComplexNorm1{})}, byReal("Norm1")},
	{"r += ‖x‖", instances{instanceOf(revlinalg.ComplexNorm2{})}, byReal("Norm2")},
	{"r += ‖A‖_F", instances{instanceOf(revlinalg.ComplexFrobenius{})}, byReal("Frobenius")},
	{"y_i += abs x_i", instances{instanceOf(revlinalg.ComplexAbs{})}, byReal("Abs")},
	{"y_i += exp x_i", reals(revlinalg.Exp[float64]{}, revlinalg.Exp[float32]{}, revlinalg.Exp[q43]{}), nil},
	{"y_i += log x_i", numbers(revlinalg.Log[float64]{}, revlinalg.Log[float32]{}, revlinalg.Log[q43]{}, revlinalg.Log[c128]{}, positive("X")), nil},
	{"y_i += √x_i", reals(revlinalg.Sqrt[float64]{}, revlinalg.Sqrt[float32]{}, revlinalg.Sqrt[q43]{}, positive("X")), nil},
	{"y_i += sin x_i", reals(revlinalg.Sin[float64]{}, revlinalg.Sin[float32]{}, revlinalg.Sin[q43]{}), nil},
	{"y_i += cos x_i", reals(revlinalg.Cos[float64]{}, revlinalg.Cos[float32]{}, revlinalg.Cos[q43]{}), nil},
	{"y_i += tan x_i", reals(revlinalg.Tan[float64]{}, revlinalg.Tan[float32]{}, revlinalg.Tan[q43]{}), nil},
	{"y_i += exp(x_i) - 1", reals(revlinalg.Expm1[float64]{}, revlinalg.Expm1[float32]{}, revlinalg.Expm1[q43]{}), nil},
	{"y_i += log(1 + x_i)", reals(revlinalg.Log1p[float64]{}, revlinalg.Log1p[float32]{}, revlinalg.Log1p[q43]{}, positive("X")), nil},
	{"y_i += erf x_i", reals(revlinalg.Erf[float64]{}, revlinalg.Erf[float32]{}, revlinalg.Erf[q43]{}), nil},
	{"y_i += abs x_i", reals(revlinalg.Abs[float64]{}, revlinalg.Abs[float32]{}, revlinalg.Abs[q43]{}), reasons{"complex128": "by ComplexAbs"}},
	{"y_i += x_i²", numbers(revlinalg.Square[float64]{}, revlinalg.Square[float32]{}, revlinalg.Square[q43]{}, revlinalg.Square[c128]{}), nil},
	{"y_i += 1/x_i", numbers(revlinalg.Recip[float64]{}, revlinalg.Recip[float32]{}, revlinalg.Recip[q43]{}, revlinalg.Recip[c128]{}, positive("X")), nil},
	{"y_i += min(max(x_i, Lo), Hi)", reals(revlinalg.Clip[float64]{Lo: -0.5, Hi: 0.75}, revlinalg.Clip[float32]{Lo: -0.5, Hi: 0.75}, revlinalg.Clip[q43]{Lo: -0.5, Hi: 0.75}), nil},
	{"z_i += max(x_i, y_i)", reals(revlinalg.MaxElem[float64]{}, revlinalg.MaxElem[float32]{}, revlinalg.MaxElem[q43]{}), nil},
	{"z_i += min(x_i, y_i)", reals(revlinalg.MinElem[float64]{}, revlinalg.MinElem[float32]{}, revlinalg.MinElem[q43]{}), nil},
	{"z_i += x_i where c_i > 0, and y_i elsewhere", reals(revlinalg.Where[float64]{}, revlinalg.Where[float32]{}, revlinalg.Where[q43]{}), nil},
	{"y_i += Σ_{j≤i} x_j", numbers(revlinalg.CumSum[float64]{}, revlinalg.CumSum[float32]{}, revlinalg.CumSum[q43]{}, revlinalg.CumSum[c128]{}), nil},
	{"z_i += x_i·y_i", numbers(revlinalg.MulElem[float64]{}, revlinalg.MulElem[float32]{}, revlinalg.MulElem[q43]{}, revlinalg.MulElem[c128]{}), nil},
	{"z_i += x_i × y_i", reals(revlinalg.Cross[float64]{}, revlinalg.Cross[float32]{}, revlinalg.Cross[q43]{}, dims("n=r")), nil},
	{"z_i += x_i/y_i", reals(revlinalg.DivElem[float64]{}, revlinalg.DivElem[float32]{}, revlinalg.DivElem[q43]{}, positive("Y")), nil},
	{"z_i += atan2(x_i, y_i)", reals(revlinalg.Atan2[float64]{}, revlinalg.Atan2[float32]{}, revlinalg.Atan2[q43]{}, positive("Y")), nil},
	{"z_i += x_i^y_i", reals(revlinalg.Pow[float64]{}, revlinalg.Pow[float32]{}, revlinalg.Pow[q43]{}, positive("X", "Y")), nil},
	{"y_i += J_ν(x_i)", reals(revmath.Bessel[float64]{Nu: 2.5}, revmath.Bessel[float32]{Nu: 2.5}, revmath.Bessel[q43]{Nu: 2.5}, positive("X")), nil},
	{"z += normal numbers of uniform ones u", reals(revmath.BoxMuller[float64]{}, revmath.BoxMuller[float32]{}, revmath.BoxMuller[q43]{}, withDraw("U1", probability), withDraw("U2", probability)), nil},
	{"u += uniform numbers of normal ones z", reals(revmath.BoxMullerInverse[float64]{}, revmath.BoxMullerInverse[float32]{}, revmath.BoxMullerInverse[q43]{}, positive("Z2")), nil},
	{"L += chol(A)", floats(revlinalg.Cholesky[float64]{}, revlinalg.Cholesky[float32]{}, withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"Q += Q(A), R += R(A), by reflections", floats(revlinalg.QR[float64]{}, revlinalg.QR[float32]{}, dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"the same, R with a positive diagonal", floats(revlinalg.GramSchmidt[float64]{}, revlinalg.GramSchmidt[float32]{}, dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B, A triangular", floats(revlinalg.TriSolve[float64]{}, revlinalg.TriSolve[float32]{}, withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B", floats(revlinalg.Solve[float64]{}, revlinalg.Solve[float32]{}, withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += argmin_Y ‖A·Y - B‖", floats(revlinalg.LeastSquares[float64]{}, revlinalg.LeastSquares[float32]{}, dims("m=r+c n=c k=2"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += A⁺, the pseudo-inverse", floats(revlinalg.Pinv[float64]{}, revlinalg.Pinv[float32]{}, dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"Y += exp(A) of a matrix", floats(revlinalg.Expm[float64]{}, revlinalg.Expm[float32]{}), reasons{"Q43": "float64 would give each vector tier other bits"}},
	{"B += A⁻¹", floats(revlinalg.Inv[float64]{}, revlinalg.Inv[float32]{}, withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"r += det A", floats(revlinalg.Det[float64]{}, revlinalg.Det[float32]{}), reasons{"Q43": roundedDivision}},
	{"r += det A, by minors", reals(revlinalg.DetMinors[float64]{}, revlinalg.DetMinors[float32]{}, revlinalg.DetMinors[q43]{}, dims("n=min(r,12)")), nil},
	{"r += log abs(det A), s += sign(det A)", floats(revlinalg.LogDet[float64]{}, revlinalg.LogDet[float32]{}, withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"w += w(A), V += V(A), A = V·diag(w)·Vᵀ", floats(revlinalg.SymEig[float64]{}, revlinalg.SymEig[float32]{}, withDraw("A", dominant)), reasons{"Q43": smallDistances}},
	{"U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ", floats(revlinalg.SVD[float64]{}, revlinalg.SVD[float32]{}, withDraw("A", dominant)), reasons{"Q43": smallDistances}},
	{"r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)²", floats(revlinalg.PolyLeastSquares[float64]{}, revlinalg.PolyLeastSquares[float32]{}, dims("m=c n=r")),
		reasons{"Q43": "powers of x leave ±2²⁰, or vanish below 2⁻⁴³"}},
	{"Y += X·W + 1·bᵀ", reals(revnn.AffineBatch[float64]{}, revnn.AffineBatch[float32]{}, revnn.AffineBatch[q43]{}, dims("n=r k=c m=3")), nil},
	{"Y += W * X + b, the convolution of images X with filters W", reals(revnn.Conv2D[float64]{}, revnn.Conv2D[float32]{}, revnn.Conv2D[q43]{}, dims("Channels=2 Height=3 Width=4 KernelHeight=3 KernelWidth=2 StrideHeight=2 StrideWidth=1 PadHeight=1")), nil},
	{"Y += Wᵀ * X + b, the transposed convolution of images X with filters W", reals(revnn.ConvTranspose2D[float64]{}, revnn.ConvTranspose2D[float32]{}, revnn.ConvTranspose2D[q43]{}, dims("Channels=2 Height=3 Width=4 KernelHeight=3 KernelWidth=2 StrideHeight=2 StrideWidth=1 PadHeight=1")), nil},
	{"Y += maxima over windows of images X", reals(revnn.MaxPool[float64]{}, revnn.MaxPool[float32]{}, revnn.MaxPool[q43]{}, windows), nil},
	{"Y += means over windows of images X", reals(revnn.MeanPool[float64]{}, revnn.MeanPool[float32]{}, revnn.MeanPool[q43]{}, windows), nil},
	{"Y_i += X_{Index[i]}, of rows i", numbers(revnn.Gather[float64]{}, revnn.Gather[float32]{}, revnn.Gather[q43]{}, revnn.Gather[c128]{}, dims("n=2*r d=c"), withDraw("Index", everyRow)), nil},
	{"y_i += max(x_i, 0)", reals(revnn.ReLU[float64]{}, revnn.ReLU[float32]{}, revnn.ReLU[q43]{}), nil},
	{"y_i += max(x_i, 0) + Slope·min(x_i, 0)", reals(revnn.LeakyReLU[float64]{Slope: 0.01}, revnn.LeakyReLU[float32]{Slope: 0.01}, revnn.LeakyReLU[q43]{Slope: 0.01}), nil},
	{"y_i += 1/(1 + exp -x_i)", reals(revnn.Sigmoid[float64]{}, revnn.Sigmoid[float32]{}, revnn.Sigmoid[q43]{}), nil},
	{"y_i += tanh x_i", reals(revnn.Tanh[float64]{}, revnn.Tanh[float32]{}, revnn.Tanh[q43]{}), nil},
	{"y_i += log(1 + exp x_i)", reals(revnn.Softplus[float64]{}, revnn.Softplus[float32]{}, revnn.Softplus[q43]{}), nil},
	{"y_i += x_i·Φ(x_i)", reals(revnn.GELU[float64]{}, revnn.GELU[float32]{}, revnn.GELU[q43]{}), nil},
	{"y_i += x_i/(1 + exp -x_i)", reals(revnn.SiLU[float64]{}, revnn.SiLU[float32]{}, revnn.SiLU[q43]{}), nil},
	{"y += softmax x", reals(revnn.Softmax[float64]{}, revnn.Softmax[float32]{}, revnn.Softmax[q43]{}), nil},
	{"Y_i += softmax X_i, of rows i", reals(revnn.SoftmaxRows[float64]{}, revnn.SoftmaxRows[float32]{}, revnn.SoftmaxRows[q43]{}), nil},
	{"r += log Σ exp x_i", reals(revnn.LogSumExp[float64]{}, revnn.LogSumExp[float32]{}, revnn.LogSumExp[q43]{}), nil},
	{"y_i += log Σ_j exp X_ij", reals(revnn.LogSumExpRows[float64]{}, revnn.LogSumExpRows[float32]{}, revnn.LogSumExpRows[q43]{}), nil},
	{"r += cross-entropy of softmax x_i, for rows i", reals(revnn.CrossEntropy[float64]{}, revnn.CrossEntropy[float32]{}, revnn.CrossEntropy[q43]{}, positive("P")), nil},
	{"Y_i += γ·X_i/rms(X_i) of rows i", reals(revnn.RMSNorm[float64]{}, revnn.RMSNorm[float32]{}, revnn.RMSNorm[q43]{}), nil},
	{"Y_i += γ·(X_i - mean)/deviation + β of rows i", reals(revnn.LayerNorm[float64]{}, revnn.LayerNorm[float32]{}, revnn.LayerNorm[q43]{}), nil},
	{"Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances", reals(revnn.BatchNorm[float64]{}, revnn.BatchNorm[float32]{}, revnn.BatchNorm[q43]{}, dims("n=r Channels=c p=3*c")), nil},
	{"Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i", reals(revnn.GroupNorm[float64]{}, revnn.GroupNorm[float32]{}, revnn.GroupNorm[q43]{}, dims("n=r Channels=2*c Groups=c p=6*c")), nil},
	{"Y += softmax(α·Q·Kᵀ)·V, of rows", floats(revnn.Attention[float64]{}, revnn.Attention[float32]{}, dims("n=r m=r c=c e=c")), reasons{"Q43": "not yet: its products and exponentials are those of floats"}},
	{"Y_t += h_t, C += c_T of long short-term memory over sequences X", reals(revnn.LSTM[float64]{}, revnn.LSTM[float32]{}, revnn.LSTM[q43]{}, dims("Sequences=2 n=2*r h=c d=3")), nil},
	{"Y_t += h_t of gated recurrent units over sequences X", reals(revnn.GRU[float64]{}, revnn.GRU[float32]{}, revnn.GRU[q43]{}, dims("Sequences=2 n=2*r h=c d=3")), nil},
	{"r += Σ (x_ij - y_ij)²", reals(revnn.SquaredError[float64]{}, revnn.SquaredError[float32]{}, revnn.SquaredError[q43]{}), nil},
	{"r += Σ of Huber's function of x_ij - y_ij", reals(revnn.Huber[float64]{}, revnn.Huber[float32]{}, revnn.Huber[q43]{}), nil},
	{"r += binary cross-entropy of σ(x_ij)", reals(revnn.BinaryCrossEntropy[float64]{}, revnn.BinaryCrossEntropy[float32]{}, revnn.BinaryCrossEntropy[q43]{}, withDraw("P", probability)), nil},
	{"r += Σ_i min_k ‖x_i - c_k‖²", floats(kmeans.Cost[float64]{}, kmeans.Cost[float32]{}, dims("K=2 D=3 N=r")),
		reasons{"Q43": "not yet: its candidates are found by products of float matrices"}},
	{"C += α·op(A)·B, A sparse", numbers(revsparse.Mul[float64, int]{}, revsparse.Mul[float32, int]{}, revsparse.Mul[q43, int]{}, revsparse.Mul[c128, int]{}, dims("m=r k=r+1 n=2")), nil},
	{"r += Σ conj(A_ij)·B_ij, both sparse", numbers(revsparse.Dot[float64, int]{}, revsparse.Dot[float32, int]{}, revsparse.Dot[q43, int]{}, revsparse.Dot[c128, int]{}, dims("n=3")), nil},
	{"S_ij += A_i·B_j at the entries of a sparse S", reals(revsparse.SampledMul[float64, int]{}, revsparse.SampledMul[float32, int]{}, revsparse.SampledMul[q43, int]{}, dims("m=r n=r+1 k=3")), nil},
	{"C_ij += Σ_l A_il·B_lj, all sparse", reals(revsparse.SpGEMM[float64, int]{}, revsparse.SpGEMM[float32, int]{}, revsparse.SpGEMM[q43, int]{}, dims("m=r n=3 k=r+1")), nil},
	{"C += α·(A + Aᵀ - diag A)·B, A sparse", reals(revsparse.SymmetricMul[float64, int]{}, revsparse.SymmetricMul[float32, int]{}, revsparse.SymmetricMul[q43, int]{}, dims("c=2")), nil},
	{"C_ij += max_l A_il + B_lj", reals(revtropical.MatMul[float64]{}, revtropical.MatMul[float32]{}, revtropical.MatMul[q43]{}, dims("m=r n=2 k=c")), nil},
	{"C_ij += max_l A_il + B_lj, A sparse", reals(revtropical.SparseMul[float64, int]{}, revtropical.SparseMul[float32, int]{}, revtropical.SparseMul[q43, int]{}, dims("m=r n=2 k=r+1")), nil},
	{"r += misfit of an embedding of a graph", reals(graphembed.Loss[float64]{Graph: petersen, Margin: 1}, graphembed.Loss[float32]{Graph: petersen, Margin: 1}, graphembed.Loss[q43]{Graph: petersen, Margin: 1}, dims("m=2 r=8 k=r")), nil},
	{"x += op(A)⁻¹·b, A sparse and triangular", floats(revsparse.TriSolve[float64, int]{}, revsparse.TriSolve[float32, int]{}, withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"X += op(A)⁻¹·B, A sparse", floats(revsparse.Solve[float64, int]{}, revsparse.Solve[float32, int]{}, dims("m=2"), withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"x += A⁻¹·b, A sparse, symmetric and positive definite", floats(revsparse.CG[float64, int]{}, revsparse.CG[float32, int]{}, withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric", floats(revsparse.DominantEig[float64, int]{}, revsparse.DominantEig[float32, int]{}, dims("k=1 n=r"), withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"the same, A an operator", instances{instanceOf(revsparse.OperatorEig{}, dims("k=1 n=r p=r"), withDraw("Theta", drawApart), adjust(func(k *revsparse.OperatorEig) { k.Op = diagonal{k.Theta.N} }))},
		reasons{"float32": "operators work on float64", "Q43": divides}},
	{"R += measured points - points of a posed hand", reals(hand.Residuals[float64]{Surface: true, Model: mitten}, hand.Residuals[float32]{Surface: true, Model: mitten}, hand.Residuals[q43]{Surface: true, Model: mitten}, drawBelow("Correspondences", "2")), nil},
	{"r += log loss of a recurrent network", reals(lstm.Loss[float64]{}, lstm.Loss[float32]{}, lstm.Loss[q43]{}, dims("M=4 B=r C=5")), nil},
	{"R += reprojection errors, cameras of 9 parameters", reals(ba.Snavely[float64]{}, ba.Snavely[float32]{}, ba.Snavely[q43]{}, dims("n=2 m=r p=r"), withDraw("Cameras", cameras), drawBelow("Camera", "n"), drawBelow("Point", "m")), nil},
	{"R += weighted ones, cameras of 11 parameters; Z += 1 - w²", reals(ba.Weighted[float64]{}, ba.Weighted[float32]{}, ba.Weighted[q43]{}, dims("n=2 m=r p=r"), withDraw("Cameras", cameras), drawBelow("Camera", "n"), drawBelow("Point", "m")), nil},
	{"r += log posterior of a Gaussian mixture", floats(gmm.LogPosterior[float64]{Prior: prior}, gmm.LogPosterior[float32]{Prior: prior}, mixture),
		reasons{"Q43": "by FixedLogPosterior"}},
	{"the same", instances{instanceOf(gmm.FixedLogPosterior{Prior: prior}, mixture)},
		reasons{"float64": "by LogPosterior", "float32": "by LogPosterior"}},
	{"Q += dt·V, positions of bodies", reals(nbody.Drift[float64]{Dt: 0.5}, nbody.Drift[float32]{Dt: 0.5}, nbody.Drift[q43]{Dt: 0.5}), nil},
	{"V += dt·attraction at Q", reals(nbody.Kick[float64]{Dt: 0.5, Softening: 1}, nbody.Kick[float32]{Dt: 0.5, Softening: 1}, nbody.Kick[q43]{Dt: 0.5, Softening: 1}, positive("Mu")), nil},
	{"(Q, V) <- N steps of Drift and Kick", reals(nbody.Steps[float64]{N: 2, Options: steps}, nbody.Steps[float32]{N: 2, Options: steps}, nbody.Steps[q43]{N: 2, Options: steps}, positive("Mu")), nil},
	{"r += energy of bodies", reals(nbody.Energy[float64]{Softening: 1}, nbody.Energy[float32]{Softening: 1}, nbody.Energy[q43]{Softening: 1}, positive("Mu")), nil},
	{"(U, Prev) <- N steps of the wave equation, Trace += U at receivers", reals(wave.Steps[float64]{}, wave.Steps[float32]{}, wave.Steps[q43]{}, dims("c=r N=2 n=2 s=1 t=2"), withDraw("M", speeds), drawBelow("SourceAt", "r*c"), drawBelow("ReceiverAt", "r*c")), nil},
}

// OverLogs are the kernels whose operands are logs, that is numbers of package ulog,
// though their elements are floats or fixed-point numbers.
var OverLogs = []Kernel{
	{"r ⊕= Σ x_i", floats(revlog.Sum[float64]{}, revlog.Sum[float32]{}, withDraw("Out", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r ⊕= Σ x_i·y_i", floats(revlog.Dot[float64]{}, revlog.Dot[float32]{}, withDraw("Out", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B", floats(revlog.MatMul[float64]{}, revlog.MatMul[float32]{}, dims("k=c n=r+c"), withDraw("C", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B, A sparse", floats(revsparse.LogMul[float64, int]{}, revsparse.LogMul[float32, int]{}, dims("m=r k=r+1 n=2")),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"z_i ⊕= x_i·y_i", floats(revlog.MulElem[float64]{}, revlog.MulElem[float32]{}, withDraw("Z", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r *= Π x_i", reals(revlog.Prod[float64]{}, revlog.Prod[float32]{}, revlog.Prod[q43]{}),
		reasons{"ulog.Signed": signedLogs}},
	{"y_i *= Π_j x_j^a_ij", reals(revlog.Powers[float64]{}, revlog.Powers[float32]{}, revlog.Powers[q43]{}),
		reasons{"ulog.Signed": signedLogs}},
	{"R_ik *= responsibility of component k for point i", floats(gmm.LogResponsibilities[float64]{}, gmm.LogResponsibilities[float32]{}, mixture),
		reasons{"ulog.Fixed": "log densities of points far away leave ±2²⁰", "ulog.Signed": "responsibilities are not negative"}},
}
