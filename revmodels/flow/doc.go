// Package flow learns densities by normalising flows: bijections from points to standard
// normal numbers, whose determinant is known.
//
// A flow of couplings splits the coordinates into two halves, A and B. Each coupling
// changes one half by a function of the other, in turn:
//
//	NICE     A <- A + t(B)
//	RealNVP  A <- A·exp s(B) + t(B)
//
// s and t are neural networks with two hidden layers. NICE ends with a scaling of each
// coordinate. The density of a point x is that of z = f(x), times the determinant of the
// flow:
//
//	log p(x) = Σ_j (-z_j²/2 - log(2π)/2) + log |det ∂z/∂x|
//
// LogDensity computes it without approximation, Sample runs the flow backward from normal
// numbers, and Fit minimises the mean of -log p over points.
//
// # Memory
//
// A coupling is a rev.Routine: it computes its networks, changes its half, and uncomputes
// the networks. All couplings share the memory for these. In the inverse, the coordinates
// are restored by the couplings themselves. The gradient of a flow therefore takes the
// memory of one coupling and of the parameters, whatever the depth.
//
// # What is exact
//
// Over fixed.Q43 the points come back to the bit. The sums of NICE are exact by
// themselves. A product with e^s loses bits where s is negative. It is taken with the
// fraction n/2¹⁶ nearest to e^s, and an integer for each coordinate keeps what is lost,
// by the method of Maclaurin, Duvenaud and Adams (2015). The determinant is that of the
// fractions. The last 16 bits of a coordinate become noise: they are worth 10⁻⁸. Over
// floats the points come back up to rounding.
//
// # Sources
//
// L. Dinh, D. Krueger and Y. Bengio, NICE: Non-linear independent components estimation,
// 2014. L. Dinh, J. Sohl-Dickstein and S. Bengio, Density estimation using Real NVP, 2016.
package flow
