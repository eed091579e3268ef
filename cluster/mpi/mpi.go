// Package mpi makes the ranks of MPI a cluster.Reducer.
//
// It needs the C library of Open MPI, which pkg-config must find as ompi-c. With the
// build tag mpich it needs that of MPICH instead, which pkg-config must find as mpich. It is a module of its own, so
// that other users of revnum need neither.
package mpi

/*
#include <mpi.h>
#include <stdint.h>

// Much of MPI is macros, which Go cannot see.
static int start(int *have) {
	int err = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, have);
	return err ? err : MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}
static int serialized(void) { return MPI_THREAD_SERIALIZED; }
static int rank(int *r) { return MPI_Comm_rank(MPI_COMM_WORLD, r); }
static int size(int *n) { return MPI_Comm_size(MPI_COMM_WORLD, n); }
static int sum(int64_t *x, int n) { return MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); }
static int broadcast(char *b, int n) { return MPI_Bcast(b, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static void give_up(int status) { MPI_Abort(MPI_COMM_WORLD, status); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"
)

// World is the cluster.Reducer of all ranks of MPI. Its methods may be called by one
// goroutine at a time.
type World struct {
	rank, size int

	// Patience is how long a call waits for the other ranks; 0 means forever. After
	// that time a rank or a link counts as lost. The process ends with a message and
	// status 1, and mpirun ends the others.
	Patience time.Duration
}

// Init starts MPI. Call it once in a process, before anything else of MPI.
func Init() (*World, error) {
	var have, rank, size C.int
	if err := check("MPI_Init_thread", C.start(&have)); err != nil {
		return nil, err
	}
	if have < C.serialized() {
		return nil, errors.New("mpi: this library does not let threads take turns (MPI_THREAD_SERIALIZED)")
	}
	if err := errors.Join(check("MPI_Comm_rank", C.rank(&rank)), check("MPI_Comm_size", C.size(&size))); err != nil {
		return nil, err
	}
	return &World{rank: int(rank), size: int(size)}, nil
}

// Rank implements cluster.Reducer.
func (w *World) Rank() int { return w.rank }

// Size implements cluster.Reducer.
func (w *World) Size() int { return w.size }

// most is the largest number of elements in a call of MPI. MPI counts them in a C int.
const most = 1 << 27

// Sum implements cluster.Reducer by MPI_Allreduce.
func (w *World) Sum(x []int64) error {
	defer w.watch("a sum")()
	for ; len(x) > 0; x = x[min(most, len(x)):] {
		n := min(most, len(x))
		if err := check("MPI_Allreduce", C.sum((*C.int64_t)(unsafe.SliceData(x)), C.int(n))); err != nil {
			return err
		}
	}
	return nil
}

// Broadcast implements cluster.Reducer by MPI_Bcast.
func (w *World) Broadcast(b []byte) error {
	defer w.watch("a broadcast")()
	for ; len(b) > 0; b = b[min(most, len(b)):] {
		n := min(most, len(b))
		if err := check("MPI_Bcast", C.broadcast((*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.int(n))); err != nil {
			return err
		}
	}
	return nil
}

// Barrier returns when all ranks have called it.
func (w *World) Barrier() error {
	defer w.watch("a barrier")()
	return check("MPI_Barrier", C.barrier())
}

// Finalize ends MPI. All ranks call it, at the end.
func (w *World) Finalize() error {
	defer w.watch("the end")()
	return check("MPI_Finalize", C.MPI_Finalize())
}

// Abort ends the processes of all ranks, with the given status.
func (w *World) Abort(status int) { C.give_up(C.int(status)) }

// watch starts a timer, and returns the function that stops it.
func (w *World) watch(forWhat string) func() bool {
	if w.Patience == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(w.Patience, func() {
		// Another thread is inside MPI, so this one must not call MPI_Abort.
		fmt.Fprintf(os.Stderr, "mpi: rank %d has waited %v for %s: another rank or the link to it is lost\n", w.rank, w.Patience, forWhat)
		os.Exit(1)
	}).Stop
}

// check returns the error that a call of MPI has returned.
func check(call string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.MPI_MAX_ERROR_STRING]C.char
	var n C.int
	C.MPI_Error_string(code, &text[0], &n)
	return fmt.Errorf("mpi: %s: %s", call, C.GoStringN(&text[0], n))
}
