// Package shard reads points that lie in many files, block by block.
//
// A Set is a list of shards, which are matrices with the same number of columns. A
// shard is a file in NumPy's .npy format, a file of plain float64, or any other File.
// Package cluster/parquet, a module of its own, reads Parquet. The Set cuts each shard
// into blocks of at most a given number of rows. The blocks depend only on the files and
// on that number, not on how many machines read them.
//
// A block is read each time that it is needed. Reading it again takes it from the cache of
// the system, and a set may be larger than the memory. Each file stays open until the set is
// closed.
//
// Errors name the file and what was expected. These are errors: a truncated file, a
// wrong number of columns, a wrong type, a file that changes while it is read, and a
// number that is not finite.
package shard
