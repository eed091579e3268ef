package generated

import "math"

// skeleton computes the transforms of bones, from their axes to those of the model, in
// absolute. This is 0 before. A transform is the rows of a 3×4 matrix. theta are the
// parameters of package hand, and relative the transforms to the axes of the parents. A
// bone without a parent has itself as parent.
//
//revgen:kernel Skeleton[T rev.Real]
func skeleton(absolute [][]float64, theta []float64, relative [][]float64, parents []int) {
	if len(absolute) != len(relative) || len(parents) != len(relative) || len(theta) != 26 || len(absolute[0]) != 12 || len(relative[0]) != 12 {
		panic("shape")
	}
	for b, p := range parents {
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
		for i := range 3 {
			// Row i of relative·R_z·R_x, with the column of the translation.
			r := relative[b][4*i : 4*i+4]
			u := r[1]*cs - r[0]*ss
			l0, l1, l2 := r[0]*cs+r[1]*ss, u*cf+r[2]*sf, r[2]*cf-u*sf
			if p == b {
				add(absolute[b][4*i:4*i+4], 1, l0, l1, l2, r[3])
			} else {
				for k := range 3 {
					add(absolute[b][4*k:4*k+4], absolute[p][4*k+i], l0, l1, l2, r[3])
				}
			}
		}
		if p != b {
			for k := range 3 {
				absolute[b][4*k+3] += absolute[p][4*k+3]
			}
		}
	}
}

// add adds w·(l0, l1, l2, l3) to row.
func add(row []float64, w, l0, l1, l2, l3 float64) {
	row[0] += w * l0
	row[1] += w * l1
	row[2] += w * l2
	row[3] += w * l3
}

// skin adds to r the measured points minus their places on the skin. Point i has entries
// start[i] to start[i+1]-1. An entry is the share of a bone in a vertex: a place, the
// bone's share of the vertex, in the axes of the bone, with the weight as the last
// element. corner says which corner of a triangle the vertex is. If it is negative, the
// point corresponds to the vertex alone, and uv is not read.
//
//revgen:kernel Skin[T rev.Real]
func skin(r, theta []float64, uv, points, absolute, places [][]float64, start, bone, corner []int, mirrored bool) {
	if len(r) != 3*len(points) || len(uv) != len(points) || len(theta) != 26 || len(uv[0]) != 2 || len(points[0]) != 3 || len(absolute[0]) != 12 || len(places[0]) != 4 || len(start) != len(points)+1 || len(bone) != len(places) || len(corner) != len(places) {
		panic("shape")
	}
	// Rodrigues' formula is cos·y + sine·θ×y + versine·(θ·y)·θ. Near 0 the factors are series.
	square := theta[0]*theta[0] + theta[1]*theta[1] + theta[2]*theta[2]
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
	for i, point := range points {
		var y [3]float64
		for e := start[i]; e < start[i+1]; e++ {
			share := 1.0
			switch corner[e] {
			case 0:
				share = uv[i][0]
			case 1:
				share = uv[i][1]
			case 2:
				share = 1 - uv[i][0] - uv[i][1]
			}
			t, v := absolute[bone[e]], places[e]
			for d := range 3 {
				y[d] += share * (t[4*d]*v[0] + t[4*d+1]*v[1] + t[4*d+2]*v[2] + t[4*d+3]*v[3])
			}
		}
		if mirrored {
			y[0] = -y[0]
		}
		along := versine * (theta[0]*y[0] + theta[1]*y[1] + theta[2]*y[2])
		for d := range 3 {
			cross := theta[(d+1)%3]*y[(d+2)%3] - theta[(d+2)%3]*y[(d+1)%3]
			r[3*i+d] += point[d] - (cos*y[d] + sine*cross + along*theta[d] + theta[3+d])
		}
	}
}
