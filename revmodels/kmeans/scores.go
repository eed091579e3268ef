package kmeans

import (
	"math"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/nearest"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// scores find the nearest centroids of points by products of matrices. All points and
// centroids are shifted, to x' and c'. The nearest centroid has the least score
//
//	s_ik = ½‖c'_k‖² - c'_k·x'_i = ½‖x'_i - c'_k‖² - ½‖x'_i‖².
//
// Scores have rounding errors, which would decide near ties by chance. If the least two
// scores are close, the distances decide instead. Let u be the unit roundoff,
// R = ‖x'_i‖ + max_k ‖c'_k‖, and η the smallest positive number. The errors are
//
//	½‖x' - c'‖² for ½‖x - c‖²         u·R²
//	½‖c'‖²                            ½D·u·R²
//	the D products                    ½(D+1)·u·R², as |c'·x'| + ½‖c'‖² <= ½R²
//	½‖x - c‖² as distance computes it ½(D+2)·u·R²
//
// Their sum is less than (2D+4)·u·R², plus (D+1)·η for products that underflow. Take the
// centroid with the least computed distance. Its score exceeds the least score by at most
// twice that sum. If the second score exceeds the least one by more than
//
//	m_i = (2D+8)·(ε·R² + η),  ε = 2u,  R² <= 2·(‖x'_i‖² + max_k ‖c'_k‖²),
//
// the least score therefore belongs to the nearest centroid. If R² is near the overflow
// threshold or NaN, m_i is NaN, and the distances decide. So they do if D·ε > ⅛, as the errors
// above leave out terms of the order of (D·u)², or if labels are not exact over T. If a
// distance overflows or a number is NaN, the distances are compared one by one.
//
// Points over float64 may have scores over float32: x' and c' are computed over float64 and
// then rounded. That changes x' by u·‖x'‖ in all, with u of float32, and by η/2 in each
// coordinate that underflows; c' alike. So the first line becomes
//
//	½‖x' - c'‖² for ½‖x - c‖²         (u + 2⁻⁵³)·R² + R·√D·η
//
// Here R·√D·η is at most u·R² if R is at least √D·η/u = √D·2⁻¹²⁵, and else at most
// D·2⁻¹²⁵·η. The lines of the table and this u·R² are (1½D+3½)·u·R², so the sum above and
// m_i hold. Numbers whose squares overflow float32 make R² infinite. Where squares underflow,
// η decides.
type scores[T rev.Float] struct {
	shift  []T     // what is subtracted from points and centroids
	scored []T     // K×D: c'
	halves []T     // ½‖c'‖²
	most   float64 // the largest ‖c'‖²

	slope, least, limit float64 // m_i is slope·(‖x'_i‖² + most) + least, if what is in brackets is below limit
}

// twoLeast are the least two scores of the points of a panel, and the centroids of the
// least.
type twoLeast[T rev.Float] struct{ best, second, label [panel]T }

// set computes c' and its squares for the centroids.
func (s *scores[T]) set(centroids rev.General[T]) {
	k, d := centroids.Rows, centroids.Cols
	s.scored, s.halves = workspace.Grow(s.scored, k*d), workspace.Grow(s.halves, k)
	s.bound(k, d)
	s.most = 0
	for c := range k {
		s.halves[c] = s.center(s.scored[c*d:(c+1)*d], centroids.Row(c))
		s.most = max(s.most, 2*float64(s.halves[c])) // NaN if one is
	}
}

// center sets dst to x' for the point or centroid x. It returns ½‖x'‖².
func (s *scores[T]) center(dst, x []T) (half T) {
	for j, v := range s.shift {
		dst[j] = x[j] - v
		half += T(dst[j] * dst[j])
	}
	return half / 2
}

// load stores x' of some points, the rows of x, by coordinate in dst, and ‖x'‖² in norms.
func (s *scores[T]) load(dst, norms, x []T, stridex int) {
	n, d := len(norms), len(s.shift)
	dense.Transpose(dst, stride, x, stridex, n, d)
	vec.SubColumn(n, dst, stride, dst, stride, s.shift)
	squares(norms, dst, d)
}

// squares stores ‖x'‖² of some points in norms. x holds x' by coordinate.
func squares[T rev.Float](norms, x []T, d int) {
	n := len(norms)
	var squares [panel]T
	clear(norms)
	for j := range d {
		row := x[j*stride:][:n]
		vec.MulTo(squares[:n], row, row)
		vec.AddTo(norms, norms, squares[:n])
	}
}

// leastScores returns the least two scores of n points, which x holds by coordinate.
func (s *scores[T]) leastScores(t *twoLeast[T], x []T, n int) (best, second, label []T) {
	n = padded(n)
	best, second, label = t.best[:n], t.second[:n], t.label[:n]
	inf := T(math.Inf(1))
	for p := range best {
		best[p] = inf
	}
	copy(second, best)
	nearest.Two(best, second, label, x, stride, s.scored, s.halves, len(s.shift), 0)
	return best, second, label
}

// round sets s to scores without a shift of k centroids whose c' over float64 are c.
func (s *scores[T]) round(c []float64, k, d int) {
	s.shift = workspace.Zeros(s.shift, d)
	s.scored = workspace.Grow(s.scored, k*d)
	for i, v := range c[:k*d] {
		s.scored[i] = T(v)
	}
	s.set(rev.NewGeneral(k, d, s.scored))
}

// bound sets the terms of m_i for k centroids in d dimensions.
func (s *scores[T]) bound(k, d int) {
	// 2⁻⁵², the smallest positive and the largest number, or those of float32.
	eps, eta, huge := 0x1p-52, math.SmallestNonzeroFloat64, math.MaxFloat64
	if !cpu.Is64[T]() {
		eps, eta, huge = 0x1p-23, math.SmallestNonzeroFloat32, math.MaxFloat32
	}
	terms, rounding := float64(2*d+8), 2*(1+float64(float64(d)*eps)) // the norms are rounded
	s.slope, s.least, s.limit = terms*eps*rounding, terms*eta, huge/16/rounding
	if float64(d)*eps > 1./8 || float64(k)*eps > 2 {
		s.limit = 0
	}
}

// margin returns m_i for a point with ‖x'‖² = norm.
func (s *scores[T]) margin(norm T) float64 {
	square := float64(norm) + s.most
	if !(square < s.limit) {
		return math.NaN()
	}
	return float64(s.slope*square) + s.least
}

// padded rounds n up to the number of points that a search takes.
func padded(n int) int { return (n + nearest.Width - 1) &^ (nearest.Width - 1) }

// distance returns ‖x - c‖². Its products are rounded before they are added, so it is the
// same on all machines.
func distance[T rev.Float](x, c []T) float64 {
	c = c[:len(x)]
	var s float64
	for j, v := range x {
		r := float64(v) - float64(c[j])
		s += float64(r * r)
	}
	return s
}

// distances stores distance of each point, a row of x, from the centroid of its label. It
// takes four points together, as each addition waits for the one before.
func distances[T rev.Float](dists []float64, x []T, ldx int, centroids rev.General[T], labels []int32) {
	d := centroids.Cols
	i := 0
	for ; i+4 <= len(labels); i += 4 {
		k := (*[4]int32)(labels[i:])
		x0, x1, x2, x3 := x[i*ldx:][:d], x[(i+1)*ldx:][:d], x[(i+2)*ldx:][:d], x[(i+3)*ldx:][:d]
		c0, c1 := centroids.Row(int(k[0]))[:d], centroids.Row(int(k[1]))[:d]
		c2, c3 := centroids.Row(int(k[2]))[:d], centroids.Row(int(k[3]))[:d]
		var s0, s1, s2, s3 float64
		for j := range d {
			r0, r1 := float64(x0[j])-float64(c0[j]), float64(x1[j])-float64(c1[j])
			r2, r3 := float64(x2[j])-float64(c2[j]), float64(x3[j])-float64(c3[j])
			s0 += float64(r0 * r0)
			s1 += float64(r1 * r1)
			s2 += float64(r2 * r2)
			s3 += float64(r3 * r3)
		}
		*(*[4]float64)(dists[i:]) = [4]float64{s0, s1, s2, s3}
	}
	for ; i < len(labels); i++ {
		dists[i] = distance(x[i*ldx:][:d], centroids.Row(int(labels[i])))
	}
}

// nearestOf compares the distances of x one by one and returns the nearest centroid. A
// NaN counts as the least distance.
func nearestOf[T rev.Float](x []T, centroids rev.General[T]) (label int32, dist float64) {
	dist = math.Inf(1)
	for c := range centroids.Rows {
		d := distance(x, centroids.Row(c))
		if d < dist || math.IsNaN(d) && !math.IsNaN(dist) {
			label, dist = int32(c), d
		}
	}
	return label, dist
}
