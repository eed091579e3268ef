// Package outfile writes files that are either whole or not there at all: the
// content goes to a temporary file in the same folder, which takes the file's
// name when it is complete.
package outfile
