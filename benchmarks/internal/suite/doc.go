// Package suite is the default benchmark: problems drawn from fixed seeds,
// measured and checked, and the tables and figures of the results.
package suite
