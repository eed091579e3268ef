package main

import (
	"errors"
	"fmt"
	"regexp"
)

// A block is the largest of some entries.
type block struct {
	entries string // a regular expression of their whole names
	threads int
	shared  int // bytes of shared memory that the launch adds to the entry's own
}

// blocks are those that do not have 256 threads. The tests of package cuda compare threads with
// those of their launches.
var blocks = []block{
	{entries: "(project|jacobian|cotangents|tangents|second)(OfCameras)?(Snavely|Weighted).*", threads: 128},
	{entries: "bundle(Linearise|Cameras|Product|Diagonal|SolvePoints|Step|ReduceLong)", threads: 128},
	{entries: "tensor(Score|Moments).*|mixture(Tangent)?(Score|Moments)(Ampere)?Q43", threads: 128},
	{entries: "graph(Means|Forces|Second).*", threads: 128},
	{entries: "(smallQR|reflectSmall)(16|32).*", threads: 32},
	{entries: "bundleReduceShort|(smallQR|reflectSmall)64.*|small(Gradient|Tangent).*|(solveTriangles|solveSystems|systemRatios|factorSmall|factorStack|pivotsStack).*", threads: 64},
	{entries: "rotateAlone.*|fillNormal.*", threads: 512},
	{entries: "rotateCotangent.*", threads: 384},
	{entries: "addTensorProduct.*|setGrams.*|rotateBlock.*", threads: 128},
	{entries: "normLongRows(Forward|Tangent|Adjoint).*|.*HeldLongRows.*", threads: 1024},
}

func blockOf(entry string) block {
	for _, b := range blocks {
		if matches(b.entries, entry) {
			return b
		}
	}
	return block{threads: 256}
}

func matches(entries, entry string) bool {
	return regexp.MustCompile("^(" + entries + ")$").MatchString(entry)
}

// An exception has entries that may do what others may not, and why.
type exception struct{ entries, why string }

// These have a stack frame or spill registers.
var spilling = []exception{
	{"secondOfCameras(Snavely|Weighted)Q43", "second derivatives of a product of 128 bits for each number"},
	{"setDualCameras.*", "second derivatives: the coefficients of a series, which are indexed; a camera is set once for all its observations"},
	{"fft(Pass|Factors|Reals|ToReals).*", "one or two numbers, so that three blocks are resident"},
	{"attend(Back|Tangent)(Hopper)?F64", "up to 9 words, on 12.0, which has few units for double: a warp has rows of 16 and what it adds up for them in registers"},
	{"graphForces3F64", "six words, on 12.0: a thread has a vertex, its forces and three sums in the registers that 20 warps have"},
	{"bundleReduce(Short|Long)", "up to 20 words of stack, and in the short one 40 with some 1200 bytes of spills on 7.5 and 8.0: a thread has 63 of the 81 sums of a block in registers"},
	{"reflectColumnsF32", "five words, once for 16 columns: a thread has 4 rows of them in registers"},
	{"softmaxHeldLongRowsQ43", "one number, on 12.0: a thread has 8 columns of two matrices in 64 registers"},
}

// These have less than leastPercent of the warps that may be resident.
var idle = []exception{
	{"add(Moments|Tensor|Wide).*|multiplyRows.*|setGrams.*|mixture(Tangent)?(Moments|Score).*|score.*|tensor(Score|Moments).*", "a thread makes a tile in registers, and has enough independent products"},
	{"bundle(Linearise|Cameras|Diagonal|Product|SolvePoints|Step|Reduce.*)", "a thread has the sums of a camera or of a block in registers, or what an observation sees"},
	{"weighRatedF64", "a thread has four numbers with tangents on their way"},
	{"graph(Forces|Means|Second).*", "a thread has the coordinates of a vertex in registers"},
	{"(jacobian|cotangents|tangents|second)(OfCameras)?(Snavely|Weighted).*", "a thread has the Jacobian of an observation in registers"},
	{"project(Snavely|Weighted)Q43", "a thread has sixteen pairs of numbers of the cameras of a warp on their way"},
	{"set((Dual)?Cameras|Moving).*", "a thread has the rotation of a camera in registers; there are few cameras"},
	{"(atan2|pow)All.*", "second derivatives of a function of two arguments"},
	{"tensorChains.*", "the chains of products for the benchmark"},
	{"rotate.*", "a block has 32 columns, so that there are few; its warps have their chains in registers"},
	{"smallQR.*|reflectSmall.*|solveStack.*", "a thread has a column of a matrix in registers, or a row in shared memory"},
	{"reduceColumn.*|pivotsStackF64", "a thread has all its loads in flight at once"},
	{"factorStack.*", "tiles in shared memory, and all loads of a thread in flight at once"},
	{"attend.*", "a warp has 16 queries or keys and what it adds up for them in registers"},
	{"norm(Long)?RowsAll.*", "a thread has the addresses of 14 operands and six sums of a row in registers"},
	{"small(Gradient|Tangent).*|factorSmall(Tangent|Adjoint|All).*", "tiles in shared memory"},
	{"solve(Triangles|Systems).*", "tiles in shared memory, and 16 numbers of a thread with their addresses"},
	{"(panel|reflect)Columns.*", "a thread has 4 rows of 16 columns in registers, so that 8 blocks of a cluster hold 8192 rows"},
	{"pivotColumnsF64", "a warp has 8 rows of a panel in registers, whose quotients are computed together"},
	{"convolve(Back|Filters)?Large.*|convolveFilters.*", "a thread makes a tile in registers, and finds its elements of X by the sizes of the convolution"},
}

const leastPercent = 37

// unexplained returns an error for each row that needs an exception and has none, and for each
// exception that no row needs.
func unexplained(rows []row) (err error) {
	check := func(exceptions []exception, needs func(r row) bool, what string) {
		used := map[string]bool{}
		for _, r := range rows {
			if !needs(r) {
				continue
			}
			found := false
			for _, e := range exceptions {
				if matches(e.entries, r.entry) {
					found, used[e.entries] = true, true
				}
			}
			if !found {
				err = errors.Join(err, fmt.Errorf("%s on sm_%d %s: %+v", r.entry, r.arch, what, r))
			}
		}
		for _, e := range exceptions {
			if !used[e.entries] {
				err = errors.Join(err, fmt.Errorf("exceptions.go: no entry of %s %s", e.entries, what))
			}
		}
	}
	check(spilling, func(r row) bool { return r.stack > 0 || r.spills > 0 }, "has a stack frame")
	check(idle, func(r row) bool { return r.percent < leastPercent }, "leaves much idle")
	return err
}
