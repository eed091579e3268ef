// Package ordering orders the columns of sparse matrices so that their factors are sparse.
//
// # Sources
//
// P. Amestoy, T. Davis and I. Duff, An approximate minimum degree ordering algorithm, SIAM
// J. Matrix Anal. Appl. 17 (1996). T. Davis, J. Gilbert, S. Larimore and E. Ng, A column
// approximate minimum degree ordering algorithm, ACM Trans. Math. Softw. 30 (2004). J. Liu,
// The role of elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11
// (1990).
package ordering
