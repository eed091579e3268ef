// Package matrixmarket reads and writes sparse matrices in the Matrix Market
// exchange format (Boisvert, Pozo and Remington, NISTIR 5935, 1996): coordinate
// files of real, integer, complex or pattern matrices that are general, symmetric,
// skew-symmetric or Hermitian.
//
// A file of a symmetric matrix holds the entries on and below the diagonal. So does
// Matrix.Stored after Read. Kernels of one triangle take it as it is. Matrix.Full adds
// the mirror images.
//
// Entries of the same place are summed, in the order of the file. The numbers may
// be infinite or NaN. A file is refused if it declares more rows than 2²⁰ and than
// 64 for each entry, since the rows take memory; otherwise memory is taken as
// entries are read, whatever the header says.
package matrixmarket
