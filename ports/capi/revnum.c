/* The functions of revnum.h. Each calls a function of Go, which writes its message to
 * the buffer of the thread. */
#define _GNU_SOURCE /* SA_ONSTACK */
#include "revnum.h"
#include "_cgo_export.h"

#include <stdatomic.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif
#ifdef _WIN32
#include <windows.h>
#else /* which has forks and signals */
#include <pthread.h>
#include <signal.h>
#endif

/* The threads of Go do not survive a fork, so a call of Go in the child would never end. */
static int forked;

#ifndef _WIN32
static void set_forked(void) { forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, set_forked); }
#endif

int32_t fork_status(char *text) {
	if (!forked) return REV_OK;
	strcpy(text, "revnum: the process was forked after the library was loaded, and cannot call it; start processes by exec (in Python, multiprocessing with \"spawn\")");
	return REV_FORKED;
}

void watch(void);

static _Thread_local char message[REV_MESSAGE_SIZE];

int32_t rev_abi_version(void) { return REV_ABI_VERSION; }

const char *rev_last_error(void) { return message; }

/* Some threads flush subnormal numbers, as those of XLA do, or round in another way. Threads of Go do neither, and those that
 * Go starts in a call do as the caller. So a call computes as a process begins, and then the caller goes on as before.
 * On x86 the register MXCSR says so. The functions of fenv.h do not look at it on Windows. */
#ifdef __SSE2__
typedef unsigned int environment;

static environment begin(void) {
	enum { flags = 0x3f, usual = 0x1f80 };
	environment before = _mm_getcsr();
	if ((before & ~flags) != usual) _mm_setcsr(usual);
	return before;
}

static void end(environment before) {
	if (_mm_getcsr() != before) _mm_setcsr(before);
}
#else
typedef fenv_t environment;

static environment begin(void) {
	environment before;
	fegetenv(&before);
	fesetenv(FE_DFL_ENV);
	return before;
}

static void end(environment before) { fesetenv(&before); }
#endif

#ifdef __linux__
/* Go starts its first thread while the library is loaded, in a constructor without a priority. Those with one come
 * before it, and others of this file after it, as the object with Go's is the first that the linker gets. So this thread
 * computes as a process begins, whatever the thread that loads the library does. */
static environment at_load;

__attribute__((constructor(101))) static void before_go(void) { at_load = begin(); }

__attribute__((constructor)) static void after_go(void) { end(at_load); }
#endif

int64_t rev_rules_json(char *buf, int64_t size) {
	if (fork_status(message)) return -1;
	environment e = begin();
	int64_t n = goRulesJSON(buf, size);
	end(e);
	return n;
}

/* What rev_rules_hash returns. */
int64_t rules_hash(void) {
	environment e = begin();
	int64_t hash = goRulesHash();
	end(e);
	return hash;
}

int32_t rev_kernel(const char *name) {
	if (fork_status(message)) return -1;
	environment e = begin();
	int32_t kernel = goKernel((char *)name, message, sizeof message);
	end(e);
	return kernel;
}

/* parallel.Calls, which is NULL before the first call that may be interrupted. */
static _Atomic int32_t *_Atomic calls;

static void find_calls(void) {
	if (calls == NULL) calls = (_Atomic int32_t *)goCalls();
}

/* What a handler of signals may do: ends the calls that run now, if there are any. */
static void interrupt_calls(void) {
	_Atomic int32_t *c = calls;
	if (c == NULL) return;
	int32_t n = *c;
	while (n > 0 && !atomic_compare_exchange_weak(c, &n, n + INT32_MIN)) continue;
}

#ifdef _WIN32
static BOOL WINAPI on_interrupt(DWORD event) {
	if (event == CTRL_C_EVENT) interrupt_calls();
	return FALSE; /* others handle it too */
}

void watch(void) {}

void rev_watch_interrupts(void) {
	find_calls();
	SetConsoleCtrlHandler(on_interrupt, TRUE);
}
#else
/* Handlers of SIGINT, each of which calls the one of the program that it was put before. A program
 * that changes its handler gets another of ours before it, because its new handler may call what
 * it found, which is one of ours. */
enum { handlers = 4 };
static struct sigaction before[handlers];

static void on_interrupt(const struct sigaction *b, int sig, siginfo_t *info, void *context) {
	interrupt_calls();
	if (b->sa_flags & SA_SIGINFO) {
		b->sa_sigaction(sig, info, context);
	} else if (b->sa_handler == SIG_DFL) {
		sigaction(sig, b, NULL);
		raise(sig);
	} else if (b->sa_handler != SIG_IGN) {
		b->sa_handler(sig);
	}
}

static void handler0(int sig, siginfo_t *info, void *context) { on_interrupt(&before[0], sig, info, context); }
static void handler1(int sig, siginfo_t *info, void *context) { on_interrupt(&before[1], sig, info, context); }
static void handler2(int sig, siginfo_t *info, void *context) { on_interrupt(&before[2], sig, info, context); }
static void handler3(int sig, siginfo_t *info, void *context) { on_interrupt(&before[3], sig, info, context); }
static void (*const ours[handlers])(int, siginfo_t *, void *) = {handler0, handler1, handler2, handler3};

/* Whether a calls the handler of b. */
static int same(const struct sigaction *a, const struct sigaction *b) {
	if ((a->sa_flags ^ b->sa_flags) & SA_SIGINFO) return 0;
	return a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler;
}

static _Atomic int watching;

/* Puts a handler of ours before the one that there is. Others may have set one since the last call. That takes as
 * long as a short call, and nobody interrupts one. */
void watch(void) {
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	static int used;
	struct sigaction now;
	if (!watching || forked || sigaction(SIGINT, NULL, &now) != 0) return;
	if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN) return;
	for (int i = 0; i < handlers && now.sa_flags & SA_SIGINFO; i++) {
		if (now.sa_sigaction == ours[i]) return;
	}
	if (pthread_mutex_trylock(&one) != 0) return;
	int i = 0;
	while (i < used && !same(&before[i], &now)) i++;
	if (i == used && used < handlers) before[used++] = now;
	if (i < used) {
		now.sa_sigaction = ours[i];
		now.sa_flags |= SA_SIGINFO | SA_ONSTACK;
		sigaction(SIGINT, &now, NULL);
	}
	pthread_mutex_unlock(&one);
}

void rev_watch_interrupts(void) {
	if (forked) return;
	find_calls();
	watching = 1;
	watch();
}
#endif

/* A call of a kernel. steps.c and python.c make calls too. */
int32_t make_call(int32_t kernel, int32_t pass, rev_arg *args, int64_t n, int64_t count, int64_t *moves, char *text) {
	environment e = begin();
	int32_t status = goCall(kernel, pass, args, n, count, moves, text, REV_MESSAGE_SIZE);
	end(e);
	return status;
}

/* rev_call without watch. */
int32_t short_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n) {
	int32_t status = fork_status(message);
	return status ? status : make_call(kernel, pass, (rev_arg *)args, n, 1, NULL, message);
}

/* A call to be made again on other memory, by one thread at a time; or NULL for one that is not kept. python.c and
 * steps.c keep calls. */
void *keep_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n) {
	char text[REV_MESSAGE_SIZE];
	if (fork_status(text)) return NULL;
	environment e = begin();
	void *call = (void *)goKeep(kernel, pass, (rev_arg *)args, n);
	end(e);
	return call;
}

/* Makes a call without watch. data are the addresses of its arguments. */
int32_t call_kept(void *call, void *const *data) {
	int32_t status = fork_status(message);
	if (status) return status;
	environment e = begin();
	status = goCallKept(call, (void **)data, message, sizeof message);
	end(e);
	return status;
}

void forget_call(void *call) {
	if (call == NULL || forked) return;
	environment e = begin();
	goForget(call);
	end(e);
}

int32_t rev_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n) {
	watch();
	return short_call(kernel, pass, args, n);
}

int32_t run_steps(const int64_t *steps, int64_t words, void *const *buffers, const int64_t *bytes, int64_t n, char *text); /* steps.c */

/* rev_run without watch. */
int32_t short_run(const int64_t *steps, int64_t words, void *const *buffers, int64_t n) {
	return run_steps(steps, words, buffers, NULL, n, message);
}

struct kept_steps;
int32_t run_kept(struct kept_steps *k, void *const *buffers, char *text); /* steps.c */

int32_t short_run_kept(struct kept_steps *k, void *const *buffers) { return run_kept(k, buffers, message); }

int32_t rev_run(const int64_t *steps, int64_t words, void *const *buffers, int64_t n) {
	watch();
	return short_run(steps, words, buffers, n);
}

int32_t rev_model(const char *task, const char *options, const rev_arg *args, int64_t n, char *report, int64_t size) {
	int32_t status = fork_status(message);
	if (status) return status;
	watch();
	environment e = begin();
	status = goModel((char *)task, (char *)options, (rev_arg *)args, n, report, size, message, sizeof message);
	end(e);
	return status;
}

void rev_interrupt(void) {
	if (forked) return;
	find_calls();
	interrupt_calls();
	environment e = begin();
	goInterrupt();
	end(e);
}

static int32_t block(int weighted, const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	int32_t status = fork_status(message);
	if (status) return status;
	environment e = begin();
	status = goBlock(weighted, (double *)feature, (double **)parameters, residuals, jacobians, message, sizeof message);
	end(e);
	return status;
}

int32_t rev_ba_snavely(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	return block(0, feature, parameters, residuals, jacobians);
}

int32_t rev_ba_weighted(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	return block(1, feature, parameters, residuals, jacobians);
}
