// Package ba is bundle adjustment. It improves cameras and points in space together,
// until the cameras see each point where the images have it.
//
// Use it in one of three ways:
//
//   - Solve improves a Problem by the method of Levenberg and Marquardt, with robust
//     losses. CameraCovariance then tells how accurately the cameras are known.
//   - Model is the cost as a function of the parameters, with its derivatives, for
//     other minimisers.
//   - Snavely and Weighted are the reversible kernels of the reprojection errors,
//     with their Jacobians, for programs of package rev.
//
// Read and ReadFile read problems in the form of Bundle Adjustment in the Large and
// of Bundler. Generate draws problems with a known solution. WriteFile and WriteBAL
// write them.
//
// # Cameras
//
// A Problem has the camera model of Bundler and of "Bundle Adjustment in the Large"
// (Agarwal, Snavely, Seitz and Szeliski, 2010). A camera has nine parameters: an
// angle-axis vector r, a translation t, a focal length f and two coefficients of
// radial distortion k1, k2. It sees a point X at
//
//	y = R·X + t,  p = -(y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p
//
// where R is the rotation about r by ‖r‖ radians. The camera looks along its
// negative third axis, so points in front of it have y₃ < 0. [Snavely] gives the
// derivatives.
//
// The camera of ADBench ([Weighted]) looks along its positive third axis. Its centre
// C is a parameter, so y = R·(X - C) and p = (y₁, y₂)/y₃. It adds a principal point
// (u0, v0) to π.
//
// # Rounding and range
//
// The kernels compute the rotation once for each camera, by power series for angles
// below 1 and without cancellation near 2π. Sums over observations are in their order.
//
// In floating point the error of a projection is some tens of ε, times its size and
// times f times the size of the terms of y over y₃. Results have the same bits on all
// tiers of vector code and for any number of workers. Inverse restores R up to the
// rounding of one sum and one difference. Rotations of 10¹⁵⁰ radians and more give NaN.
// A point at depth 0 gives infinities or NaN; nothing panics.
//
// In fixed point (Q43) Inverse and Adjoint restore R and Z bit for bit. Parameters, y,
// p, residuals, and derivatives with the products in them must stay below 2²⁰, and
// angles below 1024. Each product and quotient is rounded to 2⁻⁴³ ≈ 10⁻¹³. The error of
// a residual is therefore about f·10⁻¹³·(1 + ‖X‖/|y₃|). If a value leaves the range, or
// a point is at depth 0, methods return an error and change nothing. In floating point
// they return none. Workers is ignored. In fixed point a call keeps some 100 KB, and 208
// bytes a camera, in a pool: 64 observations are computed side by side.
//
// # Errors
//
// If shapes do not fit or operands overlap, methods of kernels panic as package rev
// says. If the camera or point of an observation does not exist, they panic with
// mat.ErrRowAccess, perhaps after other observations have been handled. Functions of
// problems return errors: for problems that Validate rejects, for options that make no
// sense, and for files, with the line and what was expected there.
package ba

//go:generate go run revnum/cmd/revgen -instances
