package science

import "math"

// Adjoints as one writes them by hand: each returns the value, and stores the gradient. They do in
// one loop what can be done in one, and keep what is costly.

func kalmanByHand(grad, theta, y []float64) float64 {
	type state struct{ s, v, k, p float64 }
	kept := make([]state, len(y))
	q, r := math.Exp(theta[0]), math.Exp(theta[1])
	m, p, nll := theta[2], 1.0, 0.0
	for i, obs := range y {
		p += q
		s, v := p+r, obs-m
		k := p / s
		nll += 0.5 * (math.Log(2*math.Pi*s) + v*v/s)
		kept[i] = state{s, v, k, p}
		m += k * v
		p *= 1 - k
	}
	var mBar, pBar, qBar, rBar float64
	for i := len(y) - 1; i >= 0; i-- {
		c := kept[i]
		kBar := mBar*c.v - pBar*c.p
		vBar := mBar*c.k + c.v/c.s
		kBar /= c.s
		u := c.v / c.s
		sBar := 0.5/c.s - 0.5*u*u - kBar*c.k
		pBar = pBar*(1-c.k) + kBar + sBar
		rBar += sBar
		mBar -= vBar
		qBar += pBar
	}
	grad[0], grad[1], grad[2] = qBar*q, rBar*r, mBar
	return nll
}

func garchByHand(gOmega, gAlpha, gBeta *float64, omega, alpha, beta float64, r []float64) (nll float64) {
	kept := make([]float64, len(r))
	d := 1 - alpha - beta
	v := omega / d
	for i, x := range r {
		if i > 0 {
			v = omega + alpha*r[i-1]*r[i-1] + beta*v
		}
		kept[i] = v
		nll += 0.5 * (math.Log(v) + x*x/v)
	}
	var oBar, aBar, bBar, vBar float64
	for i := len(r) - 1; i > 0; i-- {
		v := kept[i]
		vBar += 0.5 * (1 - r[i]*r[i]/v) / v
		oBar += vBar
		aBar += vBar * r[i-1] * r[i-1]
		bBar += vBar * kept[i-1]
		vBar *= beta
	}
	vBar += 0.5 * (1 - r[0]*r[0]/kept[0]) / kept[0]
	vBar /= d
	*gOmega, *gAlpha, *gBeta = oBar+vBar, aBar+vBar*kept[0], bBar+vBar*kept[0]
	return nll
}

func armaByHand(gPhi, gTheta *float64, phi, theta float64, y []float64) float64 {
	kept := make([]float64, len(y))
	ss := 0.0
	for t := 1; t < len(y); t++ {
		e := y[t] - phi*y[t-1] - theta*kept[t-1]
		kept[t] = e
		ss += e * e
	}
	var phiBar, thetaBar, eBar float64
	for t := len(y) - 1; t > 0; t-- {
		eBar += 2 * kept[t]
		phiBar -= eBar * y[t-1]
		thetaBar -= eBar * kept[t-1]
		eBar *= -theta
	}
	*gPhi, *gTheta = phiBar, thetaBar
	return ss
}

func hornerByHand(grad, c, xs []float64) (sum float64) {
	clear(grad)
	for _, x := range xs {
		v := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			v = v*x + c[i]
		}
		sum += v * v
		g := 2 * v
		for i := range grad {
			grad[i] += g
			g *= x
		}
	}
	return sum
}

func logisticByHand(grad, w []float64, x [][]float64, y []int) float64 {
	clear(grad)
	loss := 0.0
	for i, row := range x {
		label := float64(y[i])
		m := label * dot(w, row)
		var g float64
		if m > 0 {
			e := math.Exp(-m)
			loss += math.Log1p(e)
			g = -e / (1 + e)
		} else {
			e := math.Exp(m)
			loss += math.Log1p(e) - m
			g = -1 / (1 + e)
		}
		g *= label
		for j, v := range row {
			grad[j] += g * v
		}
	}
	for j, v := range w {
		loss += 0.05 * v * v
		grad[j] += 0.1 * v
	}
	return loss
}

func stressByHand(grad, p [][2]float64, d [][]float64) float64 {
	clear(grad)
	s := 0.0
	for i := range p {
		for j := range i {
			dx, dy := p[i][0]-p[j][0], p[i][1]-p[j][1]
			r := math.Sqrt(dx*dx + dy*dy)
			e := r - d[i][j]
			s += e * e
			g := 2 * e / r
			grad[i][0] += g * dx
			grad[i][1] += g * dy
			grad[j][0] -= g * dx
			grad[j][1] -= g * dy
		}
	}
	return s
}

func ewaldByHand(gPos []vec, gQ []float64, pos []vec, q []float64, alpha float64) float64 {
	clear(gPos)
	clear(gQ)
	e := 0.0
	for i := range pos {
		for j := i + 1; j < len(pos); j++ {
			d := pos[i].sub(pos[j])
			r := d.norm()
			if r > 3 {
				continue
			}
			erfc := math.Erfc(alpha*r) / r
			e += q[i] * q[j] * erfc
			gQ[i] += q[j] * erfc
			gQ[j] += q[i] * erfc
			g := -q[i] * q[j] * (2/math.SqrtPi*alpha*math.Exp(-alpha*alpha*r*r) + erfc) / (r * r)
			gPos[i].add(g, d)
			gPos[j].add(-g, d)
		}
	}
	return e
}

func bilinearByHand(gImg [][]float64, gP [][2]float64, img [][]float64, p [][2]float64) float64 {
	for i := range gImg {
		clear(gImg[i])
	}
	clear(gP)
	s := 0.0
	for n, q := range p {
		i, j := int(math.Floor(q[0])), int(math.Floor(q[1]))
		if i < 0 || j < 0 || i+1 >= len(img) || j+1 >= len(img[0]) {
			continue
		}
		u, v := q[0]-float64(i), q[1]-float64(j)
		a, b, c, d := img[i][j], img[i+1][j], img[i][j+1], img[i+1][j+1]
		val := (1-u)*(1-v)*a + u*(1-v)*b + (1-u)*v*c + u*v*d
		s += val * val
		g := 2 * val
		gImg[i][j] += g * (1 - u) * (1 - v)
		gImg[i+1][j] += g * u * (1 - v)
		gImg[i][j+1] += g * (1 - u) * v
		gImg[i+1][j+1] += g * u * v
		gP[n][0] = g * ((1-v)*(b-a) + v*(d-c))
		gP[n][1] = g * ((1-u)*(c-a) + u*(d-b))
	}
	return s
}

func simpsonByHand(grad *[2]float64, p [2]float64, n int) float64 {
	h := 1 / float64(n)
	s, g0, g1 := 0.0, 0.0, 0.0
	for i := 0; i <= n; i++ {
		w := 2.0
		switch {
		case i == 0, i == n:
			w = 1
		case i%2 == 1:
			w = 4
		}
		x := float64(i) * h
		e := w * math.Exp(-p[0]*x*x)
		sin, cos := math.Sincos(p[1] * x)
		s += e * cos
		g0 -= e * cos * x * x
		g1 -= e * sin * x
	}
	*grad = [2]float64{g0 * h / 3, g1 * h / 3}
	return s * h / 3
}

func continuedFractionByHand(gA, gB *float64, a, b float64, n int) float64 {
	kept := make([]float64, n+1)
	v := 1.0
	for i := n; i > 0; i-- {
		kept[i] = 1 / v
		if i%2 == 0 {
			v = a + kept[i]
		} else {
			v = b + kept[i]
		}
	}
	g, aBar, bBar := 1.0, 0.0, 0.0
	for i := 1; i <= n; i++ {
		if i%2 == 0 {
			aBar += g
		} else {
			bBar += g
		}
		g *= -kept[i] * kept[i]
	}
	*gA, *gB = aBar, bBar
	return v
}

func huberByHand(grad, p, t, y []float32) float32 {
	var s, g0, g1 float32
	for i, ti := range t {
		r := p[0] + p[1]*ti - y[i]
		if a := float32(math.Abs(float64(r))); a > 1 {
			s += a - 0.5
			r = float32(math.Copysign(1, float64(r)))
		} else {
			s += r * r / 2
		}
		g0 += r
		g1 += r * ti
	}
	grad[0], grad[1] = g0, g1
	return s
}

func deCasteljauByHand(grad, p []float64, t float64) float64 {
	q := make([]float64, len(p))
	copy(q, p)
	for n := len(q) - 1; n > 0; n-- {
		for i := range n {
			q[i] = lerp(q[i], q[i+1], t)
		}
	}
	clear(grad)
	grad[0] = 2 * q[0]
	for n := 1; n < len(q); n++ {
		for i := n - 1; i >= 0; i-- {
			grad[i+1] += t * grad[i]
			grad[i] *= 1 - t
		}
	}
	return q[0] * q[0]
}

func newtonByHand(gA, gB *float64, a, b float64) float64 {
	kept := make([]float64, 0, 64)
	x := 1.0
	for {
		kept = append(kept, x)
		step := (x*x*x + a*x - b) / (3*x*x + a)
		x -= step
		if math.Abs(step) < 1e-14 {
			break
		}
	}
	g, aBar, bBar := 1.0, 0.0, 0.0
	for i := len(kept) - 1; i >= 0; i-- {
		x := kept[i]
		d := 3*x*x + a
		step := (x*x*x + a*x - b) / d
		c := g / d
		aBar -= c * (x - step)
		bBar += c
		g = c * step * 6 * x
	}
	*gA, *gB = aBar, bBar
	return x
}

func regressionByHand(gW [][]float64, gB []float64, w [][]float64, b []float64, xs [][]float64, labels []int) float64 {
	for k := range gW {
		clear(gW[k])
	}
	clear(gB)
	loss, scale := 0.0, 1/float64(len(xs))
	logits := make([]float64, len(b))
	for i, x := range xs {
		for k := range logits {
			logits[k] = b[k] + dot(w[k], x)
		}
		l := logSumExp(logits)
		loss += l - logits[labels[i]]
		for k, v := range logits {
			g := math.Exp(v - l)
			if k == labels[i] {
				g--
			}
			g *= scale
			gB[k] += g
			row := gW[k]
			for j, v := range x {
				row[j] += g * v
			}
		}
	}
	return loss * scale
}

func smithWatermanByHand(gSub [][]float64, gGap *float64, sub [][]float64, gap float64, a, b []int) float64 {
	const stop, diagonal, up, left = 0, 1, 2, 3
	from := make([]uint8, len(a)*len(b))
	prev, cur := make([]float64, len(b)+1), make([]float64, len(b)+1)
	best, at := 0.0, -1
	for i := range a {
		row := sub[a[i]]
		for j := range b {
			h, way := prev[j]+row[b[j]], uint8(diagonal)
			if g := prev[j+1] - gap; g > h {
				h, way = g, up
			}
			if g := cur[j] - gap; g > h {
				h, way = g, left
			}
			if h < 0 {
				h, way = 0, stop
			}
			cur[j+1] = h
			from[i*len(b)+j] = way
			if h > best {
				best, at = h, i*len(b)+j
			}
		}
		prev, cur = cur, prev
	}
	for i := range gSub {
		clear(gSub[i])
	}
	*gGap = 0
	for at >= 0 { // only one path has derivatives
		i, j := at/len(b), at%len(b)
		di, dj := 0, 0
		switch from[at] {
		case stop:
			return best
		case diagonal:
			gSub[a[i]][b[j]]++
			di, dj = 1, 1
		case up:
			*gGap--
			di = 1
		case left:
			*gGap--
			dj = 1
		}
		if i < di || j < dj {
			break
		}
		at -= di*len(b) + dj
	}
	return best
}
