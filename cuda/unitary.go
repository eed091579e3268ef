package cuda

import (
	"unsafe"

	"revnum/internal/simd/dense"
	"revnum/rev"
)

// Unitary is the kernel X <- U(θ)·X of revlinalg.Unitary, a product of plane rotations of
// neighbouring rows, with the same two orders of rotations.
//
// A block of threads has 32 columns. Rows stream through its threads, which apply up to
// 128 chains of rotations to them on the way, and read and write X once for all of these.
// The sines and cosines of the chains are computed once, in scratch memory. Adjoint needs
// scratch memory for a number per rotation of these chains and per 32 columns. The sums
// over the columns are those of a tree in a block, and blocks are added in their order.
//
// Over Q43 the rotations are made of shears. They and the cotangents of the angles have the
// bits of the CPU. Over floats a rotation is within 3ε·‖(a, b)‖ of the exact one, and X
// comes back with the error that revlinalg.Unitary states. AdjointTangent needs no copies,
// and gives the gradients of Adjoint bit for bit.
type Unitary[T rev.Real] struct {
	X           General[T] `rev:"inout" shape:"n,c"`
	Theta       Vector[T]  `rev:"in" shape:"n*(n-1)/2"`
	Rectangular bool       // the order of Clements et al.
}

// Forward computes X <- U(θ)·X.
func (k Unitary[T]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes X <- U(θ)ᵀ·X.
func (k Unitary[T]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes X <- U(θ)ᵀ·X, x̄ <- U(θ)ᵀ·x̄, and adds to θ̄.
func (k Unitary[T]) Adjoint(g Unitary[T]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes X <- U(θ)·X and ẋ <- U(θ)·ẋ + Σ_k θ̇_k·(∂U/∂θ_k)·X.
func (k Unitary[T]) Tangent(t Unitary[T]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, undoes Tangent, and computes in gt the
// tangents of the cotangents.
func (k Unitary[T]) AdjointTangent(g, t, gt Unitary[T]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Unitary[T]) Run(p rev.Pass[Unitary[T]]) error {
	n, cols := k.X.Rows, k.X.Cols
	if n < 2 || cols == 0 {
		return nil
	}
	d, err := deviceOf(k.X.Data.address())
	if err != nil {
		return err
	}
	u := rotations[T]{d: d, k: &k, p: &p, blocks: (cols + warp - 1) / warp}
	panels := (n - 2) / u.panel()
	for i := range panels + 1 {
		if p.Back {
			i = panels - i
		}
		first := i * u.panel()
		if err := u.run(first, min(u.panel(), n-1-first)); err != nil {
			return err
		}
	}
	return nil
}

// rotations are a pass of Unitary at work.
type rotations[T rev.Real] struct {
	d      *Device
	k      *Unitary[T]
	p      *rev.Pass[Unitary[T]]
	blocks int // of columns
}

// unitaryWarps is the most warps of a block, as in kernels/unitary.cu.
const unitaryWarps = 8

// operands returns the operands that rotate, with places for the missing ones, and what
// they are called in the names of kernels.
func (u *rotations[T]) operands() (name string, of [4]General[T], count int) {
	g, t, gt := u.p.G.X, u.p.T.X, u.p.GT.X
	switch {
	case gt.Data != nil || g.Data != nil && t.Data != nil:
		return "All", [4]General[T]{u.k.X, g, t, gt}, 4
	case g.Data != nil:
		return "Cotangent", [4]General[T]{u.k.X, g}, 2
	case t.Data != nil:
		return "Tangent", [4]General[T]{u.k.X, t}, 2
	}
	return "Alone", [4]General[T]{u.k.X}, 1
}

// chains returns the number of chains of a warp.
func (u *rotations[T]) chains() int {
	_, _, count := u.operands()
	if isFixed[T]() {
		return 4 / count
	}
	return 16 / count
}

// panel returns the number of chains that a launch does.
func (u *rotations[T]) panel() int { return unitaryWarps * u.chains() }

// run does the rotations of a panel.
func (u *rotations[T]) run(first, chains int) error {
	k, g, t, gt := u.k, &u.p.G, &u.p.T, &u.p.GT
	n := k.X.Rows
	name, of, _ := u.operands()
	numbers := int(unsafe.Sizeof(*new(T)))
	turn, cross := 2*numbers, numbers // bytes of a Turn and a Cross of unitary.cu
	if isFixed[T]() {
		turn, cross = 24, 32
	}
	size := chains * n
	at, err := u.d.room(0, size*(turn+numbers))
	if err != nil {
		return err
	}
	turns, dturns := uint64(at), uint64(0)
	if t.Theta.Data != nil && (name == "Tangent" || name == "All") {
		dturns = turns + uint64(size*turn)
	}
	theta, inc := k.Theta.params()
	dtheta, dinc := t.Theta.params()
	rectangular := uint64(0)
	if k.Rectangular {
		rectangular = 1
	}
	mesh := []uint64{uint64(n), rectangular, uint64(first), uint64(chains)}
	if err := u.d.launch(typed[T]("setTurns"), vectorGrid(size), append([]uint64{turns, dturns, theta, inc, dtheta, dinc}, mesh...)...); err != nil {
		return err
	}

	var sums, second uint64
	wants := g.X.Data != nil && g.Theta.Data != nil
	wantsSecond := name == "All" && gt.Theta.Data != nil
	if wants || wantsSecond {
		parts := 1
		if wantsSecond {
			second, parts = 1, 3
		}
		at, err := u.d.room(1, parts*u.blocks*size*cross)
		if err != nil {
			return err
		}
		sums = uint64(at)
	}
	direction := "Ahead"
	if u.p.Back {
		direction = "Back"
	}
	params := make([]uint64, 0, 16)
	for _, m := range of {
		params = append(params, uint64(m.Data.address()), uint64(m.Stride))
	}
	params = append(append(append(params, uint64(k.X.Cols)), mesh...), turns, dturns, sums, second)
	warps := (chains + u.chains() - 1) / u.chains()
	shape := grid{blocks: [3]int{u.blocks, 1, 1}, threads: [3]int{warp * warps, 1, 1}}
	if err := u.d.launch(typed[T]("rotate"+name+direction), shape, params...); err != nil {
		return err
	}

	add := func(to Vector[T], cross1, cross2 uint64) error {
		data, inc := to.params()
		params := append([]uint64{data, inc, cross1, cross2, uint64(u.blocks), uint64(u.group())}, mesh...)
		return u.d.launch(typed[T]("addCrosses"), vectorGrid(size), append(params, uint64(-u.p.Sign()))...)
	}
	each := uint64(u.blocks * size * cross)
	if wants {
		err = add(g.Theta, sums, 0)
	}
	if err == nil && wantsSecond {
		err = add(gt.Theta, sums+each, sums+2*each)
	}
	return err
}

// group returns how many blocks of columns have a sum that is rounded once. Over Q43 they
// are a part of the columns in revlinalg.Unitary, which depends only on the shape.
func (u *rotations[T]) group() int {
	if !isFixed[T]() {
		return u.blocks
	}
	const panelRotations, parts, partWork = 1 << 13, 16, 1 << 15 // as in revlinalg
	n, cols := u.k.X.Rows, u.k.X.Cols
	chains := max(dense.RotateChains, panelRotations/n/dense.RotateChains*dense.RotateChains)
	part := max((cols+parts-1)/parts, partWork/(min(chains, n)*n))
	return (part + warp - 1) / warp
}
