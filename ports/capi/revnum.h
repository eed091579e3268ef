/* The kernels of revnum from C and C++.
 *
 *     go build -buildmode=c-shared -o librevnum.so ./ports/capi
 *     cc program.c -L. -lrevnum
 *
 * A kernel is called by its name and a pass, with operands that are the caller's
 * memory. No address is kept after a call, and nothing is allocated for the caller.
 * revnum_kernels.h has a type and a function for each kernel.
 * rev_rules_json, which is docs/rules.json, has the operands and parameters of all
 * kernels. docs/adjoints.md has the equations, and rev/kernel.go what each pass does.
 *
 * Every function may be called from any number of threads. Functions that return
 * int32_t return REV_OK or another status; rev_last_error then says why.
 * Calls of kernels, models and residual blocks round to nearest and keep subnormal numbers, also on
 * a thread that does not, which then goes on as before. Such a thread may load the library on Linux.
 * On other systems load it on a thread that rounds so and keeps them: what Go starts computes as that thread.
 *
 * Limits, which are those of Go in a shared library:
 *   - Do not fork after the library is loaded, but to exec. (Python: multiprocessing
 *     with "spawn".) In the child all calls fail, with REV_FORKED where they have a status.
 *   - One Go library in a process. Two of them may work, but their signal handlers
 *     and their garbage collectors do not know of each other.
 *   - No dlclose. It has no effect.
 */
#ifndef REVNUM_H
#define REVNUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. A library of another one must not be called. */
#define REV_ABI_VERSION 7

/* The room for the message of a call, with the zero at its end. */
#define REV_MESSAGE_SIZE 1024

enum rev_status {
	REV_OK = 0,
	REV_ARGUMENT = 1,    /* a wrong operand or parameter: nothing was written */
	REV_NO_RESULT = 2,   /* the data has no result, such as a singular matrix: nothing was written */
	REV_UNSUPPORTED = 3, /* the kernel does not have the pass: nothing was written */
	REV_INTERNAL = 4,    /* the kernel failed in another way: outputs may have changed */
	REV_FORKED = 5,      /* the process was forked after the library was loaded: nothing was written */
	REV_INTERRUPTED = 6  /* rev_interrupt, or SIGINT, ended the call: outputs may have changed */
};

enum rev_pass { /* of a kernel y += f(x) with the Jacobian J */
	REV_FORWARD = 0,         /* y += f(x) */
	REV_INVERSE = 1,         /* y -= f(x) */
	REV_ADJOINT = 2,         /* y -= f(x), gx += J'·gy */
	REV_TANGENT = 3,         /* y += f(x), ty += J·tx */
	REV_ADJOINT_TANGENT = 4, /* the inverse of REV_TANGENT, with gx, and gtx += J'·gty + (dJ[tx])'·gy */
	REV_GRADIENT = 5         /* y += f(x), gx += J'·gy */
};

enum rev_part {
	REV_OPERAND = 0,           /* x and y */
	REV_COTANGENT = 1,         /* gx and gy */
	REV_TANGENT_PART = 2,      /* tx and ty */
	REV_COTANGENT_TANGENT = 3, /* gtx and gty */
	REV_PARAMETER = 4          /* value is used, and nothing else */
};

enum rev_type {
	REV_FLOAT64 = 1,
	REV_FLOAT32 = 2,
	REV_Q43 = 3,        /* int64_t, in units of 2^-43 */
	REV_COMPLEX128 = 4, /* double[2] */
	REV_INT = 5         /* int64_t */
};

/* An operand, a derivative or a parameter. What is not among the arguments of a call is
 * left out: a cotangent that is left out is not computed. */
typedef struct rev_arg {
	void *data;        /* the first element; NULL is left out */
	int64_t len;       /* elements from data to the end of its memory */
	int64_t shape[2];  /* rows and columns; the length of a vector */
	int64_t stride[2]; /* from row to row and from column to column, in elements */
	const int64_t *ptr; /* of a sparse matrix, whose entries are data: those of row i are from ptr[i] on, */
	const int64_t *ind; /* and these are the columns of the entries */
	int64_t ptr_len, ind_len;
	double value;  /* of a parameter; a flag is 0 or 1. In a batch of rev_run, 1 of an operand or derivative without gaps sets it to 0 first, also where an error comes after */
	int32_t part;  /* enum rev_part */
	int32_t index; /* which operand or parameter, in the order of rev_rules_json */
	int32_t type;  /* enum rev_type */
	int32_t axes;  /* 0 of a number, 1 of a vector, 2 of a matrix */
} rev_arg;

#if defined(_WIN32) && defined(REV_BUILD) /* a DLL shows what is named so when it is built */
#define REV_API __declspec(dllexport)
#else
#define REV_API
#endif

/* rev_abi_version returns the REV_ABI_VERSION of the library. */
REV_API int32_t rev_abi_version(void);

/* rev_last_error returns the message of the last call in this thread that did not
 * return REV_OK. It is valid until the next call in this thread. */
REV_API const char *rev_last_error(void);

/* rev_rules_json copies the list of kernels to buf, which has room for size bytes, with
 * a zero at the end. It returns the length without the zero: if that is not less than
 * size, nothing was copied. buf may be NULL if size is 0. It returns -1 after a fork. */
REV_API int64_t rev_rules_json(char *buf, int64_t size);

/* rev_kernel returns the number of the kernel with a name such as
 * "revlinalg.Dot[float64]", or -1. The number is not the same in all versions. */
REV_API int32_t rev_kernel(const char *name);

/* rev_call makes a pass over a kernel. */
REV_API int32_t rev_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n);

/* rev_rules_hash returns a number that changes with the list of kernels and REV_ABI_VERSION.
 * Steps, and numbers of kernels and operands, that somebody kept are valid where the hash is the same. */
REV_API int64_t rev_rules_hash(void);

/* rev_run makes a list of steps on n buffers, and stops at the first that fails. The
 * list is numbers:
 *
 *     rev_rules_hash(), n, number of temporary buffers,
 *     the size in bytes of each buffer, and of each temporary buffer,
 *     the steps: each is its kind, its own length in numbers, and two numbers
 *
 * Buffers have numbers from 0, and temporary ones follow those of the caller. After the
 * first four numbers, a call has its rev_args. In their places of data, ptr and ind are
 * numbers of buffers plus 1, and 0 for NULL. An argument that is longer than its buffer is
 * an error. A batch has, before the rev_args of its first problem, the number of problems and
 * for each argument how many bytes its data is after that of the problem before: 0 if all
 * problems share it. The structure of a sparse matrix is shared, and what is written must not be. Only
 * the first problem is checked, so buffers must not overlap. */
REV_API int32_t rev_run(const int64_t *steps, int64_t words, void *const *buffers, int64_t n);

enum rev_step {
	REV_STEP_CALL = 0,      /* kernel, pass: rev_call */
	REV_STEP_ZERO = 1,      /* buffer, 0: all bytes are 0 */
	REV_STEP_COPY = 2,      /* to, from; as often as it fits into a buffer that is longer */
	REV_STEP_CONJUGATE = 3, /* buffer, 0: complex numbers are conjugated */
	REV_STEP_WIDEN = 4,     /* to, from: int32_t to int64_t */
	REV_STEP_BATCH = 5      /* kernel, pass: rev_call for each of many problems */
};

/* rev_xla is a handler of XLA's foreign function interface. It makes the steps of
 * rev_run that are its only attribute, an array of int64, on the arguments and then the
 * results. ports/python registers it with JAX. */
REV_API void *rev_xla(void *frame);

/* rev_python returns a type of Python, a subclass of base, or NULL with an exception of Python. Its instances
 * call kernels on arrays of NumPy: those that the method keep was told of by the library, and others by the
 * method slow. functions are those of CPython that rev_python_names lists, with a space after each, and numpy is
 * NumPy's table of functions, of the ABI 0x1000009 or 0x2000000. fail raises the exception of a status. A closed that is not 0 sends all calls to
 * slow. The thread has Python's lock. Call this once: rev_python_names
 * returns NULL after that. */
REV_API const char *rev_python_names(void);
REV_API void *rev_python(void *const *functions, void *const *numpy, void *base, void *fail, const int32_t *closed);

/* rev_python_torch is rev_python, after that, for tensors of PyTorch. dlpack is PyTorch's DLPackExchangeAPI, and
 * objects is a tuple that goes with this version of the library: see _quick of
 * ports/python/revnum/torch. */
REV_API void *rev_python_torch(const void *dlpack, void *objects, void *base);

/* rev_model fits a model, or applies one. task is such as "gmm.fit". options is a JSON
 * object, and args are arrays that the task reads or writes, by their index. What else
 * there is to say is copied to report as a JSON object, with a zero at the end; it is an
 * error if it does not fit in size bytes. ports/capi/models.go has the tasks. */
REV_API int32_t rev_model(const char *task, const char *options, const rev_arg *args, int64_t n, char *report, int64_t size);

/* rev_interrupt ends the calls that other threads run now before their next block of work, mostly
 * within milliseconds. A call that begins meanwhile waits for their end, and then runs. */
REV_API void rev_interrupt(void);

/* rev_watch_interrupts lets SIGINT, or Ctrl-C on Windows, end the calls that run then. It puts a
 * handler before the one of your program, which is called as before. The next call does so again if your
 * program has changed its handler, for up to four different ones. An ignored SIGINT stays ignored. */
REV_API void rev_watch_interrupts(void);

/* rev_ba_snavely evaluates an observation of bundle adjustment as a residual block of
 * Ceres is evaluated: parameters are those of a camera (9) and of a point (3), residuals
 * are 2, and jacobians, if not NULL, has a matrix by rows for each block of parameters,
 * or NULL. rev_ba_weighted is the same for a camera (11), a point (3) and a weight (1),
 * with 3 residuals. See revmodels/ba for the cameras. */
REV_API int32_t rev_ba_snavely(const double *feature, const double *const *parameters, double *residuals, double **jacobians);
REV_API int32_t rev_ba_weighted(const double *feature, const double *const *parameters, double *residuals, double **jacobians);

#ifdef __cplusplus
}
#define REV_STATIC_INLINE inline
#else
#define REV_STATIC_INLINE static inline
#endif

/* Arguments of each kind. */

REV_STATIC_INLINE rev_arg rev_any(int32_t part, int32_t index, int32_t type, void *data, int32_t axes, int64_t rows, int64_t cols, int64_t stride) {
	rev_arg a;
	a.data = data;
	a.shape[0] = rows;
	a.shape[1] = cols;
	a.stride[0] = stride;
	a.stride[1] = 1;
	a.len = axes == 0 ? 1 : rows == 0 || cols == 0 ? 0 : (rows - 1) * stride + cols;
	a.ptr = a.ind = NULL;
	a.ptr_len = a.ind_len = 0;
	a.value = 0;
	a.part = part;
	a.index = index;
	a.type = type;
	a.axes = axes;
	if (data == NULL) a.len = 0;
	return a;
}

/* Operands of double. revnum_kernels.h has typed functions for all kernels. */

REV_STATIC_INLINE rev_arg rev_scalar(int32_t part, int32_t index, double *x) {
	return rev_any(part, index, REV_FLOAT64, x, 0, 1, 1, 1);
}

REV_STATIC_INLINE rev_arg rev_vector(int32_t part, int32_t index, double *x, int64_t n) {
	return rev_any(part, index, REV_FLOAT64, x, 1, n, 1, 1);
}

REV_STATIC_INLINE rev_arg rev_matrix(int32_t part, int32_t index, double *x, int64_t rows, int64_t cols, int64_t stride) {
	return rev_any(part, index, REV_FLOAT64, x, 2, rows, cols, stride);
}

REV_STATIC_INLINE rev_arg rev_sparse(int32_t part, int32_t index, double *x, int64_t rows, int64_t cols, const int64_t *ptr, const int64_t *ind) {
	rev_arg a = rev_any(part, index, REV_FLOAT64, x, 2, rows, cols, 1);
	a.ptr = ptr;
	a.ptr_len = rows + 1;
	a.ind = ind;
	a.ind_len = a.len = ptr != NULL && rows >= 0 ? ptr[rows] : 0;
	return a;
}

REV_STATIC_INLINE rev_arg rev_parameter(int32_t index, double value) {
	rev_arg a = rev_any(REV_PARAMETER, index, 0, NULL, 0, 0, 0, 0);
	a.value = value;
	return a;
}

#endif
