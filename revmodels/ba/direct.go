package ba

import (
	"revnum/revmodels/ba/internal/blockchol"
)

// direct solves the reduced camera system by a Cholesky factorisation.
type direct struct {
	x       *unknowns
	reduced *reduced
	factor  *blockchol.Cholesky
	scratch [cameraLen * cameraLen]float64
}

// newDirect returns the solver, or nil if the system or its factor would have
// more than limit elements.
func newDirect(s *normal, x *unknowns, limit int) *direct {
	d := &direct{x: x, reduced: newReduced(s, limit/(cameraLen*cameraLen))}
	if d.reduced == nil {
		return nil
	}
	coupled := make([][]int32, len(x.size))
	for a, parts := range x.parts {
		for _, b := range d.reduced.with[d.reduced.start[a]:d.reduced.start[a+1]] {
			for _, pa := range parts {
				for _, pb := range x.parts[b] {
					coupled[pa.node] = append(coupled[pa.node], int32(pb.node))
				}
			}
		}
	}
	d.factor = blockchol.Analyze(x.size, coupled, limit)
	if d.factor == nil {
		return nil
	}
	return d
}

// flops returns about how many operations a solution takes.
func (d *direct) flops(s *normal) float64 {
	flops := d.factor.Flops()
	for q := range len(s.start) - 1 {
		k := float64(s.start[q+1] - s.start[q])
		flops += k * (k + 1) * 3 * cameraLen * cameraLen
	}
	return flops
}

func (d *direct) solve(s *normal, damping, step []float64, _ func() bool) (iterations int, ok bool) {
	d.reduced.form(s)
	d.assemble(damping)
	if err := d.factor.Factor(s.workers); err != nil {
		return 0, false
	}
	d.x.reduce(step, d.reduced.right)
	d.factor.Solve(step)
	return 0, true
}

func (d *direct) forms() bool { return true }

// assemble adds the blocks of the reduced system and the damping to the matrix to
// be factored.
func (d *direct) assemble(damping []float64) {
	d.factor.Clear()
	for a := range d.x.parts {
		for k := d.reduced.start[a]; k < d.reduced.start[a+1]; k++ {
			d.add(a, int(d.reduced.with[k]), d.reduced.data[cameraLen*cameraLen*k:][:cameraLen*cameraLen])
		}
	}
	for node, size := range d.x.size {
		diagonal := d.scratch[:size*size]
		clear(diagonal)
		for k := range size {
			diagonal[k*size+k] = damping[d.x.at[node]+k]
		}
		d.factor.Add(node, node, diagonal, size)
	}
}

// add adds block (a, b), b <= a.
func (d *direct) add(a, b int, m []float64) {
	for _, pa := range d.x.parts[a] {
		for _, pb := range d.x.parts[b] {
			if a == b && pb.from > pa.from {
				continue // above the diagonal
			}
			d.factor.Add(pa.node, pb.node, m[cameraLen*pa.from+pb.from:], cameraLen)
			if a == b || pa.node != pb.node {
				continue
			}
			// Shared by two cameras: block (b, a) is on the diagonal too.
			size := d.x.size[pa.node]
			for i := range size {
				for j := range size {
					d.scratch[i*size+j] = m[cameraLen*(pa.from+j)+pb.from+i]
				}
			}
			d.factor.Add(pa.node, pb.node, d.scratch[:], size)
		}
	}
}
