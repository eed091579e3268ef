// Package machine measures the peak rates of this machine. The benchmarks are compared
// with them.
package machine
