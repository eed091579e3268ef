package paths

import "revnum/fixed"

// generic is Best in plain Go.
func generic[T fixed.Number](best, label, a []T, lda int, b []T, rows, k int, least bool) {
	w := Width[T]()
	for i := range rows {
		best := best[i*w:][:w]
		for l, v := range a[i*lda:][:k] {
			row := b[l*w:][:w]
			switch {
			case label != nil:
				label := label[i*w:][:w]
				for j, x := range row {
					if sum := v + x; sum > best[j] && !least || sum < best[j] && least {
						best[j], label[j] = sum, T(l)
					}
				}
			case least:
				for j, x := range row {
					if sum := v + x; sum < best[j] {
						best[j] = sum
					}
				}
			default:
				for j, x := range row {
					if sum := v + x; sum > best[j] {
						best[j] = sum
					}
				}
			}
		}
	}
}
