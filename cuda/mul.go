package cuda

import (
	"unsafe"

	"revnum/rev"
)

// Mul is the kernel C += α·op(A)·B of revsparse.Mul over floats, where A is sparse and
// op(A) is A or, if Trans is set, its transpose. A nil Alpha stands for 1.
//
// A warp of threads computes a row of the product. With one column its threads share the
// entries of the row, and their sums are added up in the order of a tree. With more, each
// thread has columns of its own. The structure of the transpose, which gradients of B and
// products with Aᵀ need, is computed on the host when it is first wanted, and kept until
// A is freed.
type Mul[T rev.Float] struct {
	C     General[T] `rev:"acc" shape:"Trans ? k,n : m,n"`
	Alpha *T         `rev:"in,optional"`
	A     CSR[T]     `rev:"in" shape:"m,k"`
	B     General[T] `rev:"in" shape:"Trans ? m,n : k,n"`
	Trans bool
}

// Forward computes C += α·op(A)·B.
func (k Mul[T]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse computes C -= α·op(A)·B.
func (k Mul[T]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint computes C -= α·op(A)·B and the cotangents of A, B and α.
func (k Mul[T]) Adjoint(g Mul[T]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes C += α·op(A)·B and the tangent of C.
func (k Mul[T]) Tangent(t Mul[T]) error { return k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of C, and adds the
// tangents of the cotangents of A, B and α.
func (k Mul[T]) AdjointTangent(g, t, gt Mul[T]) error {
	return k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns the errors of the device. It panics if A has
// values or row pointers of another number than its structure.
func (k Mul[T]) Run(p rev.Pass[Mul[T]]) error {
	if len(k.A.Data) != len(k.A.Ind) || len(k.A.Ptr) != k.A.Rows+1 {
		panic(rev.ShapeError[Mul[T]]("A", "has %d values, %d columns and %d row pointers for %d rows", len(k.A.Data), len(k.A.Ind), len(k.A.Ptr), k.A.Rows))
	}
	g, t, gt, sign := &p.G, &p.T, &p.GT, p.Sign()
	err := first(
		k.product(k.C, sign, k.Alpha, k.A.Data, k.B),
		k.product(t.C, sign, k.Alpha, t.A.Data, k.B),
		k.product(t.C, sign, k.Alpha, k.A.Data, t.B),
		k.gradient(k.Alpha, k.A.Data, k.B, g.C, g.B, g.A.Data, g.Alpha),
		k.gradient(k.Alpha, k.A.Data, k.B, gt.C, gt.B, gt.A.Data, gt.Alpha),
		k.gradient(k.Alpha, t.A.Data, k.B, g.C, gt.B, nil, gt.Alpha),
		k.gradient(k.Alpha, k.A.Data, t.B, g.C, General[T]{}, gt.A.Data, gt.Alpha),
	)
	if err == nil && t.Alpha != nil {
		err = first(
			k.product(t.C, sign, t.Alpha, k.A.Data, k.B),
			k.gradient(t.Alpha, k.A.Data, k.B, g.C, gt.B, gt.A.Data, nil),
		)
	}
	return err
}

// product computes c += sign·α·op(A)·b for the values a of A, unless one of them is nil.
func (k *Mul[T]) product(c General[T], sign int, alpha *T, a Memory[T], b General[T]) error {
	return k.add(c, sign, alpha, a, b, k.Trans)
}

// add computes c += sign·α·A·b, or with the transpose of A.
func (k *Mul[T]) add(c General[T], sign int, alpha *T, a Memory[T], b General[T], trans bool) error {
	if c.Data == nil || a == nil || b.Data == nil || len(k.A.Ind) == 0 || c.Cols == 0 {
		return nil
	}
	d, err := deviceOf(c.Data.address())
	if err != nil {
		return err
	}
	s, err := structureOf(d, k.A, trans)
	if err != nil {
		return err
	}
	return d.launch(typed[T]("addSparse"), rowGrid(s.rows),
		uint64(c.Data.address()), uint64(c.Stride), uint64(b.Data.address()), uint64(b.Stride), uint64(c.Cols), uint64(s.rows),
		uint64(s.ptr.address()), uint64(s.ind.address()), uint64(s.perm.address()), uint64(a.address()), pointer(alpha), uint64(sign))
}

// gradient adds to gb, ga and galpha the cotangents of the factors of α·op(A)·b, whose
// cotangent is gc. It leaves out what is nil.
func (k *Mul[T]) gradient(alpha *T, a Memory[T], b, gc, gb General[T], ga Memory[T], galpha *T) error {
	if gc.Data == nil || len(k.A.Ind) == 0 || gc.Cols == 0 {
		return nil
	}
	if err := k.add(gb, 1, alpha, a, gc, !k.Trans); err != nil {
		return err
	}
	if b.Data == nil {
		return nil
	}
	u, v := gc, b
	if k.Trans {
		u, v = b, gc
	}
	if ga != nil {
		if err := k.sample(ga, alpha, u, v); err != nil {
			return err
		}
	}
	if galpha == nil || a == nil {
		return nil
	}
	// ᾱ is the product of the values with their gradients for α = 1.
	d, err := deviceOf(gc.Data.address())
	if err != nil {
		return err
	}
	at, err := d.room(1, len(a)*int(unsafe.Sizeof(*new(T))))
	if err != nil {
		return err
	}
	s := Memory[T](unsafe.Slice(*(**T)(unsafe.Pointer(&at)), len(a)))
	return first(
		d.launch(typed[T]("clear"), vectorGrid(len(s)), uint64(at), uint64(len(s))),
		k.sample(s, nil, u, v),
		addDot(galpha, 1, Vector[T]{len(a), a, 1}, Vector[T]{len(s), s, 1}),
	)
}

// sample adds to the entries of ga those of α·u·vᵀ.
func (k *Mul[T]) sample(ga Memory[T], alpha *T, u, v General[T]) error {
	d, err := deviceOf(u.Data.address())
	if err != nil {
		return err
	}
	return d.launch(typed[T]("addSampled"), rowGrid(k.A.Rows),
		uint64(ga.address()), uint64(u.Data.address()), uint64(u.Stride), uint64(v.Data.address()), uint64(v.Stride), uint64(u.Cols), uint64(k.A.Rows),
		uint64(k.A.Ptr.address()), uint64(k.A.Ind.address()), pointer(alpha))
}

// rowGrid returns the grid that gives a warp to each row.
func rowGrid(rows int) grid {
	threads := max(warp, min(rows*warp, maxThreads))
	return grid{blocks: [3]int{max(1, min((rows*warp+threads-1)/threads, 1<<16)), 1, 1}, threads: [3]int{threads, 1, 1}}
}
