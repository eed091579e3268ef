// Package parallel is a deterministic fork-join over the blocks of a problem.
//
// A kernel cuts its work into blocks that depend on the shape of the problem
// alone, never on the number of workers, lets every block write what no other
// block writes, and combines partial results in the order of the blocks when
// Run has returned. Its results are then the same bits for any number of
// workers.
//
// Run forks and joins in one or two microseconds and does not allocate: the task is
// an interface, so that a pointer to a workspace runs without a closure, and
// the goroutines that help the caller are kept. A follower that is handed work
// before it goes to sleep never sees the scheduler; one that sleeps is woken,
// and if the caller has finished all blocks before the follower is awake, the
// caller takes its request back instead of waiting.
package parallel
