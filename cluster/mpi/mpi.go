// Package mpi makes the ranks of MPI a cluster.Reducer.
//
// It needs the C library of Open MPI, which pkg-config must find as ompi-c. With the
// build tag mpich it needs that of MPICH instead, which pkg-config must find as mpich.
// It is a module of its own, so that other users of revnum need neither.
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

enum { most_direct = 16 }; // ranks

static int wait_for(MPI_Request *all, int count) {
	int err = 0;
	for (int i = 0; i < count && !err; i++)
		err = MPI_Wait(&all[i], MPI_STATUS_IGNORE);
	return err;
}

// sum_direct sends x to all other ranks, receives theirs in room, and adds them to x.
static int sum_direct(int64_t *x, int n, int64_t *room, int rank, int size) {
	MPI_Request all[2 * most_direct];
	int err = 0, count = 0;
	for (int i = 1; i < size && !err; i++)
		err = MPI_Irecv(room + (size_t)(i - 1) * n, n, MPI_INT64_T, (rank + i) % size, 0, MPI_COMM_WORLD, &all[count++]);
	for (int i = 1; i < size && !err; i++)
		err = MPI_Isend(x, n, MPI_INT64_T, (rank + i) % size, 0, MPI_COMM_WORLD, &all[count++]);
	if (!err)
		err = wait_for(all, count);
	for (int i = 1; i < size && !err; i++, room += n)
		for (int j = 0; j < n; j++)
			x[j] = (int64_t)((uint64_t)x[j] + (uint64_t)room[j]); // wraps
	return err;
}

// broadcast_direct sends the b of rank 0 to all others.
static int broadcast_direct(char *b, int n, int rank, int size) {
	if (rank != 0)
		return MPI_Recv(b, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Request all[most_direct];
	int err = 0;
	for (int r = 1; r < size && !err; r++)
		err = MPI_Isend(b, n, MPI_BYTE, r, 0, MPI_COMM_WORLD, &all[r - 1]);
	return err ? err : wait_for(all, size - 1);
}
static int barrier(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static void give_up(int status) { MPI_Abort(MPI_COMM_WORLD, status); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
	"unsafe"
)

// World is the cluster.Reducer of all ranks of MPI. Its methods may be called by one
// goroutine at a time.
type World struct {
	rank, size int
	who        string // this rank, in messages

	// Patience is how long a call waits for the other ranks; 0 means forever. After
	// that time a rank or a link counts as lost. The process ends with a message and
	// status 1, and mpirun ends the others.
	Patience time.Duration

	direct int     // ranks that send without algorithms of MPI
	room   []int64 // what Sum receives from the other ranks
}

// Init starts MPI, and returns when all ranks have started it. Call it once in a process,
// before anything else of MPI. If that takes longer than 10 seconds, a message says so. After
// the given patience the process ends with a message and status 1; 0 means never. World.Patience
// begins with the same time.
func Init(patience time.Duration) (*World, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	w := &World{Patience: patience, direct: 8, who: fmt.Sprintf("process %d on %s", os.Getpid(), host)}
	defer w.watch("all ranks to start")()
	after := 10 * time.Second
	if patience > 0 {
		after = min(after, patience/2)
	}
	defer time.AfterFunc(after, func() {
		fmt.Fprintf(os.Stderr, "mpi: %s has waited %v for all ranks to start: each process that the launcher started must call MPI_Init\n", w.who, after)
	}).Stop()

	var have, rank, size C.int
	if err := check("MPI_Init_thread", C.start(&have)); err != nil {
		return nil, err
	}
	if have < C.serialized() {
		return nil, errors.New("mpi: this library does not let threads take turns (MPI_THREAD_SERIALIZED)")
	}
	if err := errors.Join(check("MPI_Comm_rank", C.rank(&rank)), check("MPI_Comm_size", C.size(&size)), check("MPI_Barrier", C.barrier())); err != nil {
		return nil, err
	}
	w.rank, w.size = int(rank), int(size)
	w.who = fmt.Sprintf("rank %d", rank)
	return w, nil
}

// Rank implements cluster.Reducer.
func (w *World) Rank() int { return w.rank }

// Size implements cluster.Reducer.
func (w *World) Size() int { return w.size }

// most is the largest number of elements in a call of MPI. MPI counts them in a C int.
const most = 1 << 27

// SetDirect sets up to how many ranks send small messages directly. All ranks call it, and
// get the number of rank 0. Init sets 8. The largest number is 16, and 0 means never.
//
// With few ranks and messages of up to 60 kB, Sum and Broadcast use no algorithm of MPI:
// in Sum each rank sends its numbers to all others and adds what it receives, and in
// Broadcast rank 0 sends to all others. Either takes the delay of one message. The algorithms
// of MPI send less, but in log₂ Size messages one after the other.
func (w *World) SetDirect(ranks int) error {
	if ranks < 0 || ranks > C.most_direct {
		return fmt.Errorf("mpi: messages go directly up to %d ranks, expected 0 to %d", ranks, C.most_direct)
	}
	b := []byte{byte(ranks)}
	w.direct = 0
	err := w.Broadcast(b)
	w.direct = int(b[0])
	return err
}

// isDirect reports whether a message of the given number of bytes goes directly. The
// libraries of MPI send such a message at once. They announce larger ones, and wait for an
// answer.
func (w *World) isDirect(bytes int) bool { return w.size <= w.direct && bytes <= 60000 }

// Sum implements cluster.Reducer, directly (see SetDirect) or by MPI_Allreduce.
func (w *World) Sum(x []int64) error {
	defer w.watch("a sum")()
	if w.isDirect(8 * len(x)) {
		w.room = slices.Grow(w.room[:0], (w.size-1)*len(x))
		return check("a direct sum", C.sum_direct((*C.int64_t)(unsafe.SliceData(x)), C.int(len(x)), (*C.int64_t)(unsafe.SliceData(w.room)), C.int(w.rank), C.int(w.size)))
	}
	for ; len(x) > 0; x = x[min(most, len(x)):] {
		n := min(most, len(x))
		if err := check("MPI_Allreduce", C.sum((*C.int64_t)(unsafe.SliceData(x)), C.int(n))); err != nil {
			return err
		}
	}
	return nil
}

// Broadcast implements cluster.Reducer, directly (see SetDirect) or by MPI_Bcast.
func (w *World) Broadcast(b []byte) error {
	defer w.watch("a broadcast")()
	if w.isDirect(len(b)) {
		return check("a direct broadcast", C.broadcast_direct((*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.int(len(b)), C.int(w.rank), C.int(w.size)))
	}
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

// Abort ends the processes of all ranks, with the given status, after the time of forwarding.
func (w *World) Abort(status int) {
	time.Sleep(forwarding)
	C.give_up(C.int(status))
}

// forwarding is the time before a rank ends by itself, in which the program that started the
// ranks forwards what they have written. MPICH's would lose it otherwise.
const forwarding = 200 * time.Millisecond

// watch starts a timer, and returns the function that stops it.
func (w *World) watch(forWhat string) func() bool {
	if w.Patience == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(w.Patience, func() {
		// Another thread is inside MPI, so this one must not call MPI_Abort.
		fmt.Fprintf(os.Stderr, "mpi: %s has waited %v for %s: another rank or the link to it is lost\n", w.who, w.Patience, forWhat)
		time.Sleep(forwarding)
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
