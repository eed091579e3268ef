package cuda

import (
	"revnum/rev"
)

// Uniform sets the elements of x to the uniform numbers of philox.Uniform, with the same bits, in stream
// s, or in the first stream if s is nil, and returns before. It panics with a *rev.OperandError if x has less memory
// than elements.
func Uniform[T rev.Real](s *Stream, x Vector[T], seed, first uint64) error {
	return fillRandom(s, "fillUniform", x, seed, first)
}

// Normal does the same with the normal numbers of philox.Normal.
func Normal[T rev.Real](s *Stream, x Vector[T], seed, first uint64) error {
	return fillRandom(s, "fillNormal", x, seed, first)
}

func fillRandom[T rev.Real](s *Stream, kernel string, x Vector[T], seed, first uint64) error {
	if x.N > 0 && (x.Inc < 1 || (x.N-1)*x.Inc >= len(x.Data)) {
		panic(rev.ShapeError[Vector[T]]("x", "has %d elements of memory for length %d and increment %d", len(x.Data), x.N, x.Inc))
	}
	return x.Data.moveIn(s, len(x.Data), func(s *Stream) error {
		w := pass{dev: s.device, stream: s}
		data, inc := x.params()
		w.launch(typed[T](kernel), mapGrid((x.N+1)/2+1), data, inc, uint64(x.N), seed, first)
		return w.err
	})
}
