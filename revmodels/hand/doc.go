// Package hand is the tracking of a hand: how far the skin of a posed model is from
// measured points, as in ADBench and GradBench.
//
//   - LoadModel reads the skeleton and the skin of a hand from ADBench's files.
//     NewModel takes them from memory.
//   - Residuals is the reversible kernel of the differences between points and the
//     places on the skin that correspond to them: vertices (the simple problem) or points
//     of triangles (the complicated one). Its Jacobian method writes all derivatives.
//
// # Time and memory
//
// A pose parameter of a finger moves what hangs on the bones of that finger, and nothing
// else. The derivatives of a vertex are taken along its own bones alone, once for all
// points that correspond to it. Vertices that nothing corresponds to cost nothing.
// Memory beyond the operands is 78 numbers for each vertex in use.
//
// # Errors
//
// Shapes that do not fit panic with mat.ErrShape, and a correspondence that is not in the
// model panics with mat.ErrRowAccess. A model that makes no sense, and a file that cannot
// be read, is an error, which names the file and the line.
package hand
