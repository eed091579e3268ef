// Package fixed provides fixed-point numbers whose += and -= undo each other
// to the bit.
package fixed

// Q43 is a fixed-point number of 20 integer bits (the sign among them) and 43
// fraction bits, held in an int64: the number x is the integer x·2⁴³.
type Q43 int64
