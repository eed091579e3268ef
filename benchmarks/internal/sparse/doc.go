// Package sparse is the benchmark of sparse products. It measures how close they come
// to the bandwidth of the memory and the multiply-add peak, and how much more time
// their adjoints take. It takes matrices of several kinds, and the sizes of NiLang's
// benchmark (arXiv 2003.04617, section 4).
package sparse
