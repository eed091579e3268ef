package rev

// Legacy numbers the methods that kernels had.
func (p *Pass[K]) Legacy() int {
	n := 0
	switch {
	case p.Adjoint && p.Tangent:
		n = 4
	case p.Adjoint:
		n = 2
	case p.Tangent:
		n = 3
	case p.Back:
		return 1
	default:
		return 0
	}
	if p.Back != p.Adjoint {
		n += 3
	}
	return n
}

// Check checks a kernel, as methods did.
func Check[K any](k *K) { layoutFor[K]().mustCheck(addr(k), nil, nil, nil) }

// CheckLike checks derivatives, as methods did.
func CheckLike[K any](k *K, g ...*K) {
	l := layoutFor[K]()
	switch len(g) {
	case 1:
		l.mustCheck(addr(k), addr(g[0]), nil, nil)
	case 3:
		l.mustCheck(addr(k), addr(g[0]), addr(g[1]), addr(g[2]))
	}
}

// Negate changes the signs of what kernels add into.
func Negate[K any](ks ...*K) {
	l := layoutFor[K]()
	for _, k := range ks {
		l.negate(addr(k))
	}
}
