// Package outfile writes files that are either complete or not there at all. It
// writes the content to a temporary file in the same folder, and gives that file its
// name when it is complete.
package outfile
