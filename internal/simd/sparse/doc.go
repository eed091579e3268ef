// Package sparse holds vector loops over sparse matrices that are stored by rows.
//
// The rules of package vec on operands hold here too. Results on two tiers (see
// package cpu) differ by rounding, except those of SpGEMM and Product.
package sparse
