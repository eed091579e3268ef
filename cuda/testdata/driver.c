// A CUDA driver for two devices that are not there, for the tests of driver_cu.go. Devices are memory
// of the host. It does late what a driver may do late: copies and kernels of a stream run when
// somebody waits for them. It returns errors for calls without a context in their thread, and for
// memory, streams and events of other contexts. Who gives back a context with something left in it
// gets an error. Of the kernels it has a few sums. Others are a fault, after which every call of
// their context is an error.
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { devices = 2, most = 4096, mostPieces = 1 << 15 };
#define ROOM ((size_t)1 << 28) // bytes of a device

// A Place is in a stream, after so many of its operations. Without a stream it is nowhere.
typedef struct {
	CUstream in;
	long long after;
} Place;

typedef struct Operation {
	struct Operation *next;
	enum { copies, zeros, launches, records, waits } what;
	char *to, *from, *staged;
	size_t bytes;
	CUevent event;
	Place until;
	CUfunction function;
	long long params[64];
	unsigned blocks;
} Operation;

typedef struct {
	char *at;
	size_t bytes;
	CUcontext context;
	int host;
} Piece;

struct CUctx_st {
	int device, retained, streams, events, modules;
	size_t used;
	double clock; // milliseconds
	CUresult fault;
};
struct CUstream_st {
	CUcontext context;
	Operation *first, *last;
	long long pushed, done; // operations
	int priority;
};
struct CUevent_st {
	CUcontext context;
	Place last; // where it was recorded last
	double time;
};
struct CUmod_st {
	CUcontext context;
	char *text;
};
struct CUfunc_st {
	struct CUfunc_st *next;
	char name[64];
	int params;
};

static struct CUctx_st contexts[devices];
static CUstream streams[most];
static Piece pieces[mostPieces];
static struct CUfunc_st *functions;
static __thread CUcontext current;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

// CALL is a call in the context of its thread.
#define CALL(name, params, body) \
	CUresult name params { \
		CUresult r = CUDA_ERROR_INVALID_CONTEXT; \
		pthread_mutex_lock(&held); \
		if (current && current->retained > 0) r = current->fault; \
		if (!r) { \
			body; \
			if (!r) r = current->fault; \
		} \
		pthread_mutex_unlock(&held); \
		return r; \
	}

// pieceOf returns the memory in which some bytes are, of a context.
static Piece *pieceOf(const void *at, size_t bytes, int host) {
	for (Piece *p = pieces; p < pieces + mostPieces; p++) {
		if (p->at && p->host == host && (char *)at >= p->at && (size_t)((char *)at - p->at) <= p->bytes && bytes <= p->bytes - (size_t)((char *)at - p->at)) return p;
	}
	return NULL;
}

static int onDevice(CUcontext c, long long at, long long bytes) {
	Piece *p = pieceOf((void *)at, bytes, 0);
	return p && p->context == c;
}

// runKernel returns whether a kernel is known and stays in the memory of its context.
static int runKernel(CUcontext c, Operation *o) {
	const char *name = o->function->name;
	long long *a = o->params;
	if (!strcmp(name, "addScaledF64")) {
		double *y = (double *)a[0], *alpha = (double *)a[4], *x = (double *)a[5], *beta = (double *)a[7], *z = (double *)a[8];
		long long n = a[2];
		if (!onDevice(c, a[0], 8 * ((n - 1) * a[1] + 1)) || !onDevice(c, a[5], 8 * ((n - 1) * a[6] + 1)) || (alpha && !onDevice(c, a[4], 8))) return 0;
		if (z && (!onDevice(c, a[8], 8 * ((n - 1) * a[9] + 1)) || !onDevice(c, a[7], 8))) return 0;
		for (long long i = 0; i < n; i++) {
			y[i * a[1]] += (int)a[3] * (alpha ? *alpha : 1) * x[i * a[6]];
			if (z) y[i * a[1]] += (int)a[3] * *beta * z[i * a[9]];
		}
		return 1;
	}
	if (!strcmp(name, "addConstantF64")) {
		double *y = (double *)a[0], *alpha = (double *)a[3];
		if (!onDevice(c, a[0], 8 * ((a[2] - 1) * a[1] + 1)) || !onDevice(c, a[3], 8)) return 0;
		for (long long i = 0; i < a[2]; i++) y[i * a[1]] += (int)a[4] * *alpha;
		return 1;
	}
	if (!strcmp(name, "fill64")) {
		if (!onDevice(c, a[0], 8 * a[1])) return 0;
		for (long long i = 0; i < a[1]; i++) ((long long *)a[0])[i] = a[2];
		return 1;
	}
	if (!strcmp(name, "dotPartsF64")) {
		double *part = (double *)a[0], *x = (double *)a[1], *y = (double *)a[3];
		long long n = a[5];
		if (!onDevice(c, a[0], 8 * o->blocks) || !onDevice(c, a[1], 8 * ((n - 1) * a[2] + 1)) || (y && !onDevice(c, a[3], 8 * ((n - 1) * a[4] + 1)))) return 0;
		memset(part, 0, 8 * o->blocks);
		for (long long i = 0; i < n; i++) part[0] += x[i * a[2]] * (y ? y[i * a[4]] : 1);
		return 1;
	}
	if (!strcmp(name, "dotEndF64")) {
		double *out = (double *)a[0], *part = (double *)a[1];
		if (!onDevice(c, a[0], 8) || !onDevice(c, a[1], 8 * a[2])) return 0;
		for (long long i = 0; i < a[2]; i++) *out += (int)a[3] * part[i];
		return 1;
	}
	return 0;
}

static void step(CUstream s);

static int reached(Place p) { return !p.in || p.in->done >= p.after; }

static void reach(Place p) {
	while (!reached(p)) step(p.in);
}

// step does the first operation of a stream.
static void step(CUstream s) {
	Operation *o = s->first;
	s->first = o->next;
	if (!s->first) s->last = NULL;
	s->context->clock += 0.5;
	switch (o->what) {
	case copies:
		if (!s->context->fault) memcpy(o->to, o->from, o->bytes);
		break;
	case zeros:
		if (!s->context->fault) memset(o->to, 0, o->bytes);
		break;
	case launches:
		if (!s->context->fault && !runKernel(s->context, o)) s->context->fault = CUDA_ERROR_LAUNCH_FAILED;
		break;
	case records:
		if (o->event->last.in == s && o->event->last.after == s->done + 1) o->event->time = s->context->clock;
		break;
	case waits:
		reach(o->until);
	}
	s->done++;
	free(o->staged);
	free(o);
}

static void finish(CUstream s) {
	while (s->first) step(s);
}

static void finishAll(CUcontext c) {
	for (int i = 0; i < most; i++) {
		if (streams[i] && streams[i]->context == c) finish(streams[i]);
	}
}

// push adds an operation to a stream.
static Operation *push(CUstream s, int what) {
	Operation *o = calloc(1, sizeof *o);
	o->what = what;
	s->pushed++;
	if (s->last) s->last->next = o;
	else s->first = o;
	return s->last = o;
}

// isStream reports whether a stream is one of the present context.
static int isStream(CUstream s) {
	for (int i = 0; i < most; i++) {
		if (s && streams[i] == s) return s->context == current;
	}
	return 0;
}

CUresult cuInit(unsigned flags) { return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int *version) {
	*version = 12060;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
	*count = devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice d) {
	if (d < 0 || d >= devices) return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, len, "no GPU %d", d);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	if (d < 0 || d >= devices) return CUDA_ERROR_INVALID_DEVICE;
	switch (a) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *v = 7; return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *v = 5; return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *v = 1; return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
	case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *v = 1 << 16; return CUDA_SUCCESS;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
	if (d < 0 || d >= devices) return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&held);
	*c = &contexts[d];
	(*c)->device = d;
	(*c)->retained++;
	pthread_mutex_unlock(&held);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
	pthread_mutex_lock(&held);
	CUcontext c = &contexts[d];
	CUresult r = --c->retained < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
	if (c->retained == 0) {
		if (!c->fault && (c->used || c->streams || c->events || c->modules)) {
			fprintf(stderr, "device %d: %zu bytes, %d streams, %d events and %d modules leak\n", d, c->used, c->streams, c->events, c->modules);
			r = CUDA_ERROR_UNKNOWN;
		}
		for (Piece *p = pieces; p < pieces + mostPieces; p++) {
			if (p->context == c) free(p->at), *p = (Piece){0};
		}
		*c = (struct CUctx_st){0};
	}
	pthread_mutex_unlock(&held);
	return r;
}

CUresult cuCtxPushCurrent(CUcontext c) {
	if (!c || current) return CUDA_ERROR_INVALID_VALUE;
	current = c;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *c) {
	if (!current) return CUDA_ERROR_INVALID_CONTEXT;
	*c = current;
	current = NULL;
	return CUDA_SUCCESS;
}

static CUresult allocate(char **at, size_t bytes, int host) {
	if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
	if (bytes > ROOM - current->used) return CUDA_ERROR_OUT_OF_MEMORY;
	for (Piece *p = pieces; p < pieces + mostPieces; p++) {
		if (p->at) continue;
		*at = malloc(bytes);
		memset(*at, 0xa5, bytes); // junk
		*p = (Piece){*at, bytes, current, host};
		current->used += bytes;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult release(void *at, int host) {
	Piece *p = pieceOf(at, 1, host);
	if (!p || p->at != at || p->context != current) return CUDA_ERROR_INVALID_VALUE;
	finishAll(current);
	current->used -= p->bytes;
	free(at);
	*p = (Piece){0};
	return CUDA_SUCCESS;
}

CALL(cuMemAlloc, (CUdeviceptr *at, size_t bytes), r = allocate((char **)at, bytes, 0))
CALL(cuMemFree, (CUdeviceptr at), r = release((void *)at, 0))
CALL(cuMemAllocHost, (void **at, size_t bytes), r = allocate((char **)at, bytes, 1))
CALL(cuMemFreeHost, (void *at), r = release(at, 1))

static CUresult copy(char *to, const char *from, size_t bytes, CUstream s, const void *device, const void *host) {
	Piece *p = pieceOf(device, bytes, 0);
	if (!isStream(s) || !p || p->context != current || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
	Operation *o = push(s, copies);
	o->to = to;
	o->from = (char *)from;
	o->bytes = bytes;
	if (from == host && !pieceOf(host, bytes, 1)) { // who copies from pageable memory may change it at once
		o->from = o->staged = malloc(bytes);
		memcpy(o->staged, from, bytes);
	}
	return CUDA_SUCCESS;
}

CALL(cuMemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t bytes, CUstream s), r = copy((char *)to, from, bytes, s, (void *)to, from))
CALL(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t bytes, CUstream s), r = copy(to, (char *)from, bytes, s, (void *)from, to))

// peer is a copy from the memory of a context to that of the present one.
static CUresult peer(char *to, CUcontext c, char *from, CUcontext of, size_t bytes, CUstream s) {
	if (!isStream(s) || c != current || !bytes || !onDevice(c, (long long)to, bytes) || !onDevice(of, (long long)from, bytes)) return CUDA_ERROR_INVALID_VALUE;
	Operation *o = push(s, copies);
	o->to = to;
	o->from = from;
	o->bytes = bytes;
	return CUDA_SUCCESS;
}

static CUresult set(char *to, size_t bytes, CUstream s) {
	if (!isStream(s) || !bytes || !onDevice(current, (long long)to, bytes)) return CUDA_ERROR_INVALID_VALUE;
	Operation *o = push(s, zeros);
	o->to = to;
	o->bytes = bytes;
	return CUDA_SUCCESS;
}

CALL(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext c, CUdeviceptr from, CUcontext of, size_t bytes, CUstream s), r = peer((char *)to, c, (char *)from, of, bytes, s))
CALL(cuMemsetD8Async, (CUdeviceptr to, unsigned char v, size_t bytes, CUstream s), r = v ? CUDA_ERROR_INVALID_VALUE : set((char *)to, bytes, s))
CALL(cuMemGetInfo, (size_t *free, size_t *total), *free = ROOM - current->used; *total = ROOM)

enum { firstPriority = -5, lastPriority = 0 };

static CUresult createStream(CUstream *s, int priority) {
	for (int i = 0; i < most; i++) {
		if (streams[i]) continue;
		*s = streams[i] = calloc(1, sizeof **s);
		(*s)->context = current;
		(*s)->priority = priority < firstPriority ? firstPriority : priority > lastPriority ? lastPriority : priority;
		current->streams++;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult destroyStream(CUstream s) {
	if (!isStream(s)) return CUDA_ERROR_INVALID_HANDLE;
	finish(s); // it stays, as events know it
	current->streams--;
	for (int i = 0; i < most; i++) {
		if (streams[i] == s) streams[i] = NULL;
	}
	return CUDA_SUCCESS;
}

CALL(cuStreamCreate, (CUstream *s, unsigned flags), r = flags == CU_STREAM_NON_BLOCKING ? createStream(s, lastPriority) : CUDA_ERROR_INVALID_VALUE)
CALL(cuStreamCreateWithPriority, (CUstream *s, unsigned flags, int priority), r = flags == CU_STREAM_NON_BLOCKING ? createStream(s, priority) : CUDA_ERROR_INVALID_VALUE)
CALL(cuStreamGetPriority, (CUstream s, int *priority), if (isStream(s)) *priority = s->priority; else r = CUDA_ERROR_INVALID_HANDLE)
CALL(cuStreamDestroy, (CUstream s), r = destroyStream(s))
// A query does one operation.
static CUresult query(CUstream s) {
	if (!isStream(s)) return CUDA_ERROR_INVALID_HANDLE;
	if (!s->first) return CUDA_SUCCESS;
	step(s);
	return CUDA_ERROR_NOT_READY;
}

CALL(cuStreamQuery, (CUstream s), r = query(s))
CALL(cuStreamSynchronize, (CUstream s), if (isStream(s)) finish(s); else r = CUDA_ERROR_INVALID_HANDLE)

static CUresult createEvent(CUevent *e) {
	*e = calloc(1, sizeof **e);
	(*e)->context = current;
	current->events++;
	return CUDA_SUCCESS;
}

static CUresult destroyEvent(CUevent e) {
	if (!e || e->context != current) return CUDA_ERROR_INVALID_HANDLE;
	e->context = NULL; // it stays, as records of streams know it
	current->events--;
	return CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent a, CUevent b) {
	if (!a || !b || a->context != current || b->context != current || !a->last.in || !b->last.in) return CUDA_ERROR_INVALID_HANDLE;
	if (!reached(a->last) || !reached(b->last)) return CUDA_ERROR_NOT_READY;
	*ms = (float)(b->time - a->time);
	return CUDA_SUCCESS;
}

// recordOrWait adds an event to a stream. Who waits does so for the last record before the call.
static CUresult recordOrWait(CUstream s, CUevent e, int what) {
	if (!isStream(s) || !e || e->context != current) return CUDA_ERROR_INVALID_HANDLE;
	Operation *o = push(s, what);
	o->event = e;
	o->until = e->last;
	if (what == records) e->last = (Place){s, s->pushed};
	return CUDA_SUCCESS;
}

static CUresult await(CUevent e) {
	if (!e || e->context != current) return CUDA_ERROR_INVALID_HANDLE;
	reach(e->last);
	return CUDA_SUCCESS;
}

CALL(cuEventCreate, (CUevent *e, unsigned flags), r = flags ? CUDA_ERROR_INVALID_VALUE : createEvent(e))
CALL(cuEventDestroy, (CUevent e), r = destroyEvent(e))
CALL(cuEventRecord, (CUevent e, CUstream s), r = recordOrWait(s, e, records))
CALL(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), r = flags ? CUDA_ERROR_INVALID_VALUE : recordOrWait(s, e, waits))
CALL(cuEventSynchronize, (CUevent e), r = await(e))
CALL(cuEventElapsedTime, (float *ms, CUevent a, CUevent b), r = elapsed(ms, a, b))

static CUresult loadModule(CUmodule *m, const void *image) {
	if (!strstr(image, ".target sm_75")) return CUDA_ERROR_NO_BINARY_FOR_GPU;
	*m = calloc(1, sizeof **m);
	(*m)->context = current;
	(*m)->text = strdup(image);
	current->modules++;
	return CUDA_SUCCESS;
}

// loadLogged loads no module, and stores why.
static CUresult loadLogged(const char *image, unsigned n, CUjit_option *options, void **values) {
	if (n != 2 || options[0] != CU_JIT_ERROR_LOG_BUFFER || options[1] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
	const char *target = strstr(image, ".target ");
	snprintf(values[0], (size_t)values[1], "not for this card: %.13s\n", target ? target : "none");
	return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult unloadModule(CUmodule m) {
	if (!m || m->context != current) return CUDA_ERROR_INVALID_HANDLE;
	free(m->text);
	free(m);
	current->modules--;
	return CUDA_SUCCESS;
}

static CUresult getFunction(CUfunction *f, CUmodule m, const char *name) {
	char entry[128];
	snprintf(entry, sizeof entry, ".visible .entry %s(", name);
	const char *at = m && m->context == current ? strstr(m->text, entry) : NULL;
	if (!at) return CUDA_ERROR_NOT_FOUND;
	*f = calloc(1, sizeof **f);
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	for (const char *p = at; p < strchr(at, ')'); p++) (*f)->params += !strncmp(p, ".param ", 7);
	(*f)->next = functions;
	functions = *f;
	return CUDA_SUCCESS;
}

CALL(cuModuleLoadData, (CUmodule *m, const void *image), r = loadModule(m, image))
CALL(cuModuleLoadDataEx, (CUmodule *m, const void *image, unsigned n, CUjit_option *options, void **values), r = m ? loadLogged(image, n, options, values) : CUDA_ERROR_INVALID_VALUE)
CALL(cuModuleUnload, (CUmodule m), r = unloadModule(m))
CALL(cuModuleGetFunction, (CUfunction *f, CUmodule m, const char *name), r = getFunction(f, m, name))

// occupy counts clusters of 8 blocks. Device 0 has room for none, and device 1 for three.
static CUresult occupy(int *n, CUfunction f, const CUlaunchConfig *c) {
	if (!f || !c->gridDimX || c->gridDimX % 8 || c->gridDimY != 1 || c->gridDimZ != 1 || c->blockDimX != 256 || c->blockDimY != 1 || c->blockDimZ != 1) return CUDA_ERROR_INVALID_VALUE;
	if (c->sharedMemBytes || c->hStream || c->attrs || c->numAttrs) return CUDA_ERROR_INVALID_VALUE;
	*n = 3 * current->device;
	return CUDA_SUCCESS;
}

CALL(cuOccupancyMaxActiveClusters, (int *n, CUfunction f, const CUlaunchConfig *c), r = occupy(n, f, c))

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra) {
	if (!isStream(s) || shared || extra || f->params > 64) return CUDA_ERROR_INVALID_HANDLE;
	if (!gx || gx > 0x7fffffff || !gy || gy > 65535 || !gz || gz > 65535 || !bx || !by || !bz || bz > 64 || (size_t)bx * by * bz > 1024) return CUDA_ERROR_INVALID_VALUE;
	Operation *o = push(s, launches);
	o->function = f;
	o->blocks = gx;
	for (int i = 0; i < f->params; i++) o->params[i] = *(long long *)params[i];
	return CUDA_SUCCESS;
}

CALL(cuLaunchKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra), r = launch(f, gx, gy, gz, bx, by, bz, shared, s, params, extra))
