package revsparse

import (
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	windowWork  = 3 * blockWork / 2 // entries and rows of a block with a window
	mostWindows = 8
	windowReads = 4         // least number of entries for each element of the windows
	chunk       = 1 << 10   // columns of a part of a window
	joinColumns = 8 * chunk // columns of a block of stepAddWindows
)

// A window is where a block adds to elements that other blocks may add to as well. It
// holds the chunks of a column that entries met; elements of other chunks are
// undefined. Columns own0 to own1-1 belong to the block, which adds to them in place as
// long as a piece meets no others. If whole is set, the window holds all chunks. If
// pairs is set, each element follows the element of u that the same entries meet, so
// that both come from memory together.
type window[T any] struct {
	all          []T
	met          []bool // of each chunk
	own0, own1   int
	whole, pairs bool
}

// open makes w a window of n elements that no entries have met.
func (w *window[T]) open(n int) {
	*w = window[T]{all: workspace.Grow(w.all, n), met: workspace.Zeros(w.met, (n+chunk-1)/chunk)}
}

// span returns place, if the elements from lo to hi belong to the block, or the window.
func (w *window[T]) span(lo, hi int, place []T) []T {
	switch {
	case w.whole:
		return w.all
	case w.own0 <= lo && hi < w.own1:
		return place
	}
	for n := lo / chunk; n <= hi/chunk; n++ {
		if !w.met[n] {
			w.met[n] = true
			clear(w.all[n*chunk : min((n+1)*chunk, len(w.all))])
		}
	}
	return w.all
}

// joinWindows adds the windows, in order, to elements lo to hi-1 of w. lo is the first
// of a chunk.
func joinWindows[T rev.Number](windows []window[T], w []T, lo, hi int) {
	for b := range windows {
		win := &windows[b]
		if win.pairs {
			uw, w := win.all[2*lo:2*hi], w[lo:hi]
			for n := range w {
				w[n] += uw[2*n+1]
			}
			continue
		}
		for n := lo; n < hi; n += chunk {
			if to := min(n+chunk, hi); win.whole || win.met[n/chunk] {
				vector.Axpy(number.One[T](), rev.ViewSlice(win.all[n:to]), rev.ViewSlice(w[n:to]))
			}
		}
	}
}
