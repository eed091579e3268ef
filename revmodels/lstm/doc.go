// Package lstm is a recurrent network that predicts the next character of a text:
// layers of long short-term memory whose matrices of weights are diagonal, as in
// ADBench and GradBench.
//
//   - Loss is the reversible kernel of the mean log loss of the predictions, with first
//     and second derivatives with respect to all parameters, the initial state and the
//     sequence.
//
// From one step to the next, each number of the network sees only itself. Numbers meet
// only in the softmax of the output. This is a peculiarity of the benchmark. It is not
// a useful model for text.
//
// # Memory and time
//
// A gradient needs the states of all steps, and only these are kept. The gates are
// computed again by the adjoint. The states are 2·L·C·B numbers of float64 for L
// layers, C characters and B bits, where B counts as the next multiple of 16. The
// output takes as much as a layer. A gradient with its value takes about twice the time
// of the value. Tangents and second derivatives have no vector code, and take about
// twenty times as long.
//
// # Errors
//
// Misuse panics with a *rev.OperandError, in which errors.Is finds gonum's value:
// mat.ErrShape for shapes that do not fit. No method returns an error. A number
// that is not finite makes the loss not finite.
package lstm

//go:generate go run revnum/cmd/revgen -instances
