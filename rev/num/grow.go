package num

// More returns x with n more elements: where there is room those that its memory has, and otherwise
// zeros in new memory, whose capacity is that of Go's append.
func More[E any](x []E, n int) []E {
	if m := len(x) + n; m <= cap(x) {
		return x[:m]
	}
	return append(x, make([]E, n)...)
}

// Grow is More for slices of one length: a slice, its cotangents and its tangents. If one of them has
// no room, all get new memory, so that they share it with the same other slices.
func Grow[E any](n int, xs ...*[]E) {
	room := true
	for _, x := range xs {
		room = room && len(*x)+n <= cap(*x)
	}
	for _, x := range xs {
		if !room && n > 0 && len(*x)+n <= cap(*x) {
			*x = (*x)[:len(*x):len(*x)]
		}
		*x = More(*x, n)
	}
}

// Fold returns old, the cotangents of a slice before Grow, after adding to them those in now,
// which is what Grow has made of old.
func Fold[E float32 | float64](old, now []E) []E {
	if len(old) == 0 || &old[0] == &now[0] {
		return old
	}
	for i := range old {
		old[i] += now[i]
	}
	return old
}

// FoldBy is Fold for slices of structs or arrays, which add adds.
func FoldBy[E any](old, now []E, add func(old, now *E)) []E {
	if len(old) == 0 || &old[0] == &now[0] {
		return old
	}
	for i := range old {
		add(&old[i], &now[i])
	}
	return old
}
