// Package machine measures what this machine can do at most, which is what the
// benchmarks are compared with.
package machine
