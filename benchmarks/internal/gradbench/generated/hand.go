package generated

import "math"

// A Hand is a model of a hand, with points that were measured on its skin. A transform is the rows of a 3×4
// matrix. A vertex is a sum over bones: of its place, in the axes of the bone, with the bone's share of it as
// the last number.
type Hand struct {
	Relative    [][]float64 // the transform of each bone to the axes of its parent
	Parents     []int       // of a bone without a parent the bone itself
	Start, Bone []int       // vertex v is a sum of places Start[v] to Start[v+1]-1, of these bones
	Places      [][]float64 // times the bone's share
	Mirrored    bool
	Points      [][]float64
	Corners     [][3]int // the vertices of the triangle of each point, or its vertex
}

// Residuals stores the points minus their vertices. theta are the parameters of package hand.
//
//revgen:jacobian theta
func (h *Hand) Residuals(dst, theta []float64) {
	vertices := make([]float64, 3*(len(h.Start)-1))
	h.skin(vertices, theta)
	for i, c := range h.Corners {
		x, p := vertices[3*c[0]:3*c[0]+3], h.Points[i]
		for d := range 3 {
			dst[3*i+d] = p[d] - x[d]
		}
	}
}

// SurfaceResiduals stores the points minus their places on triangles. x has two coordinates in its triangle for
// each point, and then theta.
//
//revgen:jacobian x sparse
func (h *Hand) SurfaceResiduals(dst, x []float64) {
	vertices := make([]float64, 3*(len(h.Start)-1))
	h.skin(vertices, x[2*len(h.Points):])
	for i, corners := range h.Corners {
		a, b, c := vertices[3*corners[0]:3*corners[0]+3], vertices[3*corners[1]:3*corners[1]+3], vertices[3*corners[2]:3*corners[2]+3]
		u, v, p := x[2*i], x[2*i+1], h.Points[i]
		w := 1 - u - v
		for d := range 3 {
			dst[3*i+d] = p[d] - (u*a[d] + v*b[d] + w*c[d])
		}
	}
}

// skin stores the vertices of the hand in a pose.
func (h *Hand) skin(vertices, theta []float64) {
	bones := make([]float64, 12*len(h.Parents))
	h.pose(bones, theta)
	for v := range len(h.Start) - 1 {
		x, y, z := theta[3], theta[4], theta[5]
		for e := h.Start[v]; e < h.Start[v+1]; e++ {
			t, p := bones[12*h.Bone[e]:12*h.Bone[e]+12], h.Places[e]
			x += t[0]*p[0] + t[1]*p[1] + t[2]*p[2] + t[3]*p[3]
			y += t[4]*p[0] + t[5]*p[1] + t[6]*p[2] + t[7]*p[3]
			z += t[8]*p[0] + t[9]*p[1] + t[10]*p[2] + t[11]*p[3]
		}
		vertices[3*v], vertices[3*v+1], vertices[3*v+2] = x, y, z
	}
}

// pose stores the transforms of the bones, without the translation of the hand.
func (h *Hand) pose(bones, theta []float64) {
	global, local := make([]float64, 12), make([]float64, 12)
	rotation(global, theta)
	if h.Mirrored {
		global[0], global[4], global[8] = -global[0], -global[4], -global[8]
	}
	for b, p := range h.Parents {
		flex, side := 0.0, 0.0
		if 0 < b && b < 21 {
			first := 6 + (b-1)/4*4
			switch (b - 1) % 4 {
			case 1:
				flex, side = theta[first], theta[first+1]
			case 2:
				flex = theta[first+2]
			case 3:
				flex = theta[first+3]
			}
		}
		sf, cf := math.Sincos(flex)
		ss, cs := math.Sincos(side)
		r := h.Relative[b]
		for i := range 3 { // times R_z·R_x
			u := r[4*i+1]*cs - r[4*i]*ss
			local[4*i] = r[4*i]*cs + r[4*i+1]*ss
			local[4*i+1] = u*cf + r[4*i+2]*sf
			local[4*i+2] = r[4*i+2]*cf - u*sf
			local[4*i+3] = r[4*i+3]
		}
		if p == b {
			after(bones[12*b:12*b+12], global, local)
		} else {
			after(bones[12*b:12*b+12], bones[12*p:12*p+12], local)
		}
	}
}

// after stores the transform that is x after y.
func after(to, x, y []float64) {
	for i := range 3 {
		for j := range 4 {
			to[4*i+j] = x[4*i]*y[j] + x[4*i+1]*y[4+j] + x[4*i+2]*y[8+j]
		}
		to[4*i+3] += x[4*i+3]
	}
}

// rotation stores Rodrigues' formula, cos·1 + sine·[θ]× + versine·θ·θᵀ. Near 0 the factors are series.
func rotation(to, theta []float64) {
	a, b, c := theta[0], theta[1], theta[2]
	square := a*a + b*b + c*c
	cos := 1 - square/2*(1-square/12)
	sine := 1 - square/6*(1-square/20)
	versine := 0.5 - square/24*(1-square/30)
	if square > 1e-5 {
		angle := math.Sqrt(square)
		cos = math.Cos(angle)
		sine = math.Sin(angle) / angle
		half := math.Sin(angle / 2)
		versine = 2 * half * half / square
	}
	copy(to, []float64{
		cos + versine*a*a, versine*a*b - sine*c, versine*a*c + sine*b, 0,
		versine*a*b + sine*c, cos + versine*b*b, versine*b*c - sine*a, 0,
		versine*a*c - sine*b, versine*b*c + sine*a, cos + versine*c*c, 0,
	})
}
