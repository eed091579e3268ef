// Package generated has functions of GradBench's evals as you would write them in plain Go. Their
// derivatives, in the files whose names end in _grad.go and _rev.go, are written by cmd/revgen.
package generated

//go:generate go run revnum/cmd/revgen
