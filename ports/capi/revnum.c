/* The functions of revnum.h. Each calls a function of Go, which writes its message to
 * the buffer of the thread. */
#include "revnum.h"
#include "_cgo_export.h"

#include <string.h>
#ifndef _WIN32 /* which has no fork */
#include <pthread.h>
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

int32_t rev_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n) {
	int32_t status = fork_status(message);
	return status ? status : goCall(kernel, pass, (rev_arg *)args, n, 1, NULL, message, sizeof message);
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
	if (!forked) goInterrupt();
}

int32_t rev_ba_snavely(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	int32_t status = fork_status(message);
	return status ? status : goBlock(0, (double *)feature, (double **)parameters, residuals, jacobians, message, sizeof message);
}

int32_t rev_ba_weighted(const double *feature, const double *const *parameters, double *residuals, double **jacobians) {
	int32_t status = fork_status(message);
	return status ? status : goBlock(1, (double *)feature, (double **)parameters, residuals, jacobians, message, sizeof message);
}
