//go:build !amd64 || noasm

package pairs

func allPairsFast(int) bool { return false }

func (a *AllPairs[T]) moments(_ int, origin [2]T) (sums, squares [2]T) {
	return a.genericMoments(origin)
}

func (a *AllPairs[T]) addForces(_ int, add, mul [2]T, dst, own []T) {
	a.genericAddForces(add, mul, dst, own)
}
