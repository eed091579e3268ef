// Package ba is bundle adjustment: cameras and points in space are improved
// together until the points, seen by the cameras, fall where the images have
// them.
//
// A Problem holds the cameras, the points and the observations, in the camera
// model of the problems of "Bundle Adjustment in the Large" (Agarwal, Snavely,
// Seitz and Szeliski, 2010), which is Bundler's: a camera has nine parameters,
// an angle-axis vector ω, a translation t, a focal length f and two coefficients
// of radial distortion k₁, k₂. A point X falls at
//
//	P = R(ω)·X + t,  p = -(P₁, P₂)/P₃,  f·(1 + k₁‖p‖² + k₂‖p‖⁴)·p
//
// so that a camera looks along its negative third axis, and points in front of
// it have P₃ < 0.
//
// Solve improves a problem by the method of Levenberg and Marquardt, with robust
// losses, shared or fixed parameters and bounds. CameraCovariance tells how well
// the cameras are known then. For solvers of one's own, Model has the cost and
// its gradient, and the kernel Snavely, which Problem.Kernel returns, products
// with the Jacobian and the Jacobian itself.
//
// Problems come from files (Read and ReadFile: those of BAL and of Bundler) or
// are drawn with a solution that is known (Generate), and go to files (WriteFile,
// WriteBAL, and WritePLY for viewers). Reading checks what Validate checks.
//
// # Sources of the solver
//
// B. Triggs, P. McLauchlan, R. Hartley and A. Fitzgibbon, Bundle Adjustment — A
// Modern Synthesis, in Vision Algorithms: Theory and Practice (1999), sections 4
// to 6. S. Agarwal, N. Snavely, S. Seitz and R. Szeliski, Bundle Adjustment in the
// Large, ECCV 2010. S. Agarwal, K. Mierle and others, Ceres Solver, its
// documentation of non-linear least squares: the rules of the trust region, the
// losses and the bounds of the damping. C. Kanzow, N. Yamashita and M. Fukushima,
// Levenberg-Marquardt methods with strong local convergence properties for
// solving nonlinear equations with convex constraints, J. Comput. Appl. Math. 172
// (2004): projected steps.
package ba
