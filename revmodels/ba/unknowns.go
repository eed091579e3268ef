package ba

import "fmt"

// unknowns says which parameters of cameras are solved for, and which of them are one
// unknown. Unknowns come in nodes: the nine parameters of a camera or, if intrinsics
// are shared, the six of its pose and the three of a group. Fixed parameters are in no
// node.
type unknowns struct {
	size  []int    // of the nodes
	at    []int    // beginning of each node in a vector of unknowns, and its length at the end
	parts [][]part // of the cameras
	index []int    // the unknown of each camera parameter, -1 if it is fixed
}

// A part is a node in the parameters of a camera, from the given one on.
type part struct {
	node, from int
}

const poseLen = 6

// newUnknowns returns the unknowns for the options, or an error if the options do not
// suit the problem.
func newUnknowns(p *Problem, o *Options) (*unknowns, error) {
	n := p.NumCameras()
	fixed := make([]bool, n)
	for _, c := range o.FixedCameras {
		if c < 0 || c >= n {
			return nil, fmt.Errorf("ba: fixed camera %d, expected 0 to %d", c, n-1)
		}
		fixed[c] = true
	}
	x := &unknowns{parts: make([][]part, n)}
	add := func(c, from, size int) {
		x.parts[c] = append(x.parts[c], part{len(x.size), from})
		x.size = append(x.size, size)
	}
	switch {
	case o.Intrinsics == nil && !o.FixedIntrinsics:
		for c := range n {
			if !fixed[c] {
				add(c, 0, cameraLen)
			}
		}
	default:
		if o.Intrinsics != nil && len(o.Intrinsics) != n {
			return nil, fmt.Errorf("ba: groups of intrinsics for %d cameras, expected %d", len(o.Intrinsics), n)
		}
		for c := range n {
			if !fixed[c] {
				add(c, 0, poseLen)
			}
		}
		if o.FixedIntrinsics {
			break
		}
		first := make(map[int]int) // the first camera of a group
		held := make(map[int]bool)
		for c, g := range o.Intrinsics {
			if _, ok := first[g]; !ok {
				first[g] = c
			}
			if [3]float64(p.Cameras[cameraLen*c+poseLen:]) != [3]float64(p.Cameras[cameraLen*first[g]+poseLen:]) {
				return nil, fmt.Errorf("ba: cameras %d and %d share intrinsics, but start with different ones", first[g], c)
			}
			held[g] = held[g] || fixed[c]
		}
		for c, g := range o.Intrinsics {
			switch {
			case held[g]:
			case first[g] == c:
				add(c, poseLen, cameraLen-poseLen)
			default:
				parts := x.parts[first[g]]
				x.parts[c] = append(x.parts[c], parts[len(parts)-1])
			}
		}
	}
	x.at = make([]int, len(x.size)+1)
	for i, s := range x.size {
		x.at[i+1] = x.at[i] + s
	}
	x.index = make([]int, cameraLen*n)
	for i := range x.index {
		x.index[i] = -1
	}
	for c, parts := range x.parts {
		for _, p := range parts {
			for k := range x.size[p.node] {
				x.index[cameraLen*c+p.from+k] = x.at[p.node] + k
			}
		}
	}
	return x, nil
}

// len returns the number of unknowns.
func (x *unknowns) len() int { return x.at[len(x.size)] }

// expand stores the parameters of all cameras for a vector of unknowns. Fixed
// parameters get 0.
func (x *unknowns) expand(full, u []float64) {
	for i, k := range x.index {
		full[i] = 0
		if k >= 0 {
			full[i] = u[k]
		}
	}
}

// reduce stores the transpose of expand applied to full: it adds the values of each
// unknown.
func (x *unknowns) reduce(u, full []float64) {
	clear(u)
	for i, k := range x.index {
		if k >= 0 {
			u[k] += full[i]
		}
	}
}
