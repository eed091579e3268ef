/* The functions of revnum.h. Each calls a function of Go, which writes its message to
 * the buffer of the thread. */
#define _GNU_SOURCE /* SA_ONSTACK */
#include "revnum.h"
#include "_cgo_export.h"

#include <stdatomic.h>
#include <string.h>
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

static _Thread_local char message[REV_MESSAGE_SIZE];

int32_t rev_abi_version(void) { return REV_ABI_VERSION; }

const char *rev_last_error(void) { return message; }

int64_t rev_rules_json(char *buf, int64_t size) { return fork_status(message) ? -1 : goRulesJSON(buf, size); }

int32_t rev_kernel(const char *name) {
	return fork_status(message) ? -1 : goKernel((char *)name, message, sizeof message);
}

/* The calls that run now, and how many of those that an interrupt is to end have not ended. Go
 * looks at the flag before each block of its work. */
static _Atomic int32_t running, ending;
static _Atomic int32_t *_Atomic flag;

/* What a handler of signals may do. */
static void interrupt_calls(void) {
	_Atomic int32_t *f = flag;
	int32_t n = running;
	if (f == NULL || n <= 0) return;
	ending = n;
	*f = 1;
}

#ifdef _WIN32
static BOOL WINAPI on_interrupt(DWORD event) {
	if (event == CTRL_C_EVENT) interrupt_calls();
	return FALSE; /* others handle it too */
}

static void watch(void) {}

void rev_watch_interrupts(void) {
	flag = (_Atomic int32_t *)goInterruptFlag();
	SetConsoleCtrlHandler(on_interrupt, TRUE);
}
#else
static _Atomic int watching;
static struct sigaction before;

static void on_interrupt(int sig, siginfo_t *info, void *context) {
	interrupt_calls();
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(sig, info, context);
	} else if (before.sa_handler == SIG_DFL) {
		sigaction(sig, &before, NULL);
		raise(sig);
	} else if (before.sa_handler != SIG_IGN) {
		before.sa_handler(sig);
	}
}

/* Puts on_interrupt before the handler that there is. Others may have set one since the last call. */
static void watch(void) {
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction now;
	if (!watching || sigaction(SIGINT, NULL, &now) != 0) return;
	int ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt;
	if (ours || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN) || pthread_mutex_trylock(&one) != 0) return;
	before = now;
	now.sa_sigaction = on_interrupt;
	now.sa_flags |= SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGINT, &now, NULL);
	pthread_mutex_unlock(&one);
}

void rev_watch_interrupts(void) {
	if (forked) return;
	flag = (_Atomic int32_t *)goInterruptFlag();
	watching = 1;
	watch();
}
#endif

/* A call of a kernel. steps.c makes calls too. */
int32_t make_call(int32_t kernel, int32_t pass, rev_arg *args, int64_t n, int64_t count, int64_t *moves, char *text) {
	watch();
	running++;
	int32_t status = goCall(kernel, pass, args, n, count, moves, text, REV_MESSAGE_SIZE);
	running--;
	_Atomic int32_t *f = flag;
	if (f != NULL && *f && --ending <= 0) *f = 0;
	return status;
}

int32_t rev_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n) {
	int32_t status = fork_status(message);
	return status ? status : make_call(kernel, pass, (rev_arg *)args, n, 1, NULL, message);
}

int32_t run_steps(const int64_t *steps, int64_t words, void *const *buffers, const int64_t *bytes, int64_t n, char *text); /* steps.c */

int32_t rev_run(const int64_t *steps, int64_t words, void *const *buffers, int64_t n) {
	return run_steps(steps, words, buffers, NULL, n, message);
}

int32_t rev_model(const char *task, const char *options, const rev_arg *args, int64_t n, char *report, int64_t size) {
	int32_t status = fork_status(message);
	return status ? status : goModel((char *)task, (char *)options, (rev_arg *)args, n, report, size, message, sizeof message);
}

void rev_interrupt(void) {
	if (forked) return;
	flag = (_Atomic int32_t *)goInterruptFlag();
	interrupt_calls();
	goInterrupt();
}

int32_t rev_ba_snavely(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	int32_t status = fork_status(message);
	return status ? status : goBlock(0, (double *)feature, (double **)parameters, residuals, jacobians, message, sizeof message);
}

int32_t rev_ba_weighted(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	int32_t status = fork_status(message);
	return status ? status : goBlock(1, (double *)feature, (double **)parameters, residuals, jacobians, message, sizeof message);
}
