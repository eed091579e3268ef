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
// # Misuse and trouble
//
// Methods of kernels panic where shapes do not fit or operands overlap, as
// package rev says; an observation at depth zero has a residual that is infinite
// or NaN. Functions of problems return errors: for what
// Validate finds, for options that make no sense, and for files, with the line and
// what was expected there.
package ba
