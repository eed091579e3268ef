package cuda

import (
	"errors"
	"fmt"
	"math"
)

// bundleReduced is the reduced camera system of a BundlePoints, in blocks as ba.Points has them.
// A block (a, b) is computed from the pairs of an observation of a and one of b that are of the
// same point.
type bundleReduced struct {
	camera Memory[int32] // a for block (a, a), and -1 for other blocks
	ptr    Memory[int64] // the first pair of each block, and their number at the end
	pairs  Memory[int32] // two observations each
	blocks Memory[float64]
}

// longestList is how many pairs a block may have: its kernel counts them in an int, in steps of 32.
var longestList int64 = math.MaxInt32 - 32

// newReduced returns the system with its pairs, which it finds on the host.
func (b *BundlePoints) newReduced() (r bundleReduced, err error) {
	camera, point := make([]int32, b.observations), make([]int32, b.observations)
	start, ofCamera, list := make([]int32, b.points+1), make([]int32, b.cameras+1), make([]int32, b.observations)
	err = errors.Join(b.camera.Get(camera), b.point.Get(point), b.byPoint.ptr.Get(start), b.byCamera.ptr.Get(ofCamera), b.byCamera.ind.Get(list))
	if err != nil {
		return r, err
	}
	diagonal, ptr, pairs := []int32{}, []int64{0}, []int32{}
	next := make([]int64, b.cameras) // of each camera: how many pairs, and then where the next is
	for a := range int32(b.cameras) {
		// The observations of a point are in the order of their cameras.
		each := func(f func(i, k, c int32)) {
			for _, i := range list[ofCamera[a]:ofCamera[a+1]] {
				for k := start[point[i]]; k < start[point[i]+1] && camera[k] <= a; k++ {
					f(i, k, camera[k])
				}
			}
		}
		clear(next[:a+1])
		each(func(_, _, c int32) { next[c]++ })
		end := ptr[len(ptr)-1]
		for c := range a + 1 {
			if next[c] > longestList {
				return r, fmt.Errorf("cuda: cameras %d and %d have %d pairs of observations of one point, expected at most %d", c, a, next[c], longestList)
			}
			if count := next[c]; count > 0 || c == a {
				next[c], end = end, end+count
				ptr, diagonal = append(ptr, end), append(diagonal, -1)
			}
		}
		diagonal[len(diagonal)-1] = a
		pairs = append(pairs, make([]int32, 2*end-int64(len(pairs)))...)
		each(func(i, k, c int32) {
			pairs[2*next[c]], pairs[2*next[c]+1] = i, k
			next[c]++
		})
	}
	if r.camera, err = newMemory(b.dev, diagonal); err == nil {
		r.ptr, err = newMemory(b.dev, ptr)
	}
	if err == nil {
		r.pairs, err = newMemory(b.dev, pairs)
	}
	if err == nil {
		b.dev.mu.Lock()
		r.blocks, err = allocate[float64](b.dev, blockLen*len(diagonal))
		b.dev.mu.Unlock()
	}
	if err != nil {
		return bundleReduced{}, errors.Join(err, r.free())
	}
	return r, nil
}

func (r *bundleReduced) free() error {
	return errors.Join(freeIn(&r.camera), freeIn(&r.ptr), freeIn(&r.pairs), freeIn(&r.blocks))
}

// shortList is how many pairs of a block a warp adds up.
const shortList = 64

// reduce computes the system. Long lists of pairs get more warps.
func (b *BundlePoints) reduce(w *pass) {
	r := b.reduced
	n := len(r.camera)
	for _, l := range []struct {
		kernel        string
		threads, from int
	}{{"bundleReduceShort", warp, shortList}, {"bundleReduceLong", blockThreads, shortList + 1}} {
		g := grid{blocks: [3]int{max(1, min(n, 1<<16)), 1, 1}, threads: [3]int{l.threads, 1, 1}}
		w.launch(l.kernel, g, at(r.blocks), at(b.linear), at(b.j), at(b.l), at(b.point), at(r.camera), at(r.ptr), at(r.pairs), uint64(n), uint64(l.from))
	}
}

// Reduced implements ba.Points.
func (b *BundlePoints) Reduced(blocks []float64) error {
	err := b.open()
	if err == nil && b.reduced.blocks == nil {
		b.reduced, err = b.newReduced()
	}
	if err == nil && len(blocks) != len(b.reduced.blocks) {
		err = fmt.Errorf("cuda: %d numbers for the reduced camera system, expected %d", len(blocks), len(b.reduced.blocks))
	}
	if err == nil {
		err = b.run(b.reduce)
	}
	if err != nil {
		return err
	}
	return b.reduced.blocks.Get(blocks)
}
