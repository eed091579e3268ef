/* rev_run and rev_xla: calls that are written down once and then made on other memory. */
#include "revnum.h"
#include "_cgo_export.h"
#include "xla.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* revnum.c */
int32_t fork_status(char *text);
void watch(void);
int64_t rules_hash(void);
int32_t make_call(int32_t kernel, int32_t pass, rev_arg *args, int64_t n, int64_t count, int64_t *moves, char *text);
void *keep_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n);
int32_t call_kept(void *call, void *const *data);
void forget_call(void *call);

int64_t rev_rules_hash(void) {
	static _Atomic int64_t known;
	int64_t hash = atomic_load_explicit(&known, memory_order_relaxed);
	char text[REV_MESSAGE_SIZE];
	if (hash == 0 && !fork_status(text)) {
		hash = rules_hash();
		atomic_store_explicit(&known, hash, memory_order_relaxed);
	}
	return hash;
}

enum { argument_words = sizeof(rev_arg) / sizeof(int64_t), max_buffers = 256, max_args = 256, alignment = 64 };

static int32_t refuse(char *text, const char *why, int64_t which) {
	snprintf(text, REV_MESSAGE_SIZE, "revnum: steps: %s %lld", why, (long long)which);
	return REV_ARGUMENT;
}

/* The buffers of steps: those of the caller, and then temporary ones. */
typedef struct {
	void *at[max_buffers];
	const int64_t *bytes;
	int64_t n;
} memory;

/* The bytes of an element of a rev_type, and the most there are for what is none. */
static int64_t element(int32_t type) {
	static const int64_t bytes[] = {16, 8, 4, 8, 16, 8};
	return type < 0 || type > REV_INT ? 16 : bytes[type];
}

/* Reads the arguments of a call or a batch of calls. A batch has count, and n numbers moves, before its arguments. */
static int32_t read_arguments(const memory *m, const int64_t *step, int64_t words, int batch, rev_arg *args, char *text) {
	int64_t n = (words - batch) / (argument_words + batch);
	if (words != n * (argument_words + batch) + batch || n > max_args) return refuse(text, "a call of words:", words);
	int64_t count = batch ? step[4] : 1; /* which is there now */
	const int64_t *moves = step + 5;
	if (count < 0) return refuse(text, "a batch of", count);
	memcpy(args, step + 4 + batch * (1 + n), (size_t)n * sizeof *args);
	for (int64_t i = 0; i < n; i++) {
		const void **place[3] = {(const void **)&args[i].data, (const void **)&args[i].ptr, (const void **)&args[i].ind};
		const int64_t elements[3] = {args[i].len, args[i].ptr_len, args[i].ind_len};
		const int64_t bytes[3] = {element(args[i].type), sizeof(int64_t), sizeof(int64_t)};
		for (int k = 0; k < 3; k++) {
			int64_t b = (int64_t)(intptr_t)*place[k];
			if (b < 0 || b > m->n) return refuse(text, "no buffer", b - 1);
			int64_t move = batch && k == 0 && count > 1 ? moves[i] : 0, room = b > 0 ? m->bytes[b - 1] : 0;
			if (move < 0 || (move > 0 && count - 1 > room / move)) return refuse(text, "a batch is longer than buffer", b - 1);
			if (b > 0 && elements[k] > (room - move * (count - 1)) / bytes[k]) return refuse(text, "an argument is longer than buffer", b - 1);
			*place[k] = b == 0 ? NULL : m->at[b - 1];
		}
	}
	return REV_OK;
}

/* A call or a batch of calls. */
static int32_t call(const memory *m, const int64_t *step, int64_t words, int batch, char *text) {
	rev_arg args[max_args];
	if (batch && words > 0 && step[4] == 0) return REV_OK; /* no problem, so there is no memory of a first one either */
	int32_t status = read_arguments(m, step, words, batch, args, text);
	if (status != REV_OK) return status;
	int64_t n = (words - batch) / (argument_words + batch);
	return make_call((int32_t)step[2], (int32_t)step[3], args, n, batch ? step[4] : 1, batch ? (int64_t *)step + 5 : NULL, text);
}

/* rev_run, for buffers whose sizes are known or bytes is NULL. */
int32_t run_steps(const int64_t *steps, int64_t words, void *const *buffers, const int64_t *bytes, int64_t n, char *text) {
	memory m;
	int32_t status = fork_status(text);
	if (status) return status;
	if (steps == NULL || words < 3 || steps[0] != rev_rules_hash()) return refuse(text, "they are of another library; words:", words);
	int64_t temporaries = steps[2], room = alignment;
	if (n != steps[1] || n < 0 || temporaries < 0 || temporaries > max_buffers || n > max_buffers - temporaries || words < 3 + n + temporaries) {
		return refuse(text, "buffers:", n);
	}
	m.n = n + temporaries;
	m.bytes = steps + 3;
	for (int64_t i = 0; i < m.n; i++) {
		if (m.bytes[i] < 0 || m.bytes[i] > (int64_t)1 << 48 || (i < n && bytes != NULL && bytes[i] != m.bytes[i])) return refuse(text, "a wrong size of buffer", i);
		if (i < n && m.bytes[i] > 0 && buffers[i] == NULL) return refuse(text, "no address of buffer", i);
		if (i >= n) room += (m.bytes[i] + alignment) / alignment * alignment;
	}
	char *temporary = malloc((size_t)room);
	if (temporary == NULL) return refuse(text, "no memory, bytes:", room);
	char *next = temporary;
	for (int64_t i = 0; i < m.n; i++) {
		if (i < n) {
			/* A buffer without elements may have no address. */
			m.at[i] = m.bytes[i] == 0 ? temporary : buffers[i];
		} else {
			m.at[i] = next;
			next += (m.bytes[i] + alignment) / alignment * alignment;
		}
	}
	const int64_t *step = steps + 3 + m.n, *end = steps + words;
	while (status == REV_OK && step < end) {
		if (end - step < 4 || step[1] < 4 || step[1] > end - step) {
			status = refuse(text, "a step of words:", end - step);
			break;
		}
		int64_t op = step[0], to = step[2], from = step[3];
		int calls = op == REV_STEP_CALL || op == REV_STEP_BATCH;
		if (!calls && (to < 0 || to >= m.n || from < 0 || from >= m.n)) {
			status = refuse(text, "a step of kind", op);
			break;
		}
		switch (op) {
		case REV_STEP_CALL:
		case REV_STEP_BATCH:
			status = call(&m, step, step[1] - 4, op == REV_STEP_BATCH, text);
			break;
		case REV_STEP_ZERO:
			memset(m.at[to], 0, (size_t)m.bytes[to]);
			break;
		case REV_STEP_COPY:
			if (m.bytes[from] == 0 ? m.bytes[to] != 0 : m.bytes[to] % m.bytes[from] != 0) {
				status = refuse(text, "a copy to buffer", to);
				break;
			}
			for (int64_t i = 0; i < m.bytes[to] && m.at[to] != m.at[from]; i += m.bytes[from]) memcpy((char *)m.at[to] + i, m.at[from], (size_t)m.bytes[from]);
			break;
		case REV_STEP_CONJUGATE:
			for (int64_t i = 1; i < m.bytes[to] / (int64_t)sizeof(double); i += 2) ((double *)m.at[to])[i] *= -1;
			break;
		case REV_STEP_WIDEN:
			if (m.bytes[to] != 2 * m.bytes[from]) {
				status = refuse(text, "wider numbers to buffer", to);
				break;
			}
			for (int64_t i = 0; i < m.bytes[from] / (int64_t)sizeof(int32_t); i++) ((int64_t *)m.at[to])[i] = ((const int32_t *)m.at[from])[i];
			break;
		default:
			status = refuse(text, "no step of kind", op);
		}
		step += step[1];
	}
	free(temporary);
	return status;
}

/* Steps of python.c that are read once: calls of a problem, zeros and copies. */
enum { max_kept_args = 32, kept_room = 1 << 15 };

typedef struct {
	int64_t op, to, from;
	void *call;
	int n, at[max_kept_args]; /* the buffer of each argument, -1 for none */
} kept_step;

typedef struct kept_steps {
	int64_t buffers;
	memory m; /* whose buffers that are temporary or have no bytes lie in room */
	int64_t sizes[max_buffers];
	int n;
	void *room;
	kept_step steps[];
} kept_steps;

void forget_steps(kept_steps *k) {
	if (k == NULL) return;
	for (int i = 0; i < k->n; i++) forget_call(k->steps[i].call);
	free(k->room);
	free(k);
}

/* Keeps the call of a step on the buffers of m. It returns whether that went well. */
static int keep_step(const memory *m, const int64_t *step, kept_step *to) {
	rev_arg args[max_kept_args];
	char text[REV_MESSAGE_SIZE];
	int64_t n = (step[1] - 4) / argument_words;
	if (n > max_kept_args || read_arguments(m, step, step[1] - 4, 0, args, text) != REV_OK) return 0;
	const rev_arg *given = (const rev_arg *)(step + 4);
	to->n = (int)n;
	for (int64_t i = 0; i < n; i++) {
		if (given[i].ptr != NULL || given[i].ind != NULL) return 0;
		to->at[i] = (int)(intptr_t)given[i].data - 1;
	}
	return (to->call = keep_call((int32_t)step[2], (int32_t)step[3], args, n)) != NULL;
}

/* Steps to be made again, by one thread at a time; or NULL if they are of other kinds or large. */
kept_steps *keep_steps(const int64_t *steps, int64_t words) {
	if (words < 3 || steps[0] != rev_rules_hash()) return NULL;
	int64_t n = steps[1], all = n + steps[2], count = 0, rooms[2] = {alignment, alignment}; /* of the caller's buffers, and temporary ones */
	if (n < 0 || steps[2] < 0 || n > max_buffers || all > max_buffers || words < 3 + all) return NULL;
	const int64_t *first = steps + 3 + all, *end = steps + words;
	for (const int64_t *s = first; s < end; s += s[1]) {
		if (end - s < 4 || s[1] < 4 || s[1] > end - s) return NULL;
		count++;
	}
	for (int64_t i = 0; i < all; i++) {
		if (steps[3 + i] < 0 || steps[3 + i] > kept_room) return NULL;
		rooms[i >= n] += (steps[3 + i] + alignment) / alignment * alignment;
	}
	kept_steps *k = calloc(1, sizeof *k + (size_t)count * sizeof *k->steps);
	if (k == NULL) return NULL;
	char *callers = calloc(1, (size_t)rooms[0]); /* only for keep_call */
	k->room = calloc(1, (size_t)rooms[1]);
	k->buffers = n;
	k->m.n = all;
	memcpy(k->sizes, steps + 3, (size_t)all * sizeof *steps);
	k->m.bytes = k->sizes;
	char *next[2] = {callers, k->room};
	for (int g = 0; g < 2; g++) next[g] += -(uintptr_t)next[g] % alignment;
	for (int64_t i = 0; i < all; i++) {
		k->m.at[i] = next[i >= n];
		next[i >= n] += (k->sizes[i] + alignment) / alignment * alignment;
	}
	int good = callers != NULL && k->room != NULL;
	for (const int64_t *s = first; s < end && good; s += s[1]) {
		kept_step *to = &k->steps[k->n++];
		*to = (kept_step){.op = s[0], .to = s[2], .from = s[3]};
		if (s[0] == REV_STEP_CALL) {
			good = keep_step(&k->m, s, to);
		} else {
			good = (s[0] == REV_STEP_ZERO || s[0] == REV_STEP_COPY) && to->to >= 0 && to->to < all && to->from >= 0 && to->from < all;
			if (good && s[0] == REV_STEP_COPY) good = k->sizes[to->to] == k->sizes[to->from];
		}
	}
	free(callers);
	for (int64_t i = 0; i < n; i++) k->m.at[i] = k->room;
	if (good) return k;
	forget_steps(k);
	return NULL;
}

/* Makes them on buffers of the caller. */
int32_t run_kept(kept_steps *k, void *const *buffers, char *text) {
	for (int64_t i = 0; i < k->buffers; i++) {
		if (buffers[i] == NULL && k->sizes[i] > 0) return refuse(text, "no address of buffer", i);
		if (k->sizes[i] > 0) k->m.at[i] = buffers[i];
	}
	for (int i = 0; i < k->n; i++) {
		const kept_step *s = &k->steps[i];
		if (s->op == REV_STEP_ZERO) {
			memset(k->m.at[s->to], 0, (size_t)k->sizes[s->to]);
		} else if (s->op == REV_STEP_COPY) {
			memmove(k->m.at[s->to], k->m.at[s->from], (size_t)k->sizes[s->to]);
		} else {
			void *data[max_kept_args];
			for (int j = 0; j < s->n; j++) data[j] = s->at[j] < 0 ? NULL : k->m.at[s->at[j]];
			int32_t status = call_kept(s->call, data);
			if (status != REV_OK) return status;
		}
	}
	return REV_OK;
}

/* The bytes of an element of a type of XLA. */
static int64_t width(int type) {
	switch (type) {
	case 4: /* S32 */
	case 11: /* F32 */
		return 4;
	case 5: /* S64 */
	case 12: /* F64 */
		return 8;
	case 18: /* C128 */
		return 16;
	}
	return -1;
}

static int32_t run_frame(const xla_frame *f, char *text) {
	void *at[max_buffers];
	int64_t bytes[max_buffers], n = 0;
	const xla_values *groups[2] = {&f->arguments, &f->results};
	for (int g = 0; g < 2; g++) {
		for (int64_t i = 0; i < groups[g]->n; i++) {
			const xla_buffer *b = groups[g]->values[i];
			if (n == max_buffers) return refuse(text, "too many buffers:", n);
			at[n] = b->data;
			bytes[n] = width(b->type);
			for (int64_t d = 0; d < b->rank; d++) bytes[n] *= b->dims[d];
			n++;
		}
	}
	if (f->attributes.n != 1 || f->attributes.types[0] != xla_array) return refuse(text, "attributes:", f->attributes.n);
	const xla_numbers *steps = f->attributes.values[0];
	if (width(steps->type) != sizeof(int64_t)) return refuse(text, "numbers of type", steps->type);
	return run_steps(steps->data, (int64_t)steps->n, at, bytes, n, text);
}

void *rev_xla(void *frame) {
	const xla_frame *f = frame;
	if (f->extension != NULL && f->extension->type == xla_metadata) {
		/* XLA asks what this handler is. */
		xla_metadata_of_handler *m = ((xla_metadata_extension *)f->extension)->metadata;
		m->version = (xla_version){sizeof m->version, NULL, xla_major, xla_minor};
		m->traits = 0;
		return NULL;
	}
	char text[REV_MESSAGE_SIZE] = "";
	watch();
	int32_t status = run_frame(f, text);
	if (status == REV_OK) return NULL;
	/* INVALID_ARGUMENT, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL, FAILED_PRECONDITION, CANCELLED */
	static const int codes[] = {0, 3, 9, 12, 13, 9, 1};
	xla_new_error e = {sizeof e, NULL, text, codes[status]};
	return f->api->new_error(&e);
}
