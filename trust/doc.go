// Package trust minimises smooth functions by Newton's method in a trust region. A
// trust region is the ball around the current point in which a quadratic model of
// the function is trusted. gonum's optimize does not have this method.
//
// The function comes as an optimize.Problem with Func, Grad and Hess. Instead of
// Hess you can give products of the Hessian with a vector, which reversible kernels
// have:
//
//	p := trust.Problem{Func: m.Func, Grad: m.Grad, HessVec: m.HessVec}
//	r, err := trust.Minimize(ctx, p, x, nil)
//
// Each iteration replaces the function f by its quadratic model
//
//	q(s) = f + gᵀs + ½·sᵀHs,  ‖s‖ <= Δ
//
// The step is the minimiser s of the model. It is taken if f decreases by a fair
// share of the decrease that q promises. The better the promise was kept, the larger
// the next radius Δ. The Hessian therefore need not be positive definite, the
// iteration goes down from saddle points, and f never increases.
//
// With Hess, the step is the exact minimiser of the model. It comes from the
// eigendecomposition of H, which is computed once for all radii tried at a point.
// This takes O(n³) and suits up to some hundred variables. With HessVec alone, the
// step comes from the truncated conjugate gradients of Steihaug and Toint. A step
// then takes some products and a few vectors of memory.
//
// # Sources
//
// J. Nocedal and S. Wright, Numerical Optimization, 2nd edition, algorithms 4.1
// (radius) and 7.2 (Steihaug), section 4.3 (exact step and hard case). J. Moré and
// D. Sorensen, Computing a trust region step, SIAM J. Sci. Stat. Comput. 4 (1983).
// T. Steihaug, The conjugate gradient method and trust regions in large scale
// optimization, SIAM J. Numer. Anal. 20 (1983).
package trust
