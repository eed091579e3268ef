package revsparse

import (
	"math"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
)

// solve replaces x by A⁻¹·x, or by A⁻ᵀ·x.
func (f *luFactors) solve(x []float64, trans bool) {
	f.y, f.below = workspace.Grow(f.y, f.n), workspace.Grow(f.below, f.n)
	y := f.y
	if trans {
		for k, j := range f.order {
			y[k] = math.Ldexp(x[j], f.colExp[j])
		}
		f.solveTransposed(y)
		for k, i := range f.pivot {
			x[i] = math.Ldexp(y[k], f.rowExp[i])
		}
		return
	}
	for k, i := range f.pivot {
		y[k] = math.Ldexp(x[i], f.rowExp[i])
	}
	f.solvePlain(y)
	for k, j := range f.order {
		x[j] = math.Ldexp(y[k], f.colExp[j])
	}
}

// solvePlain replaces y by U⁻¹·L⁻¹·y.
func (f *luFactors) solvePlain(y []float64) {
	for s := range f.supers {
		sn := &f.supers[s]
		height := sn.width + sn.below
		own, below := y[sn.first:][:sn.width], f.below[:sn.below]
		rows := f.lrows[sn.rows:][:sn.below]
		if sn.width == 1 {
			if v := own[0]; v != 0 {
				for i, l := range f.ldata[sn.data+1:][:sn.below] {
					y[rows[i]] -= float64(l * v)
				}
			}
			continue
		}
		clear(below)
		for k, v := range own {
			column := f.ldata[sn.data+k*height:][:height]
			if v == 0 {
				continue
			}
			for i := k + 1; i < sn.width; i++ {
				own[i] -= float64(column[i] * v)
			}
			vec.Axpy(v, column[sn.width:], below)
		}
		for i, r := range rows {
			y[r] -= below[i]
		}
	}
	for q := len(f.panels) - 1; q >= 0; q-- {
		p := &f.panels[q]
		own := y[p.first:][:p.width]
		dense.TriSolve(p.width, 1, f.udata[p.diagonal:], p.width, 1, true, false, own, 1)
		for _, b := range f.blocks[p.blocks:f.lastBlock(q)] {
			x, cols := own[b.from:b.to], int(b.to-b.from)
			sn := &f.supers[b.super]
			u := f.udata[b.data:]
			to := y[sn.first+int(b.row) : sn.first+sn.width]
			for k := range to {
				row := u[k*cols:][:cols]
				s := 0.0
				for c, v := range row {
					s += float64(v * x[c])
				}
				to[k] -= s
			}
		}
	}
}

// lastBlock returns where the blocks of panel q end.
func (f *luFactors) lastBlock(q int) int {
	if q+1 < len(f.panels) {
		return f.panels[q+1].blocks
	}
	return len(f.blocks)
}

// solveTransposed replaces y by L⁻ᵀ·U⁻ᵀ·y.
func (f *luFactors) solveTransposed(y []float64) {
	for q := range f.panels {
		p := &f.panels[q]
		own := y[p.first:][:p.width]
		for _, b := range f.blocks[p.blocks:f.lastBlock(q)] {
			x, cols := own[b.from:b.to], int(b.to-b.from)
			sn := &f.supers[b.super]
			u := f.udata[b.data:]
			for k, v := range y[sn.first+int(b.row) : sn.first+sn.width] {
				if v == 0 {
					continue
				}
				for c, e := range u[k*cols:][:cols] {
					x[c] -= float64(e * v)
				}
			}
		}
		dense.TriSolve(p.width, 1, f.udata[p.diagonal:], 1, p.width, false, false, own, 1)
	}
	for s := len(f.supers) - 1; s >= 0; s-- {
		sn := &f.supers[s]
		height := sn.width + sn.below
		own, below := y[sn.first:][:sn.width], f.below[:sn.below]
		for i, r := range f.lrows[sn.rows:][:sn.below] {
			below[i] = y[r]
		}
		for k := sn.width - 1; k >= 0; k-- {
			column := f.ldata[sn.data+k*height:][:height]
			v := own[k] - vec.Dot(column[sn.width:], below)
			for i := k + 1; i < sn.width; i++ {
				v -= float64(column[i] * own[i])
			}
			own[k] = v
		}
	}
}

// condition returns an estimate of the condition number of the matrix that was factored,
// in the 1-norm, by N. Higham's algorithm (FORTRAN codes for estimating the one-norm of a
// real or complex matrix, ACM Trans. Math. Softw. 14, 1988).
func (f *luFactors) condition() float64 {
	n := f.n
	if n == 0 {
		return 0
	}
	norm := 0.0
	for k := range n {
		norm = max(norm, norm1(f.values[f.colPtr[k]:f.colPtr[k+1]]))
	}
	f.y, f.below = workspace.Grow(f.y, n), workspace.Grow(f.below, n)
	f.signs = workspace.Zeros(f.signs, n)
	x := f.y
	for k := range x {
		x[k] = 1 / float64(n)
	}
	inverse, last := 0.0, -1
	for range 5 {
		f.solvePlain(x)
		now := norm1(x)
		if !(now > inverse) && last >= 0 {
			break
		}
		inverse = now
		changed := false
		for k, v := range x {
			s := math.Copysign(1, v)
			changed = changed || s != f.signs[k]
			f.signs[k] = s
		}
		if !changed {
			break
		}
		copy(x, f.signs)
		f.solveTransposed(x)
		top := 0
		for k, v := range x {
			if math.Abs(v) > math.Abs(x[top]) {
				top = k
			}
		}
		if top == last {
			break
		}
		last = top
		clear(x)
		x[top] = 1
	}
	// Cancellation may have hidden much from these vectors. This one makes up for that.
	for k := range x {
		x[k] = 1 + float64(k)/float64(max(1, n-1))
		if k%2 == 1 {
			x[k] = -x[k]
		}
	}
	f.solvePlain(x)
	return norm * max(inverse, 2*norm1(x)/float64(3*n))
}

// norm1 returns the sum of the magnitudes.
func norm1(x []float64) (s float64) {
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}

// solveColumns is solve for several vectors, one after the other.
func (f *luFactors) solveColumns(x []float64, trans bool) {
	for ; len(x) > 0; x = x[f.n:] {
		f.solve(x[:f.n], trans)
	}
}
