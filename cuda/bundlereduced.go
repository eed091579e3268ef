package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// bundleReduced is the reduced camera system of a BundlePoints, in blocks as ba.Points has them.
// A block (a, b) is computed from the pairs of an observation of a and another one of b that are of the
// same point.
type bundleReduced struct {
	ends   Memory[int32] // a and b of each block
	ptr    Memory[int64] // the first pair of each block, and their number at the end
	seen   Memory[int32] // the points of pairs
	pairs  Memory[int32] // two observations each, if there is a loss
	short  Memory[int32] // blocks that a thread adds up, or -1
	long   Memory[int32] // other blocks
	blocks Memory[float64]
}

// newReduced returns the system with its pairs, which it finds on the host.
func (b *BundlePoints) newReduced() (r bundleReduced, err error) {
	camera, point := make([]int32, b.observations), make([]int32, b.observations)
	start, ofCamera, list := make([]int32, b.points+1), make([]int32, b.cameras+1), make([]int32, b.observations)
	err = errors.Join(b.camera.Get(camera), b.point.Get(point), b.byPoint.ptr.Get(start), b.byCamera.ptr.Get(ofCamera), b.byCamera.ind.Get(list))
	if err != nil {
		return r, err
	}
	var ends, seen, pairs, short, long []int32
	ptr := []int64{0}
	next := make([]int64, b.cameras) // of each camera: how many pairs, and then where the next is
	for a := range int32(b.cameras) {
		// The observations of a point are in the order of their cameras.
		each := func(f func(i, k, c int32)) {
			for _, i := range list[ofCamera[a]:ofCamera[a+1]] {
				for k := start[point[i]]; k < start[point[i]+1] && camera[k] <= a; k++ {
					if k != i {
						f(i, k, camera[k])
					}
				}
			}
		}
		clear(next[:a+1])
		each(func(_, _, c int32) { next[c]++ })
		first, end := len(ends)/2, ptr[len(ptr)-1]
		for c := range a + 1 {
			if count := next[c]; count > 0 || c == a {
				next[c], end = end, end+count
				ptr, ends = append(ptr, end), append(ends, a, c)
			}
		}
		short, long = divide(short, long, ptr, first)
		seen = append(seen, make([]int32, end-int64(len(seen)))...)
		if b.loss != 0 {
			pairs = append(pairs, make([]int32, 2*end-int64(len(pairs)))...)
		}
		each(func(i, k, c int32) {
			seen[next[c]] = point[i]
			if b.loss != 0 {
				pairs[2*next[c]], pairs[2*next[c]+1] = i, k
			}
			next[c]++
		})
	}
	for _, m := range []struct {
		to   *Memory[int32]
		data []int32
	}{{&r.ends, ends}, {&r.seen, seen}, {&r.pairs, pairs}, {&r.short, short}, {&r.long, long}} {
		if err == nil {
			*m.to, err = newMemory(b.dev, m.data)
		}
	}
	if err == nil {
		r.ptr, err = newMemory(b.dev, ptr)
	}
	if err == nil {
		b.dev.mu.Lock()
		r.blocks, err = allocate[float64](b.dev, blockLen*len(ends)/2)
		b.dev.mu.Unlock()
	}
	if err != nil {
		return bundleReduced{}, errors.Join(err, r.free())
	}
	return r, nil
}

// divide appends the blocks from first on, which are those of a camera, to short or to long. Short ones are in the order of their numbers of pairs,
// so that the threads of a warp end together. A warp has those of one camera, with -1 where it has no more.
func divide(short, long []int32, ptr []int64, first int) (_, _ []int32) {
	count := func(block int32) int64 { return ptr[block+1] - ptr[block] }
	begin := len(short)
	for block := int32(first); int(block) < len(ptr)-1; block++ {
		if count(block) <= shortList {
			short = append(short, block)
		} else {
			long = append(long, block)
		}
	}
	slices.SortStableFunc(short[begin:], func(x, y int32) int { return cmp.Compare(count(x), count(y)) })
	for len(short)%warp > 0 {
		short = append(short, -1)
	}
	return short, long
}

func (r *bundleReduced) free() error {
	return errors.Join(freeIn(&r.ends), freeIn(&r.ptr), freeIn(&r.seen), freeIn(&r.pairs), freeIn(&r.short), freeIn(&r.long), freeIn(&r.blocks))
}

const (
	shortList    = 32 // pairs of a block that a thread adds up
	shortThreads = 64 // as in kernels/bundle.cu
)

// reduce computes the system.
func (b *BundlePoints) reduce(w *pass) {
	r := b.reduced
	params := []uint64{
		at(r.blocks), at(b.system[cameraLen*b.cameras:]), at(b.seen), at(b.held), at(b.at), at(b.slopes), at(r.ends), at(r.seen), at(r.pairs), at(r.ptr),
	}
	launch := func(kernel string, list Memory[int32], blocks, threads int) {
		if len(list) > 0 {
			g := grid{blocks: [3]int{min(blocks, bounds.rows), 1, 1}, threads: [3]int{threads, 1, 1}}
			w.launch(kernel, g, append(slices.Clone(params), at(list), uint64(len(list)))...)
		}
	}
	launch("bundleReduceShort", r.short, (len(r.short)+shortThreads-1)/shortThreads, shortThreads)
	launch("bundleReduceLong", r.long, len(r.long), blockThreads)
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
