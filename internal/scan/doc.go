// Package scan reads files of numbers that are separated by white space, with
// errors that say in which line what was expected.
package scan
