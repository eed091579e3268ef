package nbody

import "math"

// gauss is Gauss's constant of gravitation. Its square is the mass of the sun times the
// constant of gravitation, in au³/day².
const gauss = 0.01720209895

// elements are the elements of an orbit around a larger mass, at some time.
type elements struct {
	Axis         float64 // semi-major axis, positive
	Eccentricity float64 // at least 0 and less than 1
	Inclination  float64 // in degrees, as are the angles below
	Longitude    float64 // mean longitude
	Perihelion   float64 // longitude of the perihelion
	Node         float64 // longitude of the ascending node
}

// State returns position and velocity relative to the larger mass, where mu is the sum of
// the masses times the constant of gravitation. Kepler's equation is solved to rounding.
// The formulas are those of E. M. Standish and J. G. Williams, Approximate positions of
// the planets, JPL.
func (e elements) State(mu float64) (q, v [3]float64) {
	const degree = math.Pi / 180
	mean := float64(math.Remainder(e.Longitude-e.Perihelion, 360) * degree)
	anomaly := mean + float64(e.Eccentricity*math.Sin(mean))
	for range 50 { // Newton's method; about 5 steps suffice
		sin, cos := math.Sincos(anomaly)
		step := (mean - anomaly + float64(e.Eccentricity*sin)) / (1 - float64(e.Eccentricity*cos))
		anomaly += step
		if math.Abs(step) < 1e-15 {
			break
		}
	}
	sin, cos := math.Sincos(anomaly)
	minor := math.Sqrt(1 - float64(e.Eccentricity*e.Eccentricity))
	rate := math.Sqrt(mu/(e.Axis*e.Axis*e.Axis)) / (1 - float64(e.Eccentricity*cos)) // of the anomaly
	x, y := e.Axis*(cos-e.Eccentricity), e.Axis*minor*sin
	vx, vy := -e.Axis*sin*rate, e.Axis*minor*cos*rate

	sw, cw := math.Sincos((e.Perihelion - e.Node) * degree)
	sn, cn := math.Sincos(e.Node * degree)
	si, ci := math.Sincos(e.Inclination * degree)
	turn := func(x, y float64) [3]float64 {
		along, across := float64(cw*x)-float64(sw*y), float64(sw*x)+float64(cw*y)
		return [3]float64{float64(cn*along) - float64(sn*ci*across), float64(sn*along) + float64(cn*ci*across), si * across}
	}
	return turn(x, y), turn(vx, vy)
}

// planets are the elements of 2000 January 1.5, for the ecliptic and equinox of J2000,
// by Standish and Williams, and the mass of the sun divided by that of the planet with
// its moons, by the International Astronomical Union (1976 to 2009).
var planets = [...]struct {
	name string
	elements
	sun float64
}{
	{"Mercury", elements{0.38709927, 0.20563593, 7.00497902, 252.25032350, 77.45779628, 48.33076593}, 6023600},
	{"Venus", elements{0.72333566, 0.00677672, 3.39467605, 181.97909950, 131.60246718, 76.67984255}, 408523.71},
	{"Earth", elements{1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193, 0}, 328900.56},
	{"Mars", elements{1.52371034, 0.09339410, 1.84969142, -4.55343205, -23.94362959, 49.55953891}, 3098708},
	{"Jupiter", elements{5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909}, 1047.3486},
	{"Saturn", elements{9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448}, 3497.898},
	{"Uranus", elements{19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503}, 22902.98},
	{"Neptune", elements{30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574}, 19412.24},
}

// SolarSystem returns the sun and the eight planets, in this order, at noon of January 1,
// 2000. Lengths are in astronomical units, times in days, and axes are those of the
// ecliptic. The centre of mass is at rest at the origin. Earth is the centre of mass of
// earth and moon.
//
// Positions come from the approximate elements of JPL. They are accurate to some tens
// of seconds of arc for the inner planets, and to ten minutes of arc for Saturn.
func SolarSystem() []Body {
	const sun = gauss * gauss
	bodies := []Body{{Name: "Sun", Mu: sun}}
	for _, p := range planets {
		b := Body{Name: p.name, Mu: sun / p.sun}
		b.Q, b.V = p.State(sun + b.Mu)
		bodies = append(bodies, b)
	}
	center(bodies)
	return bodies
}

// center moves the centre of mass of the bodies to the origin, at rest. It does nothing
// if the masses sum to 0.
func center(bodies []Body) {
	var mass float64
	var q, v [3]float64
	for _, b := range bodies {
		mass += b.Mu
		for c := range 3 {
			q[c] += float64(b.Mu * b.Q[c])
			v[c] += float64(b.Mu * b.V[c])
		}
	}
	if mass == 0 {
		return
	}
	for i := range bodies {
		for c := range 3 {
			bodies[i].Q[c] -= q[c] / mass
			bodies[i].V[c] -= v[c] / mass
		}
	}
}
