// Package lstm is a recurrent network that predicts the next character of a text:
// layers of long short-term memory whose matrices of weights are diagonal, as in
// ADBench and GradBench.
//
//   - Loss is the reversible kernel of the mean log loss of the predictions, with first
//     and second derivatives with respect to all parameters, the initial state and the
//     sequence.
//
// A number of the network sees only itself from one step to the next; numbers meet in
// the softmax of the output alone. That is a quirk of the benchmark: it is no model for
// text that one would use.
//
// # Memory and time
//
// A gradient needs the states of all steps. They are kept, and nothing else of the
// steps: the gates are computed again on the way back. That is 2·L·C·B numbers of
// float64 for L layers, C characters and B bits, where B counts as the next multiple
// of 16, and as much as a layer for the output. A gradient with its value takes about
// twice the time of the value. Tangents and second derivatives have no vector code; they
// take some twenty times as long.
//
// # Errors
//
// Shapes that do not fit panic with mat.ErrShape. No method returns an error. What is
// not finite shows in the loss.
package lstm
