package paths

import "revnum/fixed"

// genericBest is Best in plain Go.
func genericBest[T fixed.Number](best, label, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	w := Width[T]()
	for i := range rows {
		best, label := best[i*w:][:w], label[i*w:][:w]
		for l, v := range a[i*lda:][:k] {
			for j, x := range b[l*ldb:][:w] {
				if sum := v + x; sum > best[j] && !least || sum < best[j] && least {
					best[j], label[j] = sum, T(l)
				}
			}
		}
	}
}

// genericAddBest is AddBest in plain Go.
func genericAddBest[T fixed.Number](c []T, ldc int, sign T, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	w := Width[T]()
	none := Worst[T](least)
	var memory [128 / 4]T
	best := memory[:w]
	for i := range rows {
		for j := range best {
			best[j] = none
		}
		for l, v := range a[i*lda:][:k] {
			row := b[l*ldb:][:w]
			if least {
				for j, x := range row {
					if sum := v + x; sum < best[j] {
						best[j] = sum
					}
				}
			} else {
				for j, x := range row {
					if sum := v + x; sum > best[j] {
						best[j] = sum
					}
				}
			}
		}
		for j, v := range best {
			c[i*ldc+j] += T(sign * v)
		}
	}
}
