package catalog

import "revnum/internal/byname"

// A Frame has a kernel and its derivatives, and makes passes over them: see [byname.Frame].
type Frame = *byname.Frame

// A Part says which of the four values of a Frame is meant.
type Part = byname.Part

// The parts of a Frame.
const (
	Primal           = byname.Primal
	Cotangent        = byname.Cotangent        // g
	Tangent          = byname.Tangent          // t
	CotangentTangent = byname.CotangentTangent // gt
	NumParts         = byname.NumParts
)
