package gmm

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
)

// Covariance is the kind of the covariance matrices of a mixture.
type Covariance int

// The kinds of covariance.
const (
	Full      Covariance = iota // each component has its own
	Tied                        // all components have the same
	Diagonal                    // each has its own, and coordinates are uncorrelated
	Spherical                   // each has its own variance, the same for all coordinates
)

var covarianceNames = []string{"full", "tied", "diagonal", "spherical"}

// String returns the name of the kind: full, tied, diagonal or spherical.
func (c Covariance) String() string { return objective.Name(c, covarianceNames) }

// MarshalText implements encoding.TextMarshaler: the text is that of String.
func (c Covariance) MarshalText() ([]byte, error) {
	if c < 0 || int(c) >= len(covarianceNames) {
		return nil, fmt.Errorf("gmm: there is no %v", c)
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Covariance) UnmarshalText(text []byte) error {
	if kind := slices.Index(covarianceNames, string(text)); kind >= 0 {
		*c = Covariance(kind)
		return nil
	}
	return fmt.Errorf("gmm: expected one of the covariances %v, found %q", covarianceNames, text)
}

// free returns the number of free parameters of k covariances of order d.
func (c Covariance) free(k, d int) int {
	switch c {
	case Full:
		return k * d * (d + 1) / 2
	case Tied:
		return d * (d + 1) / 2
	case Diagonal:
		return k * d
	default:
		return k
	}
}

// size returns how many numbers a fit keeps for each of k covariances of order d, and
// how many covariances there are.
func (c Covariance) size(k, d int) (numbers, count int) {
	switch c {
	case Full:
		return d * d, k
	case Tied:
		return d * d, 1
	default:
		return d, k
	}
}

// check returns an error unless the covariances are of this kind. It panics with mat.ErrShape if
// their orders differ. It leaves NaN to newMixture.
func (c Covariance) check(covs []*mat.SymDense) error {
	switch {
	case c < Full || c > Spherical:
		return fmt.Errorf("there is no %v", c)
	case c == Full:
		return nil
	}
	for k, cov := range covs {
		objective.CheckLen("gmm.Mixture", "covariances", cov.SymmetricDim(), covs[0].SymmetricDim())
		for i := range cov.SymmetricDim() {
			for j := range i + 1 {
				v, want := cov.At(i, j), cov.At(i, j)
				switch {
				case c == Tied:
					want = covs[0].At(i, j)
				case i != j:
					want = 0
				case c == Spherical:
					want = cov.At(0, 0)
				}
				if v < want || v > want {
					return fmt.Errorf("element (%d, %d) of covariance %d is %v, want %v as they are %v", i, j, k, v, want, c)
				}
			}
		}
	}
	return nil
}
