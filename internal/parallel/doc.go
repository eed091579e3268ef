// Package parallel is a deterministic fork-join over the blocks of a problem.
//
// A kernel cuts its work into blocks that depend only on the shape of the problem,
// never on the number of workers. Each block writes operands that no other block
// writes. When Run has returned, the kernel combines partial results in the order of
// the blocks. Its results then have the same bits for any number of workers.
//
// Run forks and joins in one or two microseconds and does not allocate. A task is an
// interface, so a pointer to a workspace runs without a closure. The goroutines that
// help the caller (followers) are kept for later calls. An idle follower looks for
// work for a while before it sleeps; if it gets work in that time, the scheduler is
// not involved. A sleeping follower must be woken. If the caller has finished all
// blocks before the follower is awake, it takes its request back and does not wait.
// A follower that has slept for a fifth of a second ends.
package parallel
