// Package gradbench is a tool for GradBench. It answers the messages of GradBench's
// protocol, one line of JSON each, by evaluating the functions of its evals with
// revnum. If it cannot answer a message, it returns "success": false with the reason,
// and continues.
package gradbench
