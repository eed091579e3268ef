// Package hand is the hand tracking of ADBench and GradBench: it computes how far the
// skin of a posed model is from measured points.
//
//   - LoadModel reads the skeleton and the skin of a hand from ADBench's files.
//     NewModel takes them from memory.
//   - Residuals is the reversible kernel of the differences between points and the
//     places on the skin that correspond to them: vertices (the simple problem) or points
//     of triangles (the complicated one). Its Jacobian method writes all derivatives.
//
// # Time and memory
//
// A pose parameter of a finger moves only vertices that hang on the bones of that
// finger. The derivatives of a vertex are computed along its own bones only, once for
// all points that correspond to it. Vertices without a point cost nothing. Memory
// beyond the operands is 78 numbers for each vertex in use.
//
// # Errors
//
// Misuse panics with a *rev.OperandError, in which errors.Is finds gonum's value:
// mat.ErrShape for shapes that do not fit, and mat.ErrRowAccess for a correspondence that
// is not in the model. An invalid model is an error. So is a file that cannot be read; the
// error names the file and the line.
package hand

//go:generate go run revnum/cmd/revgen -instances
