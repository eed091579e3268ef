// Package gradbench is a tool in GradBench's sense: it answers the messages of
// GradBench's protocol, one line of JSON each, by evaluating the functions of
// its evals with revnum.
//
// A message that cannot be answered gets "success": false with the reason, and
// the tool goes on with the next one.
package gradbench
