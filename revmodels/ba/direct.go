package ba

import (
	"revnum/revmodels/ba/internal/block9"
	"revnum/revmodels/ba/internal/blockchol"
)

// directSolver solves the reduced camera system by a Cholesky factorisation.
type directSolver struct {
	unknowns *unknowns
	reduced  *reducedSystem
	factor   *blockchol.Cholesky
}

// newDirect returns the solver, or nil if the system or its factor would have more than
// limit elements.
func newDirect(s *normalEquations, x *unknowns, limit int) *directSolver {
	d := &directSolver{unknowns: x, reduced: newReduced(s, limit/block9.Len)}
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

// flops returns the approximate number of operations of a solution.
func (d *directSolver) flops(s *normalEquations) float64 {
	flops := d.factor.Flops()
	for q := range len(s.start) - 1 {
		k := float64(s.start[q+1] - s.start[q])
		flops += float64(k * (k + 1) * 3 * cameraLen * cameraLen)
	}
	return flops
}

func (d *directSolver) solve(s *solver) (iterations int, ok bool) {
	d.assemble(s.damping)
	if err := d.factor.Factor(s.normal.workers); err != nil {
		return 0, false
	}
	d.unknowns.reduce(s.move, d.reduced.right)
	d.factor.Solve(s.move)
	return 0, true
}

func (d *directSolver) system() *reducedSystem { return d.reduced }

func (d *directSolver) describe(r *Report) {
	r.Method, r.FactorElements = Cholesky, d.factor.Elements()
}

// assemble adds the blocks of the reduced system and the damping to the matrix to be
// factored.
func (d *directSolver) assemble(damping []float64) {
	d.factor.Clear()
	d.reduced.addTo(d.factor, d.unknowns)
	var block [cameraLen * cameraLen]float64
	for node, size := range d.unknowns.size {
		diagonal := block[:size*size]
		clear(diagonal)
		for k := range size {
			diagonal[k*size+k] = damping[d.unknowns.at[node]+k]
		}
		d.factor.Add(node, node, diagonal, size)
	}
}

// blockMatrix is a symmetric matrix in blocks of nodes. A block off the diagonal also
// stands for its transpose. The upper triangle of a block on the diagonal is ignored.
type blockMatrix interface {
	Add(i, j int, block []float64, ld int)
}

// addTo adds the system of the unknowns to m.
func (x *reducedSystem) addTo(m blockMatrix, u *unknowns) {
	var full, transposed [cameraLen * cameraLen]float64
	for a, parts := range u.parts {
		for k := x.start[a]; k < x.start[a+1]; k++ {
			b := int(x.with[k])
			unpack(&full, x.data[block9.Len*k:])
			for _, pa := range parts {
				for _, pb := range u.parts[b] {
					if a == b && pb.from > pa.from {
						continue // above the diagonal
					}
					block := full[cameraLen*pa.from+pb.from:]
					m.Add(pa.node, pb.node, block, cameraLen)
					if a != b && pa.node == pb.node {
						// Two cameras share it, so (b, a) is on the diagonal too.
						n := u.size[pa.node]
						for i := range n {
							for j := range n {
								transposed[i*n+j] = block[cameraLen*j+i]
							}
						}
						m.Add(pa.node, pb.node, transposed[:], n)
					}
				}
			}
		}
	}
}
