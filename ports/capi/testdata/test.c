/* Calls of the library from C: values and gradients, wrong calls, eight threads, and
 * calls with random arguments. */
#include "../revnum_kernels.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static int failures;

#define CHECK(x) do { if (!(x)) { __sync_fetch_and_add(&failures, 1); fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #x, rev_last_error()); } } while (0)

/* *out += x·y, and the gradients times gout */
static int32_t dot(double *out, double *x, double *y, int64_t n, double gout, double *gx, double *gy) {
	rev_linalg_Dot k = {out, {x, n, 1}, {y, n, 1}}, g = {&gout, {gx, n, 1}, {gy, n, 1}};
	return rev_linalg_Dot_run(gx || gy ? REV_GRADIENT : REV_FORWARD, &k, &g, NULL, NULL);
}

static void values(void) {
	double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, gx[3] = {0}, gy[3] = {0}, out = 0;
	CHECK(dot(&out, x, y, 3, 2, gx, gy) == REV_OK);
	CHECK(out == 32 && gx[0] == 8 && gx[2] == 12 && gy[1] == 4);
	out = 0;
	rev_linalg_Norm2 norm = {&out, {x, 3, 0}};
	CHECK(rev_linalg_Norm2_run(REV_FORWARD, &norm, NULL, NULL, NULL) == REV_OK && fabs(out - sqrt(14)) < 1e-15);

	/* A product of matrices with a transposed one, in all passes, over float. */
	float a[6] = {1, 4, 2, 5, 3, 6}, b[3] = {1, 0, 2}, c[2] = {0}, gc[2] = {1, 1}, gb[3] = {0}, tb[3] = {1, 1, 1}, tc[2] = {0};
	rev_linalg_MatMul_float32 product = {.C = {c, 2, 1, 0}, .A = {a, 3, 2, 0}, .B = {b, 3, 1, 0}, .TransA = 1};
	rev_linalg_MatMul_float32 g = {.C = {gc, 2, 1, 0}, .B = {gb, 3, 1, 0}}, t = {.C = {tc, 2, 1, 0}, .B = {tb, 3, 1, 0}};
	CHECK(rev_linalg_MatMul_float32_run(REV_TANGENT, &product, NULL, &t, NULL) == REV_OK);
	CHECK(c[0] == 7 && c[1] == 16 && tc[0] == 6 && tc[1] == 15);
	CHECK(rev_linalg_MatMul_float32_run(REV_ADJOINT, &product, &g, NULL, NULL) == REV_OK);
	CHECK(c[0] == 0 && c[1] == 0 && gb[0] == 5 && gb[1] == 7 && gb[2] == 9);

	/* Strided and complex: the norm of every other number. */
	rev_complex z[4] = {{3, 4}, {9, 9}, {0, 0}, {9, 9}};
	double length = 0;
	rev_linalg_ComplexNorm2_complex128 strided = {&length, {z, 2, 2}};
	CHECK(rev_linalg_ComplexNorm2_complex128_run(REV_FORWARD, &strided, NULL, NULL, NULL) == REV_OK && length == 5);

	/* A sparse triangular system, and its gradient by the entries: L·x = b. */
	int64_t ptr[3] = {0, 1, 3}, ind[3] = {0, 0, 1};
	double l[3] = {2, 1, 4}, rhs[2] = {2, 5}, sol[2] = {0}, gsol[2] = {0, 1}, gl[3] = {0}, grhs[2] = {0};
	rev_sparse_TriSolve s = {.X = {sol, 2, 0}, .A = {l, 2, 2, ptr, ind}, .B = {rhs, 2, 0}};
	rev_sparse_TriSolve gs = {.X = {gsol, 2, 0}, .A = {.data = gl}, .B = {grhs, 2, 0}};
	CHECK(rev_sparse_TriSolve_run(REV_GRADIENT, &s, &gs, NULL, NULL) == REV_OK);
	CHECK(sol[0] == 1 && sol[1] == 1 && grhs[1] == 0.25 && grhs[0] == -0.125 && gl[2] == -0.25 && gl[1] == -0.25);
	s.A.rows = gs.A.rows = -1; /* nothing is read from ptr */
	CHECK(rev_sparse_TriSolve_run(REV_FORWARD, &s, NULL, NULL, NULL) == REV_ARGUMENT);
	rev_arg negative = rev_sparse(REV_OPERAND, 0, l, -1, 2, ptr, ind);
	CHECK(negative.len == 0 && rev_sparse(REV_OPERAND, 0, l, 2, 2, NULL, NULL).len == 0);
	s.A.rows = 2;
	ind[1] = 7;
	CHECK(rev_sparse_TriSolve_run(REV_FORWARD, &s, NULL, NULL, NULL) == REV_ARGUMENT && strstr(rev_last_error(), "column 7"));

	/* A block of bundle adjustment: a camera at the origin that sees (1, 2, -4). */
	double camera[9] = {0, 0, 0, 0, 0, 0, 2, 0, 0}, point[3] = {1, 2, -4}, feature[2] = {0.5, 1}, r[2], jp[6];
	const double *parameters[2] = {camera, point};
	double *jacobians[2] = {NULL, jp};
	CHECK(rev_ba_snavely(feature, parameters, r, jacobians) == REV_OK);
	CHECK(r[0] == 0 && r[1] == 0 && jp[0] == 0.5 && jp[1] == 0 && jp[2] == 0.125 && jp[5] == 0.25);
	CHECK(rev_ba_snavely(feature, parameters, r, NULL) == REV_OK);
}

static void errors(void) {
	double x[3] = {-1, 2, 3}, out = 0;
	CHECK(rev_abi_version() == REV_ABI_VERSION);
	CHECK(rev_kernel("revlinalg.Nothing[float64]") == -1 && strstr(rev_last_error(), "Nothing"));
	CHECK(rev_kernel(NULL) == -1);
	CHECK(rev_call(-1, REV_FORWARD, NULL, 0) == REV_ARGUMENT);
	CHECK(rev_call(0, REV_FORWARD, NULL, 5) == REV_ARGUMENT);
	CHECK(rev_call(0, 99, NULL, 0) == REV_ARGUMENT);
	CHECK(dot(&out, x, NULL, 3, 0, NULL, NULL) == REV_ARGUMENT && strstr(rev_last_error(), "Y of"));
	CHECK(dot(&out, NULL, x, 3, 0, NULL, NULL) == REV_ARGUMENT && strstr(rev_last_error(), "X of"));
	rev_arg positions[2] = {rev_scalar(REV_OPERAND, 0, &out), rev_matrix(REV_OPERAND, 2, x, 3, 1, 1)};
	CHECK(rev_call(rev_kernel("graphembed.Loss[float64]"), REV_FORWARD, positions, 2) == REV_ARGUMENT && strstr(rev_last_error(), "Graph of"));
	CHECK(rev_call(rev_kernel("revlinalg.RealFFT[complex128]"), REV_FORWARD, NULL, 0) == REV_ARGUMENT && strstr(rev_last_error(), "X of"));
	CHECK(dot(x, x, x, 3, 0, NULL, NULL) == REV_ARGUMENT && strstr(rev_last_error(), "overlap"));
	rev_arg log[2] = {rev_vector(REV_OPERAND, 0, &out, 1), rev_vector(REV_OPERAND, 1, x, 1)};
	CHECK(rev_call(rev_kernel("revlinalg.Log[float64]"), REV_FORWARD, log, 2) == REV_NO_RESULT);
	log[1].type = REV_FLOAT32;
	CHECK(rev_call(rev_kernel("revlinalg.Log[float64]"), REV_FORWARD, log, 2) == REV_ARGUMENT && strstr(rev_last_error(), "float32"));
	int64_t n = rev_rules_json(NULL, 0);
	char *json = malloc(n + 1);
	CHECK(n > 1000 && rev_rules_json(json, n + 1) == n && (int64_t)strlen(json) == n && strstr(json, "revlinalg.Dot[float64]"));
	free(json);
	char report[8];
	CHECK(rev_model("nothing", "{}", NULL, 0, report, 8) == REV_ARGUMENT);
	rev_arg points[1] = {rev_matrix(REV_OPERAND, 0, x, 3, 1, 1)};
	CHECK(rev_model("gmm.fit", "{\"components\": 1}", points, 1, report, 8) == REV_ARGUMENT && strstr(rev_last_error(), "fit"));
	CHECK(rev_model("gmm.fit", "{\"colour\": 1}", points, 1, report, 8) == REV_ARGUMENT && strstr(rev_last_error(), "colour"));
	CHECK(rev_model("gmm.score", "{}", points, 1, report, 8) == REV_ARGUMENT && strstr(rev_last_error(), "no mixture"));
	const char *mixture = "{\"mixture\": {\"weights\": [1], \"means\": [[0]], \"covariances\": [[[1]]]}}";
	double scores[3];
	rev_arg score[2] = {points[0], rev_vector(REV_OPERAND, 1, scores, 3)};
	CHECK(rev_model("gmm.score", mixture, score, 2, report, 8) == REV_OK && fabs(scores[1] - scores[0] + 1.5) < 1e-12);
	score[1].shape[0] = 2;
	CHECK(rev_model("gmm.score", mixture, score, 2, report, 8) == REV_ARGUMENT && !strcmp(rev_last_error(), "revnum: 2 log densities for 3 points"));
}

/* In a forked process every call ends with an error. */
static void forks(void) {
	pid_t child = fork();
	if (child == 0) {
		alarm(120); /* ends a process that hangs */
		double x[3] = {1, 2, 3}, out = 0;
		const double *parameters[2] = {x, x};
		failures = 0;
		CHECK(dot(&out, x, x, 3, 0, NULL, NULL) == REV_FORKED && strstr(rev_last_error(), "forked") && out == 0);
		CHECK(rev_run(NULL, 0, NULL, 0) == REV_FORKED);
		CHECK(rev_model("gmm.fit", "{}", NULL, 0, NULL, 0) == REV_FORKED);
		CHECK(rev_ba_snavely(x, parameters, x, NULL) == REV_FORKED && rev_ba_weighted(x, parameters, x, NULL) == REV_FORKED);
		CHECK(rev_kernel("revlinalg.Dot[float64]") == -1 && rev_rules_json(NULL, 0) == -1);
		rev_rules_hash();
		_exit(failures != 0);
	}
	int status = -1;
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static int64_t words(int64_t *to, const rev_arg *a, int n) {
	memcpy(to, a, n * sizeof *a);
	return n * sizeof *a / sizeof *to;
}

/* The inner product of a copy of the first of two buffers and the second. */
static int64_t dot_steps(int64_t *s) {
	int64_t at = 0, head[] = {rev_rules_hash(), 3, 1, 24, 24, 8, 24, REV_STEP_ZERO, 4, 2, 0, REV_STEP_COPY, 4, 3, 0};
	memcpy(s, head, sizeof head);
	at = sizeof head / sizeof *head;
	rev_arg a[3] = {rev_scalar(REV_OPERAND, 0, (double *)3), rev_vector(REV_OPERAND, 1, (double *)4, 3), rev_vector(REV_OPERAND, 2, (double *)2, 3)};
	int64_t call = at, start[] = {REV_STEP_CALL, 0, rev_kernel("revlinalg.Dot[float64]"), REV_FORWARD};
	memcpy(s + at, start, sizeof start);
	at += 4;
	at += words(s + at, a, 3);
	s[call + 1] = at - call;
	return at;
}

static void steps(void) {
	int64_t s[128];
	double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, out = 7;
	void *buffers[3] = {x, y, &out};
	int64_t n = dot_steps(s);
	CHECK(rev_run(s, n, buffers, 3) == REV_OK && out == 32);
	CHECK(rev_run(s, n, buffers, 2) == REV_ARGUMENT);
	CHECK(rev_run(s, 2, buffers, 3) == REV_ARGUMENT && rev_run(NULL, n, buffers, 3) == REV_ARGUMENT);
	s[0]++;
	CHECK(rev_run(s, n, buffers, 3) == REV_ARGUMENT && strstr(rev_last_error(), "another library"));
	s[0]--;
	rev_arg *second = (rev_arg *)(s + n) - 1;
	second->shape[0] = second->len = 4; /* of a buffer of 3 numbers */
	CHECK(rev_run(s, n, buffers, 3) == REV_ARGUMENT && strstr(rev_last_error(), "longer than buffer 1"));

	/* Inner products of the rows of x with y, which all share. */
	double rows[6] = {1, 2, 3, 4, 5, 6}, shared[2] = {10, 100}, dots[3];
	rev_arg a[3] = {rev_scalar(REV_OPERAND, 0, (double *)3), rev_vector(REV_OPERAND, 1, (double *)1, 2), rev_vector(REV_OPERAND, 2, (double *)2, 2)};
	int64_t dot = rev_kernel("revlinalg.Dot[float64]");
	int64_t b[128] = {rev_rules_hash(), 3, 0, 48, 16, 24, REV_STEP_ZERO, 4, 2, 0, REV_STEP_BATCH, 0, dot, REV_FORWARD, 3, 8, 16, 0};
	int64_t all = 18 + words(b + 18, a, 3);
	b[11] = all - 10;
	void *batch[3] = {rows, shared, dots};
	CHECK(rev_run(b, all, batch, 3) == REV_OK && dots[0] == 210 && dots[1] == 430 && dots[2] == 650);
	b[14] = 4; /* problems in memory of 3 */
	CHECK(rev_run(b, all, batch, 3) == REV_ARGUMENT && strstr(rev_last_error(), "longer than buffer"));
	b[14] = 3;
	b[16] = INT64_MAX;
	CHECK(rev_run(b, all, batch, 3) == REV_ARGUMENT && strstr(rev_last_error(), "longer than buffer"));
	b[16] = 16;
	b[15] = 0; /* one number for all inner products */
	CHECK(rev_run(b, all, batch, 3) == REV_ARGUMENT && strstr(rev_last_error(), "shared by all"));

	/* A copy is repeated where it goes. */
	int64_t copy[] = {rev_rules_hash(), 2, 0, 16, 48, REV_STEP_COPY, 4, 1, 0};
	void *to[2] = {shared, rows};
	CHECK(rev_run(copy, 9, to, 2) == REV_OK && rows[2] == 10 && rows[5] == 100);
	copy[4] = 40;
	CHECK(rev_run(copy, 9, to, 2) == REV_ARGUMENT);

	int32_t narrow[2] = {5, -6};
	int64_t wide[2], widen[] = {rev_rules_hash(), 2, 0, 8, 16, REV_STEP_WIDEN, 4, 1, 0};
	void *both[2] = {narrow, wide};
	CHECK(rev_run(widen, 9, both, 2) == REV_OK && wide[0] == 5 && wide[1] == -6);
	double z[4] = {1, 2, 3, 4};
	int64_t conjugate[] = {rev_rules_hash(), 1, 0, 32, REV_STEP_CONJUGATE, 4, 0, 0};
	void *one[1] = {z};
	CHECK(rev_run(conjugate, 8, one, 1) == REV_OK && z[0] == 1 && z[1] == -2 && z[3] == -4);
}

static void *worker(void *arg) {
	long seed = (long)arg;
	for (int i = 0; i < 2000; i++) {
		double x[2] = {(double)seed, i}, gx[2] = {0}, out = 0;
		CHECK(dot(&out, x, x, 2, 1, gx, NULL) == REV_OK && out == (double)seed * seed + (double)i * i && gx[1] == i);
		char name[32];
		snprintf(name, sizeof name, "no.%ld", seed);
		CHECK(rev_kernel(name) == -1 && strstr(rev_last_error(), name)); /* that of this thread */
	}
	return NULL;
}

static uint64_t state = 1;

static uint64_t next(void) { /* splitmix64 */
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int64_t number(void) {
	static const int64_t odd[] = {0, 1, 2, 3, 4, 6, 7, -1, 1000, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 58};
	return next() % 4 ? (int64_t)(next() % 8) : odd[next() % (sizeof odd / sizeof *odd)];
}

/* Random kernels, passes, lengths, strides and null pointers give a status. What lies
 * beyond the memory that an argument says it has stays as it was. */
static void fuzz(int kernels, int rounds) {
	enum { guard = 64, room = 512 };
	double *memory[24];
	for (int i = 0; i < 24; i++) {
		memory[i] = malloc((room + guard) * sizeof(double));
	}
	long ok = 0;
	for (int round = 0; round < rounds; round++) {
		rev_arg a[24];
		int64_t ints[24][16];
		int kernel = next() % kernels, axes = next() % 3, type = next() % 2 ? REV_FLOAT64 : 1 + (int)(next() % 5);
		int operands = 1 + next() % 6, whole = next() % 4; /* often there are only operands, and none is left out */
		int n = whole ? operands : (int)(next() % 24);
		int64_t rows = number(), cols = next() % 2 ? rows : number();
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < room + guard; j++) {
				memory[i][j] = next() % 64 ? (double)(next() % 2048) / 512 - 2 : NAN;
			}
			/* Often all arguments fit each other. */
			int alike = next() % 8;
			a[i] = rev_any(whole ? REV_OPERAND : (int)(next() % 5), i % operands, alike ? type : (int)(next() % 7), memory[i], alike && i % operands ? axes : (int)(next() % 4), 1, 1, 1);
			a[i].shape[0] = alike ? rows : number();
			a[i].shape[1] = alike ? cols : number();
			a[i].stride[0] = next() % 4 ? cols : number();
			a[i].len = next() % 4 ? room / 2 : number();
			if (next() % 6 == 0) a[i].part = REV_OPERAND;
			if (next() % 8 == 0) a[i].axes = next() % 3;
			if (next() % 8 == 0) a[i].stride[1] = number();
			if (a[i].len > room / 2) a[i].len = room / 2; /* complex numbers are two */
			if (next() % 16 == 0) a[i].data = NULL;
			if (next() % 16 == 0) a[i].data = (char *)memory[i] + next() % 16;
			if (next() % 8 == 0) a[i].data = memory[next() % n];
			a[i].value = next() % 2 ? (double)(next() % 3) : NAN;
			if (next() % 4 == 0 || (axes == 2 && next() % 2)) {
				for (int j = 0; j < 16; j++) {
					ints[i][j] = next() % 16 ? j / 2 : number();
				}
				a[i].ptr = ints[i];
				a[i].ind = next() % 16 ? ints[i] + 8 : NULL;
				a[i].ptr_len = next() % 4 ? ((uint64_t)a[i].shape[0] + 1) & 7 : number() & 7;
				a[i].ind_len = next() % 4 ? a[i].len & 7 : number() & 7;
			}
		}
		double *copy[24];
		for (int i = 0; i < n; i++) {
			copy[i] = memcpy(malloc(guard * sizeof(double)), memory[i] + room, guard * sizeof(double));
		}
		int status = rev_call(kernel, next() % 7, a, n);
		CHECK(status >= REV_OK && status <= REV_INTERNAL);
		ok += status == REV_OK;
		for (int i = 0; i < n; i++) {
			CHECK(memcmp(copy[i], memory[i] + room, guard * sizeof(double)) == 0);
			free(copy[i]);
		}
	}
	for (int i = 0; i < 24; i++) {
		free(memory[i]);
	}
	printf("%d calls with random arguments, %ld of them with a result\n", rounds, ok);
}

/* Steps of which some numbers are random give a status. The sizes of buffers
 * are left as they are, because they say how much memory there is. */
static void fuzz_steps(int rounds) {
	int64_t good[128], s[128];
	int64_t n = dot_steps(good);
	double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, out = 0;
	void *buffers[3] = {x, y, &out};
	int ok = 0;
	for (int round = 0; round < rounds; round++) {
		memcpy(s, good, sizeof s);
		for (int k = next() % 3; k >= 0; k--) {
			int64_t at = next() % n;
			if (at < 3 || at > 6) s[at] = next() % 4 ? number() : s[next() % n];
		}
		int status = rev_run(s, next() % 8 ? n : (int64_t)(next() % n), buffers, 3);
		CHECK(status >= REV_OK && status <= REV_INTERNAL);
		ok += status == REV_OK;
	}
	printf("%d lists of steps, %d of them with a result\n", rounds, ok);
}

static void overhead(void) {
	double x[8] = {1}, y[8] = {2}, gx[8] = {0}, gy[8] = {0}, out = 0;
	int rounds = 200000;
	struct timespec from, to;
	double best = 1e9;
	for (int k = 0; k < 5; k++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i < rounds; i++) {
			dot(&out, x, y, 8, 1, gx, gy);
		}
		clock_gettime(CLOCK_MONOTONIC, &to);
		double t = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / rounds;
		if (t < best) best = t;
	}
	printf("%.0f ns a call of the inner product with gradient\n", best);
}

enum { side = 300 };
static double a[side * side], b[side * side], c[side * side];
static _Atomic int ended;

/* Products until one is interrupted. Returns its status. */
static void *products(void *status) {
	rev_linalg_MatMul k = {.C = {c, side, side, 0}, .A = {a, side, side, 0}, .B = {b, side, side, 0}};
	for (int i = 0; i < 10000 && *(int32_t *)status == REV_OK; i++) *(int32_t *)status = rev_linalg_MatMul_run(REV_FORWARD, &k, NULL, NULL, NULL);
	ended = 1;
	return NULL;
}

static _Atomic int signals;

static void count_signal(int sig) {
	(void)sig;
	signals++;
}

static void (*older)(int);

static void chained_signal(int sig) {
	signals++;
	if (signals < 10) older(sig);
}

/* rev_interrupt and SIGINT end a call, and the next one goes on. */
static void interrupts(void) {
	signal(SIGINT, count_signal);
	rev_watch_interrupts();
	signal(SIGINT, count_signal); /* the next call sees that */
	for (int by_signal = 0; by_signal < 2; by_signal++) {
		int32_t status = REV_OK;
		pthread_t thread;
		ended = 0;
		pthread_create(&thread, NULL, products, &status);
		while (!ended) {
			usleep(1000);
			if (by_signal) kill(getpid(), SIGINT);
			else rev_interrupt();
		}
		pthread_join(thread, NULL);
		CHECK(status == REV_INTERRUPTED);
		CHECK(by_signal == (signals > 0));
		values();
	}
	/* A handler may call the one that was there before it. */
	for (int i = 0; i < 2; i++) {
		signals = 0;
		older = signal(SIGINT, chained_signal);
		values();
		raise(SIGINT);
		CHECK(signals == 2);
		signal(SIGINT, count_signal);
		values();
	}
	signal(SIGINT, SIG_DFL);
}

/* A thread that flushes subnormal numbers gets the results of others, and still flushes after a call. */
static void subnormal_numbers(void) {
#ifdef __SSE2__
	enum { flush = 0x8040 };
	unsigned int before = _mm_getcsr();
	double x[2] = {1e-310, 2e-310}, want = x[0] + x[1], out = 0;
	rev_linalg_Sum sum = {&out, {x, 2, 1}};
	_mm_setcsr(before | flush);
	int32_t status = rev_linalg_Sum_run(REV_FORWARD, &sum, NULL, NULL, NULL);
	unsigned int after = _mm_getcsr();
	_mm_setcsr(before);
	CHECK(status == REV_OK && (after & flush) == flush);
	CHECK(memcmp(&out, &want, sizeof out) == 0);
#endif
}

int main(int argc, char **argv) {
	values();
	subnormal_numbers();
	interrupts();
	errors();
	forks();
	steps();
	pthread_t threads[8];
	for (long i = 0; i < 8; i++) {
		pthread_create(&threads[i], NULL, worker, (void *)i);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
	}
	int kernels = 0;
	while (rev_call(kernels, 0, NULL, -1) == REV_ARGUMENT && !strstr(rev_last_error(), "no kernel")) {
		kernels++;
	}
	CHECK(kernels > 100);
	fuzz(kernels, argc > 1 ? atoi(argv[1]) : 20000);
	fuzz_steps(argc > 1 ? atoi(argv[1]) : 20000);
	if (argc > 2) overhead();
	printf("%d failures\n", failures);
	return failures != 0;
}
