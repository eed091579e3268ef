// Package generated has functions of GradBench's evals det, ode and ht as
// you would write them in plain Go. Their kernels, in the files whose names end in _rev.go,
// are written by cmd/revgen.
package generated

//go:generate go run revnum/cmd/revgen
