// Package bundle has the reports and figures of bundle adjustment: the
// reprojection errors, how they became smaller, and the cameras and points before
// and after.
package bundle
