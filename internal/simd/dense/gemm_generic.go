package dense

import "revnum/internal/simd/cpu"

// The pure-Go versions of the matrix products: the tier that is always there,
// and the oracle of the others.

func genericGemm[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	for i := range m {
		for j := range n {
			var s T
			for l := range k {
				s += T(a[i*rsa+l*csa] * b[l*rsb+j*csb])
			}
			c[i*ldc+j] += T(alpha * s)
		}
	}
}

func genericTriNorms[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	for p := range n {
		var s T
		for i := range d {
			var y T
			for j := range i + 1 {
				y += T(l[i*ldl+j] * (c[j*ldc+p] - mu[j]))
			}
			s += T(y * y)
		}
		q[p] = s
	}
}

func genericMoments[T cpu.Float](d, n int, s []T, m []T, ldm int, w []T, c []T, ldc int) {
	for i := range d {
		for j := range i + 1 {
			var dot T
			for p := range n {
				dot += T(T(w[p]*c[i*ldc+p]) * c[j*ldc+p])
			}
			m[i*ldm+j] += dot
		}
		if s == nil {
			continue
		}
		var sum T
		for p := range n {
			sum += T(w[p] * c[i*ldc+p])
		}
		s[i] += sum
	}
}

func genericTranspose[T cpu.Float](dst []T, ldd int, x []T, ldx, m, n int) {
	for i := range m {
		for j := range n {
			dst[j*ldd+i] = x[i*ldx+j]
		}
	}
}
