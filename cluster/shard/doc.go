// Package shard reads points that lie in many files, block by block.
//
// A Set is a list of shards, which are matrices with equally many columns: files in
// NumPy's .npy format, files of plain float64, and any other File. It cuts each of them
// into blocks of at most so many rows. The blocks depend on the files and that number
// alone, not on how many machines read them.
//
// Files are mapped into memory: what is read again comes from the cache of the system,
// and a set may be larger than the memory. Split writes the shards of a CSV file.
//
// Errors name the file, and what was expected there: a file that is cut off, that has
// another number of columns or another type, that changed while it was read, or a number
// that is not finite.
package shard
