package cuda

import (
	"revnum/rev"
)

// Uniform sets the elements of x to the uniform numbers of philox.Uniform, with the same bits, in stream
// s, or in the first stream if s is nil, and returns before. It panics with a *rev.OperandError if x has less memory
// than elements.
func Uniform[T rev.Real](s *Stream, x Vector[T], seed, first uint64) error {
	return fillRandom(s, "fillUniform", mapGrid((x.N+1)/2+1), x, seed, first)
}

// Normal does the same with the normal numbers of philox.Normal.
func Normal[T rev.Real](s *Stream, x Vector[T], seed, first uint64) error {
	// Each block copies a table of 40 KiB first.
	g := grid{[3]int{1, 1, 1}, [3]int{2 * bounds.threads, 1, 1}}
	g.blocks[0] = max(1, min(across((x.N+1)/2+1, g.threads[0]), bounds.blocks))
	return fillRandom(s, "fillNormal", g, x, seed, first)
}

func fillRandom[T rev.Real](s *Stream, kernel string, on grid, x Vector[T], seed, first uint64) error {
	if x.N > 0 && (x.Inc < 1 || (x.N-1)*x.Inc >= len(x.Data)) {
		panic(rev.ShapeError[Vector[T]]("x", "has %d elements of memory for length %d and increment %d", len(x.Data), x.N, x.Inc))
	}
	return x.Data.moveIn(s, len(x.Data), func(s *Stream) error {
		w := pass{dev: s.device, stream: s}
		data, inc := x.params()
		w.launch(typed[T](kernel), on, data, inc, uint64(x.N), seed, first)
		return w.err
	})
}
