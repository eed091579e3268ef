package cuda

import "unsafe"

// In a pass of Unitary over float64 on tensor cores, the rotations of 64 chains at 64 rows each are a block, which acts
// on 128 rows. A front has blocks of different rows. kernels/unitary_sm80.cu says more.
const (
	blockChains = 64
	blockRows   = 2 * blockChains
	blockMatrix = blockRows * blockRows
	blockCols   = 16 // that threads have at a time
)

// leastSum is how many columns have a sum of their own at least, and processors how many blocks of threads are
// resident at once: the multiprocessors of an H200.
var leastSum, processors = 128, 132

// mostMatrices is how many matrices of blocks are in scratch memory at a time, if a front has no more: 256 MiB.
var mostMatrices = 2048

// inBlocks reports whether the pass multiplies by matrices of blocks.
func (r *rotations[T]) inBlocks() bool {
	_, is64 := any(*new(T)).(float64)
	return is64 && r.count < 4 && r.k.X.Rows > blockRows && r.dev != nil && r.dev.Properties().Capability >= 80
}

// fronts returns the first front and the last.
func (r *rotations[T]) fronts() (first, last int) {
	last = (r.k.X.Rows - 2) / blockChains
	if r.k.Rectangular {
		return 0, last + 1
	}
	return -last, last
}

// front returns the first block of chains of a front, and how many blocks it has.
func (r *rotations[T]) front(t int) (p, count int) {
	last := (r.k.X.Rows - 2) / blockChains
	p = max(0, t)
	if r.k.Rectangular {
		p = t / 2
	}
	return p, min(last, (last+t)/2) + 1 - p
}

// blockTurns is what a pass in blocks has.
type blockTurns struct {
	parts, partCols int // of the columns, which have sums of their own
	matrices        int // of a block, besides Q
	q, y            uint64
}

// A slice has the blocks of some fronts. Their matrices are there together.
type slice struct{ first, last, blocks int }

// runInBlocks makes the pass.
func (r *rotations[T]) runInBlocks() {
	b := &blockTurns{}
	first, last := r.fronts()
	widest := 0
	for t := first; t <= last; t++ {
		_, n := r.front(t)
		widest = max(widest, n)
	}
	switch cols := r.k.X.Cols; {
	case r.sums:
		b.parts = max(1, min(enoughBlocks/widest, cols/leastSum))
		b.partCols = across(across(cols, b.parts), 8) * 8
		b.parts = across(cols, b.partCols)
		b.matrices = b.parts
	case r.tangents:
		b.matrices = 1
	}
	var slices []slice
	most := 0
	for t := first; t <= last; t++ {
		_, n := r.front(t)
		if end := len(slices) - 1; end >= 0 && (slices[end].blocks+n)*(1+b.matrices) <= mostMatrices {
			slices[end].last, n = t, n+slices[end].blocks
			slices[end].blocks = n
		} else {
			slices = append(slices, slice{t, t, n})
		}
		most = max(most, n)
	}
	b.q = uint64(r.room(1, most*(1+b.matrices)*matrixBytes))
	b.y = b.q + uint64(most*matrixBytes)
	for i := range slices {
		if r.p.Back {
			i = len(slices) - 1 - i
		}
		r.runSlice(b, slices[i])
	}
}

const matrixBytes = blockMatrix * int(unsafe.Sizeof(float64(0)))

// runSlice does the rotations of a slice.
func (r *rotations[T]) runSlice(b *blockTurns, s slice) {
	if r.tangents {
		r.rotateBlocks("rotateBlockTangents", b, s, 0)
	} else {
		r.rotateBlocks("rotateBlocks", b, s, 0)
	}
	for i, before := 0, 0; i <= s.last-s.first; i++ {
		t := s.first + i
		if r.p.Back {
			t = s.last - i
		}
		p, n := r.front(t)
		at := before
		if r.p.Back {
			at = s.blocks - before - n
		}
		before += n
		row := (2*p - t) * blockChains
		if r.sums && r.p.Back {
			r.setGrams(b, at, n, row)
		}
		q := b.q + uint64(at*matrixBytes)
		if x := r.operands[1]; r.count == 2 {
			r.multiplyRows(x, x, false, n, row, q)
			if r.tangents {
				r.multiplyRows(x, r.k.X, true, n, row, b.y+uint64(at*matrixBytes))
			}
		}
		r.multiplyRows(r.k.X, r.k.X, false, n, row, q)
		if r.sums && !r.p.Back {
			r.setGrams(b, at, n, row)
		}
	}
	if r.sums {
		r.rotateBlocks("rotateBlockCotangents", b, s, b.parts)
	}
}

// tensor returns the name of a kernel of kernels/unitary_sm80.cu, or of its copy for Hopper.
func (r *rotations[T]) tensor(name string) string {
	if r.dev != nil && r.dev.Properties().Capability >= 90 {
		name += "Hopper"
	}
	return typed[T](name)
}

// rotateBlocks does the rotations of each block alone. The second matrices of blocks begin as sums of parts.
func (r *rotations[T]) rotateBlocks(name string, b *blockTurns, s slice, parts int) {
	theta, inc := r.k.Theta.params()
	dtheta, dinc := r.p.T.Theta.params()
	gtheta, ginc := r.p.G.Theta.params()
	r.launch(typed[T](name), grid{[3]int{s.blocks, 1, 1}, [3]int{blockRows, 1, 1}},
		b.q, blockMatrix, b.y, uint64(b.matrices*blockMatrix), uint64(parts), theta, inc, dtheta, dinc, gtheta, ginc,
		uint64(r.k.X.Rows), bit(r.k.Rectangular), uint64(s.first), uint64(-r.p.Sign()))
}

// multiplyRows sets y = Q·x, or y = Qᵀ·x in a pass back, or adds that to y, for n blocks from a row on.
func (r *rotations[T]) multiplyRows(y, x General[T], add bool, n, row int, q uint64) {
	each := columnsOf(n, x.Cols)
	down, along := uint64(blockRows), uint64(1)
	if r.p.Back {
		down, along = along, down
	}
	r.launch(r.tensor("multiplyRows"), grid{[3]int{across(x.Cols, each), n, 1}, [3]int{maxThreads, 1, 1}},
		uint64(y.Data.address()), uint64(y.Stride), uint64(x.Data.address()), uint64(x.Stride), bit(add), uint64(x.Cols), uint64(each),
		uint64(x.Rows), uint64(row), q, blockMatrix, down, along)
}

// columnsOf returns how many of the columns a block of threads has, if so many blocks have them all. It is what ends first by a count of
// turns, in which a matrix takes as long to load as 48 columns take on an H200.
func columnsOf(n, cols int) (each int) {
	const loading = 3
	all := across(cols, blockCols)
	for parts, least := 1, 0; parts <= min(all, processors); parts++ {
		tiles := across(all, parts)
		if time := across(n*parts, processors) * (loading + tiles); least == 0 || time < least {
			least, each = time, tiles*blockCols
		}
	}
	return each
}

// setGrams sets the sums over parts of the columns, for n blocks from a row on, of which `at` are before in the slice.
func (r *rotations[T]) setGrams(b *blockTurns, at, n, row int) {
	x, g := r.k.X, r.p.G.X
	r.launch(r.tensor("setGrams"), grid{[3]int{2, 1, n * b.parts}, [3]int{blockRows, 1, 1}},
		b.y+uint64(at*b.parts*matrixBytes), uint64(g.Data.address()), uint64(g.Stride), uint64(x.Data.address()), uint64(x.Stride),
		uint64(x.Cols), uint64(b.partCols), uint64(b.parts), uint64(x.Rows), uint64(row))
}
