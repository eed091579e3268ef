// Package bundle has the reports and figures of bundle adjustment: the reprojection
// errors, the convergence, and the cameras and points before and after. WritePLY writes a
// problem for viewers.
package bundle
