/* rev_python and rev_python_torch: calls of Python on arrays of NumPy and tensors of PyTorch, without code in Python
 * on the way.
 *
 * The library does not link with Python. The caller gives it the functions of CPython's stable ABI that are
 * listed here, and NumPy's table of functions. Objects and arrays begin with the same fields in all versions of
 * this ABI and of NumPy since 1.7, except in CPython without a GIL. PyTorch's tensors are seen through DLPack. */
#include "revnum.h"

#include <stdlib.h>
#include <string.h>

/* revnum.c: rev_call and rev_run for what is so short that nobody interrupts it. */
int32_t short_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n);
int32_t short_run(const int64_t *steps, int64_t words, void *const *buffers, int64_t n);
void *keep_call(int32_t kernel, int32_t pass, const rev_arg *args, int64_t n);
int32_t call_kept(void *call, void *const *data);
void forget_call(void *call);
/* steps.c */
typedef struct kept_steps kept_steps;
kept_steps *keep_steps(const int64_t *steps, int64_t words);
int32_t short_run_kept(kept_steps *k, void *const *buffers);
void forget_steps(kept_steps *k);

typedef struct object {
	intptr_t references;
	struct object *type;
} object;

typedef struct {
	object head;
	char *data;
	int axes;
	intptr_t *shape, *strides; /* in bytes */
	object *base, *dtype;
} array;

typedef struct {
	int id;
	void *value;
} slot;

typedef struct {
	const char *name;
	int size, item_size;
	unsigned int flags;
	const slot *slots;
} type_spec;

typedef struct {
	const char *name;
	object *(*function)(object *self, object *args);
	int flags;
	const char *doc;
} method;

enum { slot_call = 50, slot_methods = 64, default_flags = 1 << 18, takes_tuple = 1 };

#define PYTHON(F) \
	F(void, Py_IncRef, (object *)) \
	F(void, Py_DecRef, (object *)) \
	F(intptr_t, PyTuple_Size, (object *)) \
	F(object *, PyTuple_GetItem, (object *, intptr_t)) \
	F(object *, PyTuple_New, (intptr_t)) \
	F(int, PyTuple_SetItem, (object *, intptr_t, object *)) \
	F(object *, PyList_GetItem, (object *, intptr_t)) \
	F(intptr_t, PyDict_Size, (object *)) \
	F(object *, PyDict_GetItem, (object *, object *)) \
	F(int, PyDict_Next, (object *, intptr_t *, object **, object **)) \
	F(int, PyObject_RichCompareBool, (object *, object *, int)) \
	F(double, PyFloat_AsDouble, (object *)) \
	F(object *, PyFloat_FromDouble, (double)) \
	F(object *, PyLong_FromLong, (long)) \
	F(intptr_t, PyBytes_Size, (object *)) \
	F(char *, PyBytes_AsString, (object *)) \
	F(object *, PyObject_Call, (object *, object *, object *)) \
	F(object *, PyObject_CallFunction, (object *, const char *, ...)) \
	F(object *, PyObject_GetAttrString, (object *, const char *)) \
	F(object *, PyCapsule_New, (void *, const char *, void (*)(object *))) \
	F(void *, PyCapsule_GetPointer, (object *, const char *)) \
	F(object *, PyType_FromSpecWithBases, (type_spec *, object *)) \
	F(int, PyArg_ParseTuple, (object *, const char *, ...)) \
	F(object *, PyObject_CallFunctionObjArgs, (object *, ...)) \
	F(object *, PyObject_GetAttr, (object *, object *)) \
	F(int, PyObject_SetAttr, (object *, object *, object *)) \
	F(object *, PyTuple_GetSlice, (object *, intptr_t, intptr_t)) \
	F(object *, PyUnicode_InternFromString, (const char *)) \
	F(long, PyLong_AsLong, (object *)) \
	F(object *, PySequence_Tuple, (object *)) \
	F(object *, PyErr_NoMemory, (void)) \
	F(void, PyErr_Clear, (void)) \
	F(void, PyErr_Fetch, (object **, object **, object **)) \
	F(void, PyErr_Restore, (object *, object *, object *)) \
	F(int, Py_IsInitialized, (void)) \
	F(void *, PyEval_SaveThread, (void)) \
	F(void, PyEval_RestoreThread, (void *))

#define POINTER(result, name, arguments) result(*name) arguments;
static struct { PYTHON(POINTER) } py;

/* Whether Go may be called to free memory. When Python ends, modules may already have taken away the stack for signals
 * that Go needs on each thread. */
static int go_may_run(void) { return py.Py_IsInitialized(); }

/* NumPy's functions, by their place in its table. */
static struct {
	object *array;
	object *(*scalar)(void *data, object *dtype, object *base);
	object *(*zeros)(int axes, const intptr_t *shape, object *dtype, int fortran); /* takes over dtype, as create does */
	object *(*create)(object *type, object *dtype, int axes, const intptr_t *shape, const intptr_t *strides, void *data, int flags, object *like);
} np;

static object *int_type, *float_type, *str_type;
static object *raise_status; /* raises the exception of a status, and is NULL before rev_python was called */
static const int32_t *closed;

#define NAME(result, name, arguments) #name " "
const char *rev_python_names(void) { return raise_status == NULL ? PYTHON(NAME) : NULL; }

enum { max_operands = 32, max_axes = 3, max_calls = 256, max_held = 1024 };

typedef struct {
	object *dtype;
	int axes;
	intptr_t shape[max_axes], strides[max_axes];
	size_t bytes; /* of an output */
	uint8_t code, bits; /* of a tensor, which has no dtype here */
	int copied;         /* of a tensor: the call is made on a copy without gaps */
} layout;

/* A call for arrays of some layouts: its arguments but for their addresses. Inputs come first, and then outputs. */
typedef struct kept {
	struct kept *next;
	int32_t kernel;
	int inputs, outputs, n;
	int users; /* the list of its function, and calls in progress */
	object *keywords; /* a dict of the numbers that are given by name, or NULL */
	object *plan, *plans, *apply; /* of tensors, which need no more but layouts: what makes a value, and one with a gradient; plans.apply once it is used */
	uint64_t problems; /* of tensors under a vmap: see peel. 0 without one */
	int large; /* other threads of Python run meanwhile */
	void *call; /* for no others: the library has read args, or NULL */
	layout layouts[max_operands];
	rev_arg args[max_operands];
} kept;

typedef struct {
	kept *first;
	int n;
} calls;

static const char calls_name[] = "revnum.calls", plan_name[] = "revnum.plan"; /* of capsules */

static void drop(kept *k) {
	if (--k->users > 0) return;
	for (int i = 0; i < k->inputs + k->outputs; i++) py.Py_DecRef(k->layouts[i].dtype);
	py.Py_DecRef(k->plan);
	py.Py_DecRef(k->plans);
	py.Py_DecRef(k->apply);
	py.Py_DecRef(k->keywords);
	if (go_may_run()) forget_call(k->call);
	free(k);
}

static void forget(calls *c) {
	while (c->first != NULL) {
		kept *k = c->first;
		c->first = k->next;
		drop(k);
	}
	c->n = 0;
}

static void free_calls(object *capsule) {
	calls *c = py.PyCapsule_GetPointer(capsule, calls_name);
	forget(c);
	free(c);
}

/* The calls of a function, which are in its first slot: NULL before it has any. */
static calls *calls_of(object *function) {
	object *capsule = *(object **)(function + 1);
	calls *c = capsule == NULL ? NULL : py.PyCapsule_GetPointer(capsule, calls_name);
	if (c == NULL) py.PyErr_Clear();
	return c;
}

/* Whether a kept call is for arrays like these, and their addresses; or -1 if no call is. data has room for outputs. */
static int fits(const kept *k, object *args, void **data) {
	for (int i = 0; i < k->inputs; i++) {
		const array *a = (array *)py.PyTuple_GetItem(args, i);
		const layout *l = &k->layouts[i];
		if (a->head.type != np.array || a->dtype != l->dtype || a->axes != l->axes) return 0;
		for (int d = 0; d < l->axes; d++) {
			if (a->shape[d] != l->shape[d] || a->strides[d] != l->strides[d]) return 0;
		}
		data[i] = a->data;
	}
	return 1;
}

/* Makes a call. data are the addresses of the inputs, before room for those of the outputs. */
static object *make(kept *k, void **data) {
	object *out[max_operands], *result = NULL;
	double numbers[max_operands][2]; /* outputs that are no arrays */
	k->users++;
	for (int i = 0; i < k->outputs; i++) out[i] = NULL;
	for (int i = 0; i < k->outputs; i++) {
		const layout *l = &k->layouts[k->inputs + i];
		if (l->axes == 0) {
			numbers[i][0] = numbers[i][1] = 0;
			data[k->inputs + i] = numbers[i];
			continue;
		}
		py.Py_IncRef(l->dtype);
		out[i] = k->large ? np.zeros(l->axes, l->shape, l->dtype, 0) : np.create(np.array, l->dtype, l->axes, l->shape, NULL, NULL, 0, NULL);
		if (out[i] == NULL) goto end;
		data[k->inputs + i] = ((array *)out[i])->data;
		if (!k->large) memset(((array *)out[i])->data, 0, l->bytes);
	}
	int32_t status;
	if (k->call != NULL) {
		status = call_kept(k->call, data);
	} else {
		rev_arg given[max_operands];
		memcpy(given, k->args, (size_t)k->n * sizeof *given);
		for (int i = 0; i < k->inputs + k->outputs; i++) given[i].data = data[i];
		void *thread = k->large ? py.PyEval_SaveThread() : NULL;
		status = k->large ? rev_call(k->kernel, REV_FORWARD, given, k->n) : short_call(k->kernel, REV_FORWARD, given, k->n);
		if (k->large) py.PyEval_RestoreThread(thread);
	}
	if (status != REV_OK) {
		result = py.PyObject_CallFunction(raise_status, "i", (int)status);
		goto end;
	}
	for (int i = 0; i < k->outputs; i++) {
		if (out[i] == NULL) out[i] = np.scalar(numbers[i], k->layouts[k->inputs + i].dtype, NULL);
		if (out[i] == NULL) goto end;
	}
	if (k->outputs == 1) {
		result = out[0];
		out[0] = NULL;
	} else if ((result = py.PyTuple_New(k->outputs)) != NULL) {
		for (int i = 0; i < k->outputs; i++) {
			py.PyTuple_SetItem(result, i, out[i]);
			out[i] = NULL;
		}
	}
end:
	for (int i = 0; i < k->outputs; i++) py.Py_DecRef(out[i]); /* NULL may be given */
	drop(k);
	return result;
}

/* The method slow of a function. */
static object *slow(object *function, object *args, object *keywords) {
	object *method = py.PyObject_GetAttrString(function, "slow");
	if (method == NULL) return NULL;
	object *result = py.PyObject_Call(method, args, keywords);
	py.Py_DecRef(method);
	return result;
}

/* Whether the names of keywords are of no subclass of str, whose methods a search in a dict would call: they may make
 * calls, which change the list. */
static int plain_names(object *keywords) {
	intptr_t at = 0;
	object *name, *value;
	while (keywords != NULL && py.PyDict_Next(keywords, &at, &name, &value)) {
		if (name->type != str_type) return 0;
	}
	return 1;
}

/* Whether a kept call is for these keywords. It knows 0.0 from -0.0, as its caller does. */
static int has_keywords(const kept *k, object *keywords) {
	enum { equal = 2 };
	intptr_t n = keywords == NULL ? 0 : py.PyDict_Size(keywords), at = 0;
	if (n != (k->keywords == NULL ? 0 : py.PyDict_Size(k->keywords))) return 0;
	object *name, *value;
	while (n > 0 && py.PyDict_Next(k->keywords, &at, &name, &value)) {
		object *given = py.PyDict_GetItem(keywords, name);
		if (given == value) continue;
		if (given == NULL || given->type != value->type) return 0;
		if (value->type == float_type) {
			double a = py.PyFloat_AsDouble(value), b = py.PyFloat_AsDouble(given);
			if (memcmp(&a, &b, sizeof a) != 0) return 0;
		} else if (value->type != int_type || py.PyObject_RichCompareBool(given, value, equal) != 1) {
			return 0;
		}
	}
	return 1;
}

/* Sets the keywords of a call that is to be kept, and are none if it is empty. */
static void set_keywords(kept *k, object *keywords) {
	if (py.PyDict_Size(keywords) == 0) return;
	py.Py_IncRef(keywords);
	k->keywords = keywords;
}

/* The kept call of a function for arguments, which have these axes of problems, and their addresses, or NULL. */
static kept *find(object *function, object *args, object *keywords, uint64_t problems, void **data, int (*fits)(const kept *, object *, void **)) {
	calls *c = calls_of(function);
	if (c == NULL || *closed || !plain_names(keywords)) return NULL;
	intptr_t n = py.PyTuple_Size(args);
	for (kept **at = &c->first, *k; (k = *at) != NULL; at = &k->next) {
		int good = k->inputs == n && k->problems == problems && has_keywords(k, keywords) ? fits(k, args, data) : 0;
		if (good < 0) return NULL;
		if (!good) continue;
		*at = k->next; /* it comes first in the next search */
		k->next = c->first;
		return c->first = k;
	}
	return NULL;
}

static object *call(object *function, object *args, object *keywords) {
	void *data[max_operands];
	kept *k = find(function, args, keywords, 0, data, fits);
	return k != NULL ? make(k, data) : slow(function, args, keywords);
}

/* The capsule of the calls of a function, a new reference. */
static object *capsule_of(object *function) {
	object *capsule = *(object **)(function + 1);
	if (calls_of(function) != NULL) {
		py.Py_IncRef(capsule);
		return capsule;
	}
	calls *c = calloc(1, sizeof *c);
	if (c == NULL) return py.PyErr_NoMemory();
	capsule = py.PyCapsule_New(c, calls_name, free_calls);
	if (capsule == NULL) free(c);
	return capsule;
}

/* Adds a call to those of a capsule. */
static void add(object *capsule, kept *k) {
	calls *c = py.PyCapsule_GetPointer(capsule, calls_name);
	if (c->n == max_calls) forget(c);
	k->users = 1;
	k->next = c->first;
	c->first = k;
	c->n++;
}

/* _keep(kernel, arguments, inputs, outputs, keywords, long) keeps the call that was made of these arrays, and numbers by
 * name. Where long is 1 it may take long. It returns the value of the slot: a capsule. */
static object *keep(object *function, object *args) {
	int kernel, takes_long;
	object *packed, *arrays[2], *keywords;
	if (!py.PyArg_ParseTuple(args, "iOOOOi", &kernel, &packed, &arrays[0], &arrays[1], &keywords, &takes_long)) return NULL;
	intptr_t bytes = py.PyBytes_Size(packed), inputs = py.PyTuple_Size(arrays[0]), outputs = py.PyTuple_Size(arrays[1]);
	if (bytes < 0 || inputs < 0 || outputs < 0 || py.PyDict_Size(keywords) < 0) return NULL;
	object *capsule = capsule_of(function);
	intptr_t n = bytes / (intptr_t)sizeof(rev_arg), elements = 0;
	if (capsule == NULL || n > max_operands || inputs + outputs > n || !plain_names(keywords)) return capsule; /* too long to be worth it, or odd */
	kept *k = calloc(1, sizeof *k);
	if (k == NULL) {
		py.Py_DecRef(capsule);
		return py.PyErr_NoMemory();
	}
	k->kernel = kernel;
	k->inputs = (int)inputs;
	k->outputs = (int)outputs;
	k->n = (int)n;
	memcpy(k->args, py.PyBytes_AsString(packed), (size_t)n * sizeof *k->args);
	for (int i = 0; i < inputs + outputs; i++) {
		const array *a = (array *)py.PyTuple_GetItem(arrays[i >= inputs], i < inputs ? i : i - inputs);
		layout *l = &k->layouts[i];
		intptr_t size = 1;
		l->dtype = a->dtype;
		py.Py_IncRef(l->dtype);
		l->axes = a->axes;
		for (int d = 0; d < l->axes; d++) {
			l->shape[d] = a->shape[d];
			l->strides[d] = a->strides[d];
			size *= a->shape[d];
		}
		l->bytes = (size_t)(size * (l->axes > 0 ? a->strides[l->axes - 1] : 0)); /* outputs have no gaps */
		elements += size;
	}
	set_keywords(k, keywords);
	k->large = takes_long || elements > max_held;
	if (!k->large) k->call = keep_call(k->kernel, REV_FORWARD, k->args, k->n);
	add(capsule, k);
	return capsule;
}

/* A subclass of base. */
static object *subclass(type_spec *spec, object *base) {
	object *bases = py.PyTuple_New(1);
	if (bases == NULL) return NULL;
	py.Py_IncRef(base);
	py.PyTuple_SetItem(bases, 0, base);
	object *type = py.PyType_FromSpecWithBases(spec, bases);
	py.Py_DecRef(bases);
	return type;
}

void *rev_python(void *const *functions, void *const *numpy, void *base, void *fail, const int32_t *close) {
	static method methods[] = {{"_keep", keep, takes_tuple, "Keeps a call."}, {NULL, NULL, 0, NULL}};
	static const slot slots[] = {{slot_call, (void *)call}, {slot_methods, methods}, {0, NULL}};
	static type_spec spec = {"revnum.Function", 0, 0, default_flags, slots};
	memcpy(&py, functions, sizeof py);
	np.array = numpy[2];
	memcpy(&np.scalar, &numpy[60], sizeof np.scalar);
	memcpy(&np.zeros, &numpy[183], sizeof np.zeros);
	memcpy(&np.create, &numpy[94], sizeof np.create);
	py.Py_IncRef(fail);
	raise_status = fail;
	object *number = py.PyLong_FromLong(1), *fraction = py.PyFloat_FromDouble(0.5), *text = py.PyUnicode_InternFromString("slow");
	if (number == NULL || fraction == NULL || text == NULL) return NULL;
	int_type = number->type;
	float_type = fraction->type;
	str_type = text->type;
	py.Py_DecRef(number);
	py.Py_DecRef(fraction);
	py.Py_DecRef(text);
	closed = close;
	return subclass(&spec, base);
}

/* DLPack's view of a tensor, and its table of functions. */
typedef struct {
	void *data;
	int32_t device, number, axes;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides; /* in elements */
	uint64_t offset;
} tensor;

typedef struct managed {
	uint32_t major, minor;
	void *context;
	void (*free)(struct managed *);
	uint64_t flags;
	tensor view;
} managed;

typedef struct {
	uint32_t major, minor;
	void *previous, *allocate, *from_object;
	int (*to_object)(managed *, void **); /* takes over a tensor when it succeeds */
	int (*view)(object *, tensor *);
} exchange;

enum { on_cpu = 1, dl_complex = 5, max_buffers = 64 };

/* What rev_python_torch was given, by its place there. */
static struct {
	object *none, *yes, *no;            /* None, True and False */
	object *tensor, *parameter;         /* types */
	object *is_negative, *is_conjugate; /* of a tensor */
	object *transforms, *modes;         /* whether there are transforms of torch.func, and how many modes of dispatch */
	object *early, *early_names;        /* the list of two modes that trace what precedes dispatch, and what names a third */
	object *forward;                    /* the names of the module with the level of forward-mode derivatives */
	object *gradients;                  /* whether there are gradients */
	object *contiguous;                 /* torch.Tensor.contiguous */
	object *tracing;                    /* whether torch.jit.trace records operations */
	object *levels;                     /* how many transforms there are */
	object *level_of, *axis_of, *under; /* of a tensor of a transform: its level, a vmap's axis of problems, and the tensor below */
	object *is_moving;                  /* whether it is of a grad, or of a jvp */
	object *batch, *moving;             /* these make a tensor of a vmap, and of a grad */
	object *single, *set_single;        /* whether a function of autograd may be called under transforms */
	object *innermost, *grad_key;       /* the innermost transform, and the key of a grad */
} pt;
enum { torch_objects = sizeof pt / sizeof(object *) };
/* Names. */
static object *level, *schema_mode, *requires_grad, *apply_name, *problems_name, *key_name;
static object *materialize_name, *needs_name, *save_name, *saved_name; /* of an autograd.Function's context */
static object *numbers[3]; /* 0 to 2 */
static exchange dl;

/* Steps of rev_run on tensors. */
typedef struct {
	object *steps;     /* bytes */
	object *results;   /* of each: a tensor of its shape and type, or None for no result */
	int tensors, large;
	kept_steps *kept;  /* steps that are read, or NULL */
	int inputs;        /* of a gradient: the tensors before the cotangents */
	layout layouts[];  /* of the tensors under autograd */
} plan;

static void free_plan(object *capsule) {
	plan *p = py.PyCapsule_GetPointer(capsule, plan_name);
	py.Py_DecRef(p->steps);
	py.Py_DecRef(p->results);
	if (go_may_run()) forget_steps(p->kept);
	free(p);
}

/* _plan(steps, tensors, results, large, inputs, layouts) returns a capsule. Layouts are those of the
 * tensors under autograd, or there are none: each is the code of its type, the bits of an element, the axes, and three lengths and strides. */
static object *new_plan(object *self, object *args) {
	(void)self;
	enum { words = 3 + 2 * max_axes };
	plan p = {0}, *kept;
	object *packed;
	if (!py.PyArg_ParseTuple(args, "OiOiiO", &p.steps, &p.tensors, &p.results, &p.large, &p.inputs, &packed)) return NULL;
	intptr_t results = py.PyTuple_Size(p.results), n = py.PyBytes_Size(packed) / (intptr_t)(words * sizeof(int64_t));
	if (results < 0 || py.PyBytes_Size(p.steps) < 0 || py.PyBytes_Size(packed) < 0) return NULL;
	if (p.tensors < 0 || p.tensors + results > max_buffers || (n > 0 && n != p.tensors) || p.inputs < 0 || p.inputs > p.tensors) {
		return py.PyObject_CallFunction(raise_status, "iy", (int)REV_ARGUMENT, "revnum: a plan has too many tensors");
	}
	const int64_t *steps = (const int64_t *)py.PyBytes_AsString(p.steps);
	intptr_t steps_words = py.PyBytes_Size(p.steps) / (intptr_t)sizeof(int64_t), buffers = p.tensors;
	for (intptr_t i = 0; i < results; i++) buffers += py.PyTuple_GetItem(p.results, i) != pt.none;
	if (steps_words < 2 || steps[1] != buffers) {
		return py.PyObject_CallFunction(raise_status, "iy", (int)REV_ARGUMENT, "revnum: a plan has steps for other tensors");
	}
	if ((kept = calloc(1, sizeof *kept + (size_t)n * sizeof *kept->layouts)) == NULL) return py.PyErr_NoMemory();
	memcpy(kept, &p, sizeof p);
	const int64_t *from = (const int64_t *)py.PyBytes_AsString(packed);
	for (int i = 0; i < n; i++, from += words) {
		kept->layouts[i] = (layout){.code = (uint8_t)from[0], .bits = (uint8_t)from[1], .axes = (int)from[2]};
		for (int d = 0; d < max_axes; d++) {
			kept->layouts[i].shape[d] = (intptr_t)from[3 + d];
			kept->layouts[i].strides[d] = (intptr_t)from[3 + max_axes + d];
		}
	}
	if (!p.large) kept->kept = keep_steps(steps, steps_words);
	object *capsule = py.PyCapsule_New(kept, plan_name, free_plan);
	if (capsule == NULL) {
		forget_steps(kept->kept);
		free(kept);
		return NULL;
	}
	py.Py_IncRef(p.steps);
	py.Py_IncRef(p.results);
	return capsule;
}

static int see(object *a, void **data) {
	tensor t;
	if (dl.view(a, &t) != 0) return -1;
	*data = (char *)t.data + t.offset;
	return 0;
}

static void free_managed(managed *m) { free(m); }

/* Multiplies a size in bytes, and returns whether memory may have it. */
static int multiply(size_t *size, size_t by) {
	if (by > 0 && *size > (size_t)PTRDIFF_MAX / 2 / by) return 0;
	*size *= by;
	return 1;
}

/* A new tensor without gaps, of the shape and type of another, and its address. This takes half of the time of torch.empty_like. */
static object *like(object *a, void **data) {
	enum { alignment = 64 };
	tensor t;
	if (dl.view(a, &t) != 0) return NULL;
	size_t size = (size_t)t.bits / 8, words = (size_t)t.axes * sizeof(int64_t);
	int fits = 1, empty = 0;
	for (int d = 0; d < t.axes; d++) empty |= t.shape[d] == 0;
	for (int d = 0; d < t.axes && !empty; d++) fits &= multiply(&size, (size_t)t.shape[d]);
	if (empty) size = 0;
	int64_t stride = 1;
	managed *m = fits ? malloc(sizeof *m + 2 * words + alignment + size) : NULL;
	if (m == NULL) return py.PyErr_NoMemory();
	*m = (managed){1, 0, NULL, free_managed, 0, t};
	m->view.shape = (int64_t *)(m + 1);
	m->view.strides = m->view.shape + t.axes;
	memcpy(m->view.shape, t.shape, words);
	for (int d = t.axes - 1; d >= 0; d--) {
		m->view.strides[d] = stride;
		if (t.shape[d] > 1) stride *= t.shape[d];
	}
	m->view.offset = 0;
	m->view.data = *data = (void *)(((uintptr_t)(m->view.strides + t.axes) + alignment - 1) / alignment * alignment);
	void *made = NULL;
	if (dl.to_object(m, &made) == 0) return made;
	free(m);
	return NULL;
}

/* Makes the steps of a plan on tensors at these addresses, after which there is room for those of results. It
 * returns a tuple of the results. */
static object *run_plan(object *capsule, void **buffers) {
	const plan *p = py.PyCapsule_GetPointer(capsule, plan_name);
	intptr_t results = py.PyTuple_Size(p->results), words = py.PyBytes_Size(p->steps) / (intptr_t)sizeof(int64_t), n = p->tensors;
	const int64_t *steps = (const int64_t *)py.PyBytes_AsString(p->steps);
	object *out = py.PyTuple_New(results);
	if (out == NULL) return NULL;
	for (intptr_t i = 0; i < results; i++) {
		object *a = py.PyTuple_GetItem(p->results, i);
		if (a == pt.none) {
			py.Py_IncRef(a);
		} else {
			a = like(a, &buffers[n++]);
		}
		if (a == NULL) {
			py.Py_DecRef(out);
			return NULL;
		}
		py.PyTuple_SetItem(out, i, a);
	}
	int32_t status;
	if (p->kept != NULL) {
		status = short_run_kept(p->kept, buffers);
	} else if (p->large) {
		py.Py_IncRef(capsule); /* which others may drop meanwhile */
		void *thread = py.PyEval_SaveThread();
		status = rev_run(steps, words, buffers, n);
		py.PyEval_RestoreThread(thread);
		py.Py_DecRef(capsule);
	} else {
		status = short_run(steps, words, buffers, n);
	}
	if (status == REV_OK) return out;
	py.Py_DecRef(out);
	return py.PyObject_CallFunction(raise_status, "i", (int)status);
}

/* _run(plan, tensors) */
static object *run_method(object *self, object *args) {
	(void)self;
	object *capsule, *list, *out = NULL;
	void *data[max_buffers];
	if (!py.PyArg_ParseTuple(args, "OO", &capsule, &list)) return NULL;
	if (*closed) return py.PyObject_CallFunction(raise_status, "iy", (int)REV_INTERNAL, "revnum: the library is closed");
	const plan *p = py.PyCapsule_GetPointer(capsule, plan_name);
	object *tensors = p == NULL ? NULL : py.PySequence_Tuple(list);
	if (tensors == NULL) return NULL;
	if (py.PyTuple_Size(tensors) != p->tensors) {
		py.PyObject_CallFunction(raise_status, "iy", (int)REV_ARGUMENT, "revnum: a plan is for other tensors");
		goto end;
	}
	for (int i = 0; i < p->tensors; i++) {
		if (see(py.PyTuple_GetItem(tensors, i), &data[i]) != 0) goto end;
	}
	out = run_plan(capsule, data);
end:
	py.Py_DecRef(tensors);
	return out;
}

/* Whether what a function of Python returns is True, or -1 with an exception. */
static int holds(object *function, object *argument) {
	object *result = py.PyObject_CallFunctionObjArgs(function, argument, NULL);
	py.Py_DecRef(result);
	return result == NULL ? -1 : result == pt.yes;
}

/* Whether something else than autograd and transforms of torch.func looks at operations: modes, or forward-mode
 * derivatives; or -1 with an exception. */
static int watched(void) {
	int yes = holds(pt.tracing, NULL);
	if (yes != 0) return yes;
	object *modes = py.PyObject_CallFunctionObjArgs(pt.modes, NULL), *at = py.PyDict_GetItem(pt.forward, level);
	if (modes == NULL) return -1;
	yes = at == NULL || py.PyLong_AsLong(modes) != 0 || py.PyLong_AsLong(at) >= 0;
	yes |= py.PyList_GetItem(pt.early, 0) != pt.none || py.PyList_GetItem(pt.early, 1) != pt.none;
	yes |= py.PyDict_GetItem(pt.early_names, schema_mode) != pt.none;
	py.Py_DecRef(modes);
	return yes;
}

/* Sets the number that a function of Python returns, and returns whether it does. */
static int number(object *function, object *argument, long *to) {
	object *result = py.PyObject_CallFunctionObjArgs(function, argument, NULL);
	if (result == NULL) return 0;
	*to = py.PyLong_AsLong(result);
	py.Py_DecRef(result);
	return 1;
}

enum { a_vmap = 1, a_grad = 2, deeper = 3 };

/* How many transforms of torch.func there are: a vmap and a grad in it make 2, and more are deeper. It is -1 with an exception. */
static int transforms(void) {
	int yes = holds(pt.transforms, NULL);
	long levels;
	if (yes <= 0) return yes;
	if (!number(pt.levels, NULL, &levels)) return -1;
	return levels < deeper ? (int)levels : deeper;
}

/* Whether the innermost transform is a grad, or -1 with an exception. */
static int innermost_is_grad(void) {
	enum { equal = 2 };
	object *layer = py.PyObject_CallFunctionObjArgs(pt.innermost, NULL);
	object *method = layer == NULL ? NULL : py.PyObject_GetAttr(layer, key_name);
	object *key = method == NULL ? NULL : py.PyObject_CallFunctionObjArgs(method, NULL);
	int yes = key == NULL ? -1 : py.PyObject_RichCompareBool(key, pt.grad_key, equal);
	py.Py_DecRef(key);
	py.Py_DecRef(method);
	py.Py_DecRef(layer);
	return yes;
}

/* Tensors without the transforms of torch.func: a vmap, and a grad in it if there are two. It returns a tuple, or NULL if the
 * tensors do not tell that there are these, or with an exception. *problems has two bits for each tensor: 1 more than the number of its axis of
 * problems, or 0 if it has none. A tensor of a jvp is as one of a grad, but watched tells of it. */
static object *peel(object *tensors, int levels, uint64_t *problems, int *failed) {
	intptr_t n = py.PyTuple_Size(tensors);
	int moving = levels < a_grad;
	*problems = 0;
	*failed = 0;
	if (n > max_operands) return NULL;
	object *parts = py.PyTuple_New(n);
	*failed = parts == NULL;
	for (intptr_t i = 0; i < n && parts != NULL; i++) {
		object *a = py.PyTuple_GetItem(tensors, i);
		int good = 1;
		long at = levels, axis = -1;
		py.Py_IncRef(a);
		while (good && at > 0) {
			long found;
			if (a->type != pt.tensor && a->type != pt.parameter) break;
			*failed = !number(pt.level_of, a, &found);
			good = !*failed && (found == -1 || (found > 0 && found <= at));
			if (!good || found == -1) break;
			if (found == a_vmap) {
				*failed = !number(pt.axis_of, a, &axis);
				good = !*failed && axis >= 0 && axis < max_axes;
			} else {
				int yes = holds(pt.is_moving, a);
				*failed = yes < 0;
				good = moving = yes > 0;
			}
			if (!good) break;
			object *below = py.PyObject_CallFunctionObjArgs(pt.under, a, NULL);
			*failed = below == NULL;
			good = !*failed;
			py.Py_DecRef(a);
			a = below;
			at = found - 1;
		}
		if (good) {
			py.PyTuple_SetItem(parts, i, a);
			*problems |= (uint64_t)(axis + 1) << (2 * i);
		} else {
			py.Py_DecRef(a);
			py.Py_DecRef(parts);
			parts = NULL;
		}
	}
	if (parts == NULL || (moving && *problems != 0)) return parts;
	py.Py_DecRef(parts);
	return NULL;
}

/* Results of all problems, as these transforms have them. It takes over out, a tuple or NULL. */
static object *as_problems(object *out, int levels) {
	intptr_t n = out == NULL ? 0 : py.PyTuple_Size(out);
	object *made = out == NULL ? NULL : py.PyTuple_New(n);
	for (intptr_t i = 0; i < n && made != NULL; i++) {
		object *a = py.PyTuple_GetItem(out, i);
		if (a == pt.none) {
			py.Py_IncRef(a);
		} else {
			a = py.PyObject_CallFunctionObjArgs(pt.batch, a, numbers[0], numbers[a_vmap], NULL);
			if (a != NULL && levels == a_grad) {
				object *inner = a;
				a = py.PyObject_CallFunctionObjArgs(pt.moving, inner, numbers[a_grad], NULL);
				py.Py_DecRef(inner);
			}
		}
		if (a != NULL) {
			py.PyTuple_SetItem(made, i, a);
		} else {
			py.Py_DecRef(made);
			made = NULL;
		}
	}
	py.Py_DecRef(out);
	return made;
}

/* A layout with the axis of problems of tensor i, if it has one, before the others. */
static layout moved(layout l, uint64_t problems, int i) {
	for (int d = (int)(problems >> (2 * i) & 3) - 1; d > 0; d--) {
		intptr_t length = l.shape[d], stride = l.strides[d];
		l.shape[d] = l.shape[d - 1];
		l.strides[d] = l.strides[d - 1];
		l.shape[d - 1] = length;
		l.strides[d - 1] = stride;
	}
	return l;
}

static int tensors_fit(const kept *k, object *args, void **data) {
	for (int i = 0; i < k->inputs; i++) {
		object *a = py.PyTuple_GetItem(args, i);
		const layout *l = &k->layouts[i];
		tensor t;
		if (a->type != pt.tensor && a->type != pt.parameter) return 0;
		if (dl.view(a, &t) != 0) {
			py.PyErr_Clear(); /* the garbage that Python collects for an exception may make calls, which change the list */
			return -1;
		}
		int empty = 0;
		for (int d = 0; d < t.axes; d++) empty |= t.shape[d] == 0;
		if (t.data == NULL && !empty) return -1; /* zeros without memory */
		if (t.device != on_cpu || t.code != l->code || t.bits != l->bits || t.lanes != 1 || t.axes != l->axes) return 0;
		for (int d = 0; d < l->axes; d++) {
			if (t.shape[d] != l->shape[d] || t.strides[d] != l->strides[d]) return 0;
		}
		data[i] = (char *)t.data + t.offset;
	}
	return 1;
}

enum need { plain, gradient, in_python, cannot };

/* What there is about the arguments but their numbers. PyTorch lets other threads run while it is asked. */
static enum need need(object *args) {
	int moving = 0, gradients = holds(pt.gradients, NULL);
	if (gradients < 0) return cannot;
	for (intptr_t i = 0, n = py.PyTuple_Size(args); i < n; i++) {
		object *a = py.PyTuple_GetItem(args, i);
		if (a->type != pt.tensor && a->type != pt.parameter) return in_python;
		int negative = holds(pt.is_negative, a);
		if (negative != 0) return negative > 0 ? in_python : cannot;
		if (!gradients || moving) continue;
		object *grad = py.PyObject_GetAttr(a, requires_grad);
		if (grad == NULL) return cannot;
		moving = grad == pt.yes;
		py.Py_DecRef(grad);
	}
	return moving ? gradient : plain;
}

/* Whether a tensor of a kept call is a conjugate, or has changed meanwhile; or -1 with an exception. */
static int conjugate(const kept *k, object *args, void **data) {
	int yes = 0, asked = 0;
	for (int i = 0; i < k->inputs && yes == 0; i++) {
		if (k->layouts[i].code != dl_complex) continue;
		yes = holds(pt.is_conjugate, py.PyTuple_GetItem(args, i));
		asked = 1;
	}
	return yes == 0 && asked ? tensors_fit(k, args, data) <= 0 : yes;
}

/* Calls the apply of a function of autograd under transforms of torch.func, which have to be told that it knows of them. */
static object *apply_single(object *apply, object *args) {
	object *before = py.PyObject_CallFunctionObjArgs(pt.single, NULL), *out = NULL, *error[3];
	object *set = before == NULL ? NULL : py.PyObject_CallFunctionObjArgs(pt.set_single, pt.yes, NULL);
	if (set != NULL) {
		out = py.PyObject_Call(apply, args, NULL);
		py.PyErr_Fetch(&error[0], &error[1], &error[2]);
		py.Py_DecRef(py.PyObject_CallFunctionObjArgs(pt.set_single, before, NULL));
		py.PyErr_Restore(error[0], error[1], error[2]);
	}
	py.Py_DecRef(set);
	py.Py_DecRef(before);
	return out;
}

/* The value with a gradient, a tuple. */
static object *apply(kept *k, object *args) {
	if (k->apply == NULL) {
		object *made = py.PyObject_GetAttr(k->plans, apply_name);
		if (made == NULL) return NULL;
		if (k->apply == NULL) {
			k->apply = made;
		} else { /* by another thread meanwhile */
			py.Py_DecRef(made);
		}
	}
	return k->problems != 0 ? apply_single(k->apply, args) : py.PyObject_Call(k->apply, args, NULL);
}

/* A copy without gaps of a tensor at from. */
static char *gather(const layout *l, const char *from) {
	intptr_t size = l->bits / 8, shape[max_axes], strides[max_axes];
	size_t bytes = (size_t)size;
	int good = 1;
	for (int d = 0, missing = max_axes - l->axes; d < max_axes; d++) {
		shape[d] = d < missing ? 1 : l->shape[d - missing];
		strides[d] = d < missing ? 0 : l->strides[d - missing] * size;
		good &= multiply(&bytes, (size_t)shape[d]);
	}
	char *copy = good ? malloc(1 + bytes) : NULL, *to = copy;
	if (copy == NULL) return (char *)py.PyErr_NoMemory();
	void *thread = bytes > max_held * sizeof(double) ? py.PyEval_SaveThread() : NULL; /* other threads of Python run meanwhile */
	for (intptr_t i = 0; i < shape[0]; i++) {
		for (intptr_t j = 0; j < shape[1]; j++) {
			const char *at = from + i * strides[0] + j * strides[1];
			for (intptr_t k = 0; k < shape[2]; k++, to += size, at += strides[2]) memcpy(to, at, (size_t)size);
		}
	}
	if (thread != NULL) py.PyEval_RestoreThread(thread);
	return copy;
}

/* Copies without gaps. */
typedef struct {
	object *made[max_buffers];
	char *copies[max_buffers];
	int n;
} copies;

static void drop_copies(copies *c) {
	for (int i = 0; i < c->n; i++) {
		py.Py_DecRef(c->made[i]);
		free(c->copies[i]);
	}
}

/* Makes a copy of a tensor of layout l, and sets its address. It returns whether that went well. */
static int copy(copies *c, const layout *l, int large, object *a, void **data) {
	object **made = &c->made[c->n];
	char **gathered = &c->copies[c->n++];
	*made = NULL;
	*gathered = NULL;
	if (!large) return (*data = *gathered = gather(l, *data)) != NULL;
	*made = py.PyObject_CallFunctionObjArgs(pt.contiguous, a, NULL);
	return *made != NULL && see(*made, data) == 0;
}

/* The value without a gradient, a tuple. data are the addresses of the tensors. */
static object *value(const kept *k, object *args, void **data) {
	copies c = {.n = 0};
	int good = 1;
	for (int i = 0; i < k->inputs && good; i++) {
		if (!k->layouts[i].copied) continue;
		layout l = moved(k->layouts[i], k->problems, i);
		good = copy(&c, &l, k->large && k->problems == 0, py.PyTuple_GetItem(args, i), &data[i]); /* PyTorch copies no single part of a vmap */
	}
	object *out = good ? run_plan(k->plan, data) : NULL;
	drop_copies(&c);
	return out;
}

/* The first call under a vmap on tensors like these. */
static object *first(object *function, object *parts, uint64_t problems, object *args, object *keywords) {
	object *method = py.PyObject_GetAttr(function, problems_name), *out = NULL;
	if (method != NULL) out = py.PyObject_CallFunction(method, "OKOO", parts, (unsigned long long)problems, args, keywords == NULL ? pt.none : keywords);
	py.Py_DecRef(method);
	return out;
}

static object *call_on_tensors(object *function, object *args, object *keywords) {
	int levels = transforms(), no_calls = levels == 0 && calls_of(function) == NULL, failed = levels < 0, python = no_calls || levels == deeper;
	object *parts = NULL, *out = NULL; /* what the call is made on */
	uint64_t problems = 0;
	if (!failed && !python) {
		int yes = watched();
		failed = yes < 0;
		python = yes > 0;
	}
	if (!failed && !python) {
		if (levels > 0) {
			parts = peel(args, levels, &problems, &failed);
		} else {
			py.Py_IncRef(parts = args);
		}
		python = parts == NULL;
	}
	enum need what = failed ? cannot : python ? in_python : need(parts);
	if (what == gradient && levels > 0) what = in_python;
	void *data[max_buffers];
	kept *k = what == plain || what == gradient ? find(function, parts, keywords, problems, data, tensors_fit) : NULL;
	if (k != NULL) {
		k->users++; /* others may forget what is kept while PyTorch lets them run */
		int odd = conjugate(k, parts, data);
		if (odd > 0) {
			what = in_python;
		} else if (odd == 0) {
			out = what == gradient || levels == a_grad ? apply(k, args) : value(k, parts, data);
			if (levels == a_vmap) out = as_problems(out, levels);
		}
		drop(k);
	} else if (what == plain && levels > 0) {
		out = first(function, parts, problems, args, keywords);
		py.Py_DecRef(parts);
		return out;
	} else if (what == plain || what == gradient) {
		what = in_python;
	}
	py.Py_DecRef(parts);
	if (what == in_python) return slow(function, args, keywords);
	if (out == NULL || py.PyTuple_Size(out) != 1) return out;
	object *only = py.PyTuple_GetItem(out, 0);
	py.Py_IncRef(only);
	py.Py_DecRef(out);
	return only;
}

/* Whether a is a tensor that is no conjugate or negative, or -1 with an exception. */
static int is_plain(const layout *l, object *a) {
	if (a->type != pt.tensor && a->type != pt.parameter) return 0;
	int other = holds(pt.is_negative, a);
	if (other == 0 && l->code == dl_complex) other = holds(pt.is_conjugate, a);
	return other < 0 ? -1 : !other;
}

/* Sets the address of tensor i, which is a, for layout l, or that of a copy if it has other strides. Problems are those of peel. It returns 0 for
 * another tensor, and -1 with an exception. */
static int place(copies *c, const layout *l, int large, object *a, uint64_t problems, int i, void **data) {
	tensor t;
	if (dl.view(a, &t) != 0) { /* it has no memory of its own */
		py.PyErr_Clear();
		return 0;
	}
	if (t.device != on_cpu || t.code != l->code || t.bits != l->bits || t.lanes != 1 || t.axes != l->axes) return 0;
	layout found = *l;
	int64_t size = 1;
	int same = 1, dense = 1; /* whether it has the strides of l, and l no gaps */
	for (int d = 0; d < l->axes; d++) {
		found.shape[d] = (intptr_t)t.shape[d];
		found.strides[d] = (intptr_t)t.strides[d];
	}
	found = moved(found, problems, i);
	for (int d = l->axes - 1; d >= 0; d--) {
		if (found.shape[d] != l->shape[d]) return 0;
		same &= found.shape[d] < 2 || found.strides[d] == l->strides[d];
		dense &= found.shape[d] < 2 || l->strides[d] == size;
		size *= found.shape[d];
	}
	if (t.data == NULL && size > 0) return 0;
	*data = (char *)t.data + t.offset;
	if (same) return 1;
	return !dense ? 0 : copy(c, &found, large && problems == 0, a, data) ? 1 : -1;
}

/* The first slot of what autograd calls: the plan of the value, or None; a dict by which gradients are needed; and whether
 * this is for a grad in a vmap. The dict has plans of gradients, or then the apply of functions of autograd that make them. */
static object *plans_of(object *self) { return *(object **)(self + 1); }

static int in_a_vmap(object *self) { return py.PyTuple_GetItem(plans_of(self), 2) == pt.yes; }

/* Whether a tensor of a vmap has a gradient outside of it, or is a conjugate or negative; or -1 with an exception. */
static int is_other(const layout *l, object *a) {
	int good = is_plain(l, a);
	if (good <= 0) return good < 0 ? -1 : 1;
	object *grad = py.PyObject_GetAttr(a, requires_grad);
	py.Py_DecRef(grad);
	return grad == NULL ? -1 : grad == pt.yes;
}

/* _forward(ctx, *tensors): what autograd calls for a value with a gradient. */
static object *forward(object *self, object *args) {
	object *ctx = py.PyTuple_GetItem(args, 0), *out = NULL, *capsule = py.PyTuple_GetItem(plans_of(self), 0);
	object *tensors = ctx == NULL || capsule == NULL ? NULL : py.PyTuple_GetSlice(args, 1, py.PyTuple_Size(args)), *parts = tensors;
	int good = tensors == NULL ? -1 : capsule != pt.none && !*closed, inner = in_a_vmap(self), failed;
	uint64_t problems = 0;
	copies c = {.n = 0};
	if (good > 0 && inner) {
		parts = peel(tensors, a_grad, &problems, &failed);
		good = failed ? -1 : parts != NULL;
	} else {
		py.Py_IncRef(parts);
	}
	if (good > 0) {
		const plan *p = py.PyCapsule_GetPointer(capsule, plan_name);
		void *data[max_buffers];
		good = py.PyTuple_Size(parts) == p->tensors;
		for (int i = 0; i < p->tensors && good > 0 && inner; i++) {
			int other = is_other(&p->layouts[i], py.PyTuple_GetItem(parts, i));
			good = other < 0 ? -1 : !other;
		}
		for (int i = 0; i < p->tensors && good > 0; i++) good = place(&c, &p->layouts[i], p->large, py.PyTuple_GetItem(parts, i), problems, i, &data[i]);
		/* Python's methods set_materialize_grads and save_for_backward set these too. */
		if (good > 0 && py.PyObject_SetAttr(ctx, save_name, tensors) == 0 && py.PyObject_SetAttr(ctx, materialize_name, pt.no) == 0) out = run_plan(capsule, data);
		if (inner) out = as_problems(out, a_grad);
	}
	if (good == 0) out = slow(self, args, NULL);
	drop_copies(&c);
	py.Py_DecRef(parts);
	py.Py_DecRef(tensors);
	return out;
}

/* self.slow(ctx, saved, *cotangents), where saved may be NULL for None. args are the others. */
static object *slow_gradients(object *self, object *args, object *saved) {
	intptr_t n = py.PyTuple_Size(args);
	object *all = py.PyTuple_New(n + 1);
	if (all == NULL) return NULL;
	for (intptr_t i = 0; i <= n; i++) {
		object *a = i != 1 ? py.PyTuple_GetItem(args, i - (i > 1)) : saved != NULL ? saved : pt.none;
		py.Py_IncRef(a);
		py.PyTuple_SetItem(all, i, a);
	}
	object *out = slow(self, all, NULL);
	py.Py_DecRef(all);
	return out;
}

/* The gradients by a plan for tensors and cotangents, or NULL; then *other says whether Python must make them. args
 * are the context of autograd and the cotangents, and *saved becomes the tensors that it has saved. These may be
 * asked for only once. */
static object *planned_gradients(object *capsule, object *args, object **saved, int *other) {
	const plan *p = py.PyCapsule_GetPointer(capsule, plan_name);
	intptr_t cotangents = py.PyTuple_Size(args) - 1;
	void *data[max_buffers];
	copies c = {.n = 0};
	object *out = NULL;
	int good = cotangents <= p->tensors - p->inputs;
	for (intptr_t i = 0; i < cotangents && good > 0; i++) good = is_plain(&p->layouts[p->inputs + i], py.PyTuple_GetItem(args, 1 + i));
	if (good > 0) good = (*saved = py.PyObject_GetAttr(py.PyTuple_GetItem(args, 0), saved_name)) == NULL ? -1 : py.PyTuple_Size(*saved) + cotangents == p->tensors;
	for (int pass = 0; pass < 2; pass++) { /* questions first: others may run then */
		for (int i = 0; i < p->tensors && good > 0; i++) {
			int is_cotangent = i >= p->inputs && i < p->inputs + cotangents;
			object *a = is_cotangent ? py.PyTuple_GetItem(args, 1 + i - p->inputs) : py.PyTuple_GetItem(*saved, i < p->inputs ? i : i - cotangents);
			if (pass == 1) {
				good = place(&c, &p->layouts[i], p->large, a, 0, i, &data[i]);
			} else if (!is_cotangent) {
				good = is_plain(&p->layouts[i], a);
			}
		}
	}
	if (good > 0) out = run_plan(capsule, data);
	drop_copies(&c);
	*other = good == 0;
	return out;
}

/* The same for a grad in a vmap, by the apply of a function of autograd, as these gradients may have gradients. It takes the inputs, the
 * cotangents and the constants. inputs is how many tensors precede the cotangents. A vmap in the other, as jacrev makes one after its grad
 * has ended, is not for this function: apply is of the level of a grad, and would lose gradients to what is outside. */
static object *gradients_in_a_vmap(object *apply, intptr_t inputs, object *args, object **saved, int *other) {
	intptr_t cotangents = py.PyTuple_Size(args) - 1;
	int good = innermost_is_grad();
	*other = good == 0;
	if (good <= 0) return NULL;
	for (intptr_t i = 0; i < cotangents; i++) {
		if (py.PyTuple_GetItem(args, 1 + i) != pt.none) continue;
		*other = 1;
		return NULL;
	}
	if ((*saved = py.PyObject_GetAttr(py.PyTuple_GetItem(args, 0), saved_name)) == NULL) return NULL;
	intptr_t n = py.PyTuple_Size(*saved) + cotangents;
	object *all = py.PyTuple_New(n), *out = NULL;
	for (intptr_t i = 0; i < n && all != NULL; i++) {
		int is_cotangent = i >= inputs && i < inputs + cotangents;
		object *a = is_cotangent ? py.PyTuple_GetItem(args, 1 + i - inputs) : py.PyTuple_GetItem(*saved, i < inputs ? i : i - cotangents);
		py.Py_IncRef(a);
		py.PyTuple_SetItem(all, i, a);
	}
	if (all != NULL) out = apply_single(apply, all);
	py.Py_DecRef(all);
	return out;
}

/* _gradients(ctx, *cotangents): what autograd calls for the gradients of a value. */
static object *gradients(object *self, object *args) {
	object *ctx = py.PyTuple_GetItem(args, 0), *saved = NULL, *out = NULL;
	if (ctx == NULL) return NULL;
	int inner = in_a_vmap(self), levels = transforms(), other = levels < 0 ? -1 : *closed || levels != (inner ? a_grad : 0);
	if (other == 0) other = watched();
	if (other == 0 && !inner) other = holds(pt.gradients, NULL); /* for a second derivative */
	if (other < 0) return NULL;
	if (other == 0) {
		object *needs = py.PyObject_GetAttr(ctx, needs_name), *made = needs == NULL ? NULL : py.PyDict_GetItem(py.PyTuple_GetItem(plans_of(self), 1), needs);
		py.Py_IncRef(made);
		if (made == NULL) {
			other = needs != NULL;
		} else if (inner) {
			out = gradients_in_a_vmap(py.PyTuple_GetItem(made, 0), py.PyLong_AsLong(py.PyTuple_GetItem(made, 1)), args, &saved, &other);
		} else {
			out = planned_gradients(made, args, &saved, &other);
		}
		py.Py_DecRef(made);
		py.Py_DecRef(needs);
	}
	if (other) out = slow_gradients(self, args, saved);
	py.Py_DecRef(saved);
	return out;
}

/* _keep(tensors, copied, plan, plans, keywords, problems) keeps a plan for tensors like these, whether each is copied, and an
 * object whose apply makes a value with a gradient; for numbers by name, and the problems of peel. It returns the value of the slot. */
static object *keep_plan(object *function, object *args) {
	object *tensors, *copied, *capsule, *own, *plans, *keywords;
	unsigned long long problems;
	if (!py.PyArg_ParseTuple(args, "OOOOOK", &tensors, &copied, &own, &plans, &keywords, &problems)) return NULL;
	intptr_t n = py.PyTuple_Size(tensors);
	if (n < 0 || py.PyTuple_Size(copied) < 0 || py.PyDict_Size(keywords) < 0) return NULL;
	const plan *p = py.PyCapsule_GetPointer(own, plan_name);
	if (p == NULL) return NULL;
	if (py.PyTuple_Size(copied) != n || p->tensors != n) {
		return py.PyObject_CallFunction(raise_status, "iy", (int)REV_ARGUMENT, "revnum: a plan is for other tensors");
	}
	if ((capsule = capsule_of(function)) == NULL || n > max_operands || !plain_names(keywords)) return capsule;
	kept *k = calloc(1, sizeof *k);
	if (k == NULL) {
		py.Py_DecRef(capsule);
		return py.PyErr_NoMemory();
	}
	k->inputs = (int)n;
	for (int i = 0; i < n; i++) {
		tensor t;
		layout *l = &k->layouts[i];
		if (dl.view(py.PyTuple_GetItem(tensors, i), &t) != 0) {
			free(k);
			py.Py_DecRef(capsule);
			return NULL;
		}
		if (t.axes > max_axes) { /* no kernel takes one */
			free(k);
			return capsule;
		}
		l->copied = py.PyTuple_GetItem(copied, i) == pt.yes;
		l->code = t.code;
		l->bits = t.bits;
		l->axes = t.axes;
		for (int d = 0; d < t.axes; d++) {
			l->shape[d] = t.shape[d];
			l->strides[d] = t.strides[d];
		}
	}
	set_keywords(k, keywords);
	k->problems = problems;
	k->large = p->large;
	py.Py_IncRef(own);
	py.Py_IncRef(plans);
	k->plan = own;
	k->plans = plans;
	add(capsule, k);
	return capsule;
}

void *rev_python_torch(const void *dlpack, void *objects, void *base) {
	static method methods[] = {
		{"_keep", keep_plan, takes_tuple, "Keeps a plan."}, {"_plan", new_plan, takes_tuple, "Makes a plan of steps."},
		{"_run", run_method, takes_tuple, "Makes the steps of a plan."},
		{"_forward", forward, takes_tuple, "Makes a value."}, {"_gradients", gradients, takes_tuple, "Makes gradients."}, {NULL, NULL, 0, NULL},
	};
	static const slot slots[] = {{slot_call, (void *)call_on_tensors}, {slot_methods, methods}, {0, NULL}};
	static type_spec spec = {"revnum.TensorFunction", 0, 0, default_flags, slots};
	dl = *(const exchange *)dlpack;
	py.Py_IncRef(objects); /* for ever */
	object **to = (object **)&pt;
	for (int i = 0; i < torch_objects; i++) {
		if ((to[i] = py.PyTuple_GetItem(objects, i)) == NULL) return NULL;
	}
	static const struct {
		object **to;
		const char *name;
	} names[] = {
		{&level, "_current_level"}, {&schema_mode, "_schema_check_mode"}, {&requires_grad, "requires_grad"},
		{&apply_name, "apply"}, {&materialize_name, "materialize_grads"}, {&needs_name, "needs_input_grad"},
		{&save_name, "to_save"}, {&saved_name, "saved_tensors"}, {&problems_name, "problems"}, {&key_name, "key"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if ((*names[i].to = py.PyUnicode_InternFromString(names[i].name)) == NULL) return NULL;
	}
	for (int i = 0; i < 3; i++) {
		if ((numbers[i] = py.PyLong_FromLong(i)) == NULL) return NULL;
	}
	return subclass(&spec, base);
}
