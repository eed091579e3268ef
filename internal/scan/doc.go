// Package scan reads files of numbers that are separated by white space. Its errors
// give the line, and what was expected there.
package scan
