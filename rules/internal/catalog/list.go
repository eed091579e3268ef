package catalog

import (
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/nbody"
	"revnum/revsparse"
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
	{"y += W·x + b", over("revlinalg.Affine"), nil},
	{"C += op(A)·op(B)", over("revlinalg.MatMul", dims("k=c n=r+c")), nil},
	{"X <- U(θ)·X", over("revlinalg.Unitary"),
		reasons{"complex128": "by ComplexUnitary"}},
	{"X <- U(θ, φ, δ)·X", over("revlinalg.ComplexUnitary"),
		reasons{"float64": "by Unitary", "float32": "by Unitary", "Q43": "by Unitary"}},
	{"X <- F·X, the discrete Fourier transform", over("revlinalg.FFT"),
		reasons{"float64": "by FFT of complex128", "float32": "complex64 has no kernels", "Q43": "by FixedFFT"}},
	{"the same, real and imaginary parts apart", over("revlinalg.FixedFFT"),
		reasons{"float64": "by FFT of complex128", "float32": "complex64 has no kernels", "complex128": "by FFT"}},
	{"y += half of the spectrum F·x of real numbers", over("revlinalg.RealFFT"),
		reasons{"float64": "x is, y is complex128", "float32": "complex64 has no kernels", "Q43": "by FixedFFT"}},
	{"A <-> R and angles, R = U(θ)·A", over("revlinalg.GivensQR"),
		reasons{"Q43": "a rounded angle does not tell apart all pairs of elements above 1"}},
	{"y += α·x", over("revlinalg.Axpy"), nil},
	{"r += Σ conj(x_i)·y_i", over("revlinalg.Dot"), nil},
	{"r += Σ x_i", over("revlinalg.Sum"), nil},
	{"r += Σ x_i²", over("revlinalg.SumSquares"), reasons{"complex128": "by ComplexSumSquares"}},
	{"r += ‖x‖", over("revlinalg.Norm2"), reasons{"complex128": "by ComplexNorm2"}},
	{"r += ‖A‖_F", over("revlinalg.Frobenius"), reasons{"complex128": "by ComplexFrobenius"}},
	{"r += ‖x‖₁", over("revlinalg.Norm1"), reasons{"complex128": "by ComplexNorm1"}},
	{"r += ‖x‖_∞", over("revlinalg.NormInf"), nil},
	{"A += α·x·yᵀ", over("revlinalg.Outer"), nil},
	{"r += mean of x", over("revlinalg.Mean"), nil},
	{"r += variance of x", over("revlinalg.Variance"), nil},
	{"C += covariance of the columns of X", over("revlinalg.Covariance", dims("n=r k=c")), nil},
	{"r += Σ abs(x_i)²", over("revlinalg.ComplexSumSquares"), byReal("SumSquares")},
	{"r += ‖x‖₁", over("revlinalg.ComplexNorm1"), byReal("Norm1")},
	{"r += ‖x‖", over("revlinalg.ComplexNorm2"), byReal("Norm2")},
	{"r += ‖A‖_F", over("revlinalg.ComplexFrobenius"), byReal("Frobenius")},
	{"y_i += abs x_i", over("revlinalg.ComplexAbs"), byReal("Abs")},
	{"y_i += exp x_i", over("revlinalg.Exp"), nil},
	{"y_i += log x_i", over("revlinalg.Log", positive("X")), nil},
	{"y_i += √x_i", over("revlinalg.Sqrt", positive("X")), nil},
	{"y_i += sin x_i", over("revlinalg.Sin"), nil},
	{"y_i += cos x_i", over("revlinalg.Cos"), nil},
	{"y_i += tan x_i", over("revlinalg.Tan"), nil},
	{"y_i += exp(x_i) - 1", over("revlinalg.Expm1"), nil},
	{"y_i += log(1 + x_i)", over("revlinalg.Log1p", positive("X")), nil},
	{"y_i += erf x_i", over("revlinalg.Erf"), nil},
	{"y_i += abs x_i", over("revlinalg.Abs"), reasons{"complex128": "by ComplexAbs"}},
	{"y_i += x_i²", over("revlinalg.Square"), nil},
	{"y_i += 1/x_i", over("revlinalg.Recip", positive("X")), nil},
	{"y_i += min(max(x_i, Lo), Hi)", over("revlinalg.Clip", set("Lo", -0.5), set("Hi", 0.75)), nil},
	{"z_i += max(x_i, y_i)", over("revlinalg.MaxElem"), nil},
	{"z_i += min(x_i, y_i)", over("revlinalg.MinElem"), nil},
	{"z_i += x_i where c_i > 0, and y_i elsewhere", over("revlinalg.Where"), nil},
	{"y_i += Σ_{j≤i} x_j", over("revlinalg.CumSum"), nil},
	{"z_i += x_i·y_i", over("revlinalg.MulElem"), nil},
	{"z_i += x_i × y_i", over("revlinalg.Cross", dims("n=r")), nil},
	{"z_i += x_i/y_i", over("revlinalg.DivElem", positive("Y")), nil},
	{"z_i += atan2(x_i, y_i)", over("revlinalg.Atan2", positive("Y")), nil},
	{"z_i += x_i^y_i", over("revlinalg.Pow", positive("X", "Y")), nil},
	{"y_i += J_ν(x_i)", over("revmath.Bessel", set("Nu", 2.5), positive("X")), nil},
	{"z += normal numbers of uniform ones u", over("revmath.BoxMuller", withDraw("U1", probability), withDraw("U2", probability)), nil},
	{"u += uniform numbers of normal ones z", over("revmath.BoxMullerInverse", positive("Z2")), nil},
	{"L += chol(A)", over("revlinalg.Cholesky", withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"Q += Q(A), R += R(A), by reflections", over("revlinalg.QR", dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"the same, R with a positive diagonal", over("revlinalg.GramSchmidt", dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B, A triangular", over("revlinalg.TriSolve", withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += op(A)⁻¹·B", over("revlinalg.Solve", withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += argmin_Y ‖A·Y - B‖", over("revlinalg.LeastSquares", dims("m=r+c n=c k=2"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"X += A⁺, the pseudo-inverse", over("revlinalg.Pinv", dims("m=r+c n=c"), withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"Y += exp(A) of a matrix", over("revlinalg.Expm"), reasons{"Q43": "float64 would give each vector tier other bits"}},
	{"B += A⁻¹", over("revlinalg.Inv", withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"r += det A", over("revlinalg.Det"), reasons{"Q43": roundedDivision}},
	{"r += det A, by minors", over("revlinalg.DetMinors", dims("n=min(r,12)")), nil},
	{"r += log abs(det A), s += sign(det A)", over("revlinalg.LogDet", withDraw("A", dominant)), reasons{"Q43": roundedDivision}},
	{"w += w(A), V += V(A), A = V·diag(w)·Vᵀ", over("revlinalg.SymEig", withDraw("A", dominant)), reasons{"Q43": smallDistances}},
	{"U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ", over("revlinalg.SVD", withDraw("A", dominant)), reasons{"Q43": smallDistances}},
	{"r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)²", over("revlinalg.PolyLeastSquares", dims("m=c n=r")),
		reasons{"Q43": "powers of x leave ±2²⁰, or vanish below 2⁻⁴³"}},
	{"Y += X·W + 1·bᵀ", over("revnn.AffineBatch", dims("n=r k=c m=3")), nil},
	{"Y += W * X + b, the convolution of images X with filters W", over("revnn.Conv2D", dims("Channels=2 Height=3 Width=4 KernelHeight=3 KernelWidth=2 StrideHeight=2 StrideWidth=1 PadHeight=1")), nil},
	{"Y += Wᵀ * X + b, the transposed convolution of images X with filters W", over("revnn.ConvTranspose2D", dims("Channels=2 Height=3 Width=4 KernelHeight=3 KernelWidth=2 StrideHeight=2 StrideWidth=1 PadHeight=1")), nil},
	{"Y += maxima over windows of images X", over("revnn.MaxPool", windows), nil},
	{"Y += means over windows of images X", over("revnn.MeanPool", windows), nil},
	{"Y_i += X_{Index[i]}, of rows i", over("revnn.Gather", dims("n=2*r d=c"), withDraw("Index", everyRow)), nil},
	{"y_i += max(x_i, 0)", over("revnn.ReLU"), nil},
	{"y_i += max(x_i, 0) + Slope·min(x_i, 0)", over("revnn.LeakyReLU", set("Slope", 0.01)), nil},
	{"y_i += 1/(1 + exp -x_i)", over("revnn.Sigmoid"), nil},
	{"y_i += tanh x_i", over("revnn.Tanh"), nil},
	{"y_i += log(1 + exp x_i)", over("revnn.Softplus"), nil},
	{"y_i += x_i·Φ(x_i)", over("revnn.GELU"), nil},
	{"y_i += x_i/(1 + exp -x_i)", over("revnn.SiLU"), nil},
	{"y += softmax x", over("revnn.Softmax"), nil},
	{"Y_i += softmax X_i, of rows i", over("revnn.SoftmaxRows"), nil},
	{"r += log Σ exp x_i", over("revnn.LogSumExp"), nil},
	{"y_i += log Σ_j exp X_ij", over("revnn.LogSumExpRows"), nil},
	{"r += cross-entropy of softmax x_i, for rows i", over("revnn.CrossEntropy", positive("P")), nil},
	{"Y_i += γ·X_i/rms(X_i) of rows i", over("revnn.RMSNorm"), nil},
	{"Y_i += γ·(X_i - mean)/deviation + β of rows i", over("revnn.LayerNorm"), nil},
	{"Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances", over("revnn.BatchNorm", dims("n=r Channels=c p=3*c")), nil},
	{"Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i", over("revnn.GroupNorm", dims("n=r Channels=2*c Groups=c p=6*c")), nil},
	{"Y += softmax(α·Q·Kᵀ)·V, of rows", over("revnn.Attention", dims("n=r m=r c=c e=c")), reasons{"Q43": "not yet: its products and exponentials are those of floats"}},
	{"Y_t += h_t, C += c_T of long short-term memory over sequences X", over("revnn.LSTM", dims("Sequences=2 n=2*r h=c d=3")), nil},
	{"Y_t += h_t of gated recurrent units over sequences X", over("revnn.GRU", dims("Sequences=2 n=2*r h=c d=3")), nil},
	{"r += Σ (x_ij - y_ij)²", over("revnn.SquaredError"), nil},
	{"r += Σ of Huber's function of x_ij - y_ij", over("revnn.Huber"), nil},
	{"r += binary cross-entropy of σ(x_ij)", over("revnn.BinaryCrossEntropy", withDraw("P", probability)), nil},
	{"r += Σ_i min_k ‖x_i - c_k‖²", over("revmodels/kmeans.Cost", dims("K=2 D=3 N=r")),
		reasons{"Q43": "not yet: its candidates are found by products of float matrices"}},
	{"C += α·op(A)·B, A sparse", over("revsparse.Mul", dims("m=r k=r+1 n=2")), nil},
	{"r += Σ conj(A_ij)·B_ij, both sparse", over("revsparse.Dot", dims("n=3")), nil},
	{"S_ij += A_i·B_j at the entries of a sparse S", over("revsparse.SampledMul", dims("m=r n=r+1 k=3")), nil},
	{"C_ij += Σ_l A_il·B_lj, all sparse", over("revsparse.SpGEMM", dims("m=r n=3 k=r+1")), nil},
	{"C += α·(A + Aᵀ - diag A)·B, A sparse", over("revsparse.SymmetricMul", dims("c=2")), nil},
	{"C_ij += max_l A_il + B_lj", over("revtropical.MatMul", dims("m=r n=2 k=c")), nil},
	{"C_ij += max_l A_il + B_lj, A sparse", over("revtropical.SparseMul", dims("m=r n=2 k=r+1")), nil},
	{"r += misfit of an embedding of a graph", over("revmodels/graphembed.Loss", set("Graph", petersen), set("Margin", 1.0), dims("m=2 r=8 k=r")), nil},
	{"x += op(A)⁻¹·b, A sparse and triangular", over("revsparse.TriSolve", withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"X += op(A)⁻¹·B, A sparse", over("revsparse.Solve", dims("m=2"), withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"x += A⁻¹·b, A sparse, symmetric and positive definite", over("revsparse.CG", withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric", over("revsparse.DominantEig", dims("k=1 n=r"), withDraw("A", triangle)),
		reasons{"Q43": divides}},
	{"the same, A an operator", over("revsparse.OperatorEig", dims("k=1 n=r p=r"), withDraw("Theta", drawApart), adjust(func(k *revsparse.OperatorEig) { k.Op = diagonal{k.Theta.N} })),
		reasons{"float32": "operators work on float64", "Q43": divides}},
	{"R += measured points - points of a posed hand", over("revmodels/hand.Residuals", set("Surface", true), set("Model", mitten), drawBelow("Correspondences", "2")), nil},
	{"r += log loss of a recurrent network", over("revmodels/lstm.Loss", dims("M=4 B=r C=5")), nil},
	{"R += reprojection errors, cameras of 9 parameters", over("revmodels/ba.Snavely", dims("n=2 m=r p=r"), withDraw("Cameras", cameras), drawBelow("Camera", "n"), drawBelow("Point", "m")), nil},
	{"R += weighted ones, cameras of 11 parameters; Z += 1 - w²", over("revmodels/ba.Weighted", dims("n=2 m=r p=r"), withDraw("Cameras", cameras), drawBelow("Camera", "n"), drawBelow("Point", "m")), nil},
	{"r += log posterior of a Gaussian mixture", over("revmodels/gmm.LogPosterior", set("Prior", prior), mixture),
		reasons{"Q43": "by FixedLogPosterior"}},
	{"the same", over("revmodels/gmm.FixedLogPosterior", set("Prior", prior), mixture),
		reasons{"float64": "by LogPosterior", "float32": "by LogPosterior"}},
	{"Q += dt·V, positions of bodies", over("revmodels/nbody.Drift", set("Dt", 0.5)), nil},
	{"V += dt·attraction at Q", over("revmodels/nbody.Kick", set("Dt", 0.5), set("Softening", 1.0), positive("Mu")), nil},
	{"(Q, V) <- N steps of Drift and Kick", over("revmodels/nbody.Steps", set("N", 2), set("Options", steps), positive("Mu")), nil},
	{"r += energy of bodies", over("revmodels/nbody.Energy", set("Softening", 1.0), positive("Mu")), nil},
	{"(U, Prev) <- N steps of the wave equation, Trace += U at receivers", over("revmodels/wave.Steps", dims("c=r N=2 n=2 s=1 t=2"), withDraw("M", speeds), drawBelow("SourceAt", "r*c"), drawBelow("ReceiverAt", "r*c")), nil},
}

// OverLogs are the kernels whose operands are logs, that is numbers of package ulog,
// though their elements are floats or fixed-point numbers.
var OverLogs = []Kernel{
	{"r ⊕= Σ x_i", over("revlog.Sum", withDraw("Out", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r ⊕= Σ x_i·y_i", over("revlog.Dot", withDraw("Out", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B", over("revlog.MatMul", dims("k=c n=r+c"), withDraw("C", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"C ⊕= A·B, A sparse", over("revsparse.LogMul", dims("m=r k=r+1 n=2")),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"z_i ⊕= x_i·y_i", over("revlog.MulElem", withDraw("Z", aboveSums)),
		reasons{"ulog.Fixed": sumOfLogs, "ulog.Signed": signedLogs}},
	{"r *= Π x_i", over("revlog.Prod"),
		reasons{"ulog.Signed": signedLogs}},
	{"y_i *= Π_j x_j^a_ij", over("revlog.Powers"),
		reasons{"ulog.Signed": signedLogs}},
	{"R_ik *= responsibility of component k for point i", over("revmodels/gmm.LogResponsibilities", mixture),
		reasons{"ulog.Fixed": "log densities of points far away leave ±2²⁰", "ulog.Signed": "responsibilities are not negative"}},
}
