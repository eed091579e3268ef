// Package ba is bundle adjustment: cameras and points in space are improved
// together until the points, seen by the cameras, fall where the images have
// them.
//
// It serves three needs, each by itself:
//
//   - Solve improves a Problem by the method of Levenberg and Marquardt, with
//     robust losses, and CameraCovariance tells how well cameras are known then.
//   - Model is the cost as a function of the parameters, with its derivatives, for
//     other minimisers.
//   - Snavely and Weighted are the reversible kernels of the reprojection errors,
//     with their Jacobians, for programs of package rev.
//
// Problems come from files (Read and ReadFile: those of Bundle Adjustment in the
// Large and of Bundler) or are drawn with a solution that is known (Generate), and
// go to files (WriteFile, WriteBAL, and WritePLY for viewers).
//
// # The cameras
//
// A Problem has the camera model of "Bundle Adjustment in the Large" (Agarwal,
// Snavely, Seitz and Szeliski, 2010), which is Bundler's: a camera has nine
// parameters, an angle-axis vector r, a translation t, a focal length f and two
// coefficients of radial distortion k1, k2. A point X falls at
//
//	y = R·X + t,  p = -(y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p
//
// where R is the rotation about r by ‖r‖ radians: the camera looks along its
// negative third axis, and points in front of it have y₃ < 0. That of ADBench
// (Weighted) looks along its positive third axis, has its centre C for a
// parameter, so that y = R·(X - C) and p = (y₁, y₂)/y₃, and adds a principal
// point (u0, v0) to π.
//
// # Their derivatives
//
// With q = y - t (or q = y), d = 1 + k1·s + k2·s², and the matrix K of the
// derivative of a rotation, ∂(R·X)/∂r·δ = (K·δ) × (R·X), the Jacobian J of π is
// the product of
//
//	∂π/∂p = f·(d·I + 2·(k1 + 2·k2·s)·p·pᵀ)
//	∂p/∂y = -(I, p)/y₃,    (I, -p)/y₃ for ADBench's
//	∂y/∂r = -[q]ₓ·K,  ∂y/∂t = I,  ∂y/∂C = -R,  ∂y/∂X = R
//
// and beside it ∂π/∂f = d·p, ∂π/∂k1 = f·s·p, ∂π/∂k2 = f·s²·p and ∂π/∂(u0, v0) = I.
// All is analytic in r, also at 0; at depth y₃ = 0 nothing is defined.
//
// # Rounding and range
//
// The rotation and K are computed once a camera, by power series for angles below 1
// and without cancellation near 2π. Sums over observations are in their order.
//
// In floating point a projection is within some tens of ε of its size and of f times
// the size of the terms of y over y₃. Results are the same bits on all tiers of vector
// code and for any number of workers; Inverse restores R up to the rounding of one sum
// and one difference. Rotations of 10¹⁵⁰
// radians and more give NaN, and a point at depth 0 gives infinities or NaN, as the
// arithmetic has it; nothing panics.
//
// In fixed point (Q43) Inverse and Adjoint restore R and Z bit for bit, whatever the
// operands. The values mean something while parameters, y, p, residuals, and
// derivatives and the products that they are made of stay below 2²⁰, and angles
// below 1024; each product and quotient is rounded to 2⁻⁴³ ≈ 10⁻¹³, and so what is
// left of a residual is good to some f·10⁻¹³·(1 + ‖X‖/|y₃|). At depth 0 quotients count
// as 0. CheckRange returns an error where values mean nothing: call it before passes over
// operands that may be that large. Workers is not used.
//
// # Misuse and trouble
//
// Methods of kernels panic where shapes do not fit or operands overlap, as
// package rev says, and with mat.ErrRowAccess at an observation whose camera or
// point is not there, when some of the others may have been done. Functions of
// problems return errors: for what Validate finds, for options that make no sense,
// and for files, with the line and what was expected there.
package ba
