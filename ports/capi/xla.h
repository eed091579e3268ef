/* What of XLA's foreign function interface, version 0.3, rev_xla uses. (jaxlib has it as
 * xla/ffi/api/c_api.h; a test of ports/python compares the two. It is declared here, so
 * that the library is built without JAX. The interface is binary and has versions, and
 * XLA refuses handlers of one that it does not know.) */
#ifndef REVNUM_XLA_H
#define REVNUM_XLA_H

#include <stddef.h>
#include <stdint.h>

enum { xla_major = 0, xla_minor = 3, xla_metadata = 1, xla_array = 1 };

typedef struct xla_extension {
	size_t size;
	int type;
	struct xla_extension *next;
} xla_extension;

typedef struct {
	size_t size;
	xla_extension *extension;
	int major, minor;
} xla_version;

typedef struct {
	size_t size;
	xla_version version;
	uint32_t traits;
	int64_t state;
} xla_metadata_of_handler;

typedef struct {
	xla_extension base;
	xla_metadata_of_handler *metadata;
} xla_metadata_extension;

typedef struct {
	size_t size;
	xla_extension *extension;
	const char *message;
	int code;
} xla_new_error;

typedef struct xla_error xla_error;

typedef struct {
	size_t size;
	xla_extension *extension;
	xla_version version;
	const void *internal;
	xla_error *(*new_error)(xla_new_error *);
} xla_api;

typedef struct {
	size_t size;
	xla_extension *extension;
	int type;
	void *data;
	int64_t rank;
	int64_t *dims;
} xla_buffer;

typedef struct { /* arguments and results */
	size_t size;
	xla_extension *extension;
	int64_t n;
	int *types;
	void **values;
} xla_values;

typedef struct {
	size_t size;
	xla_extension *extension;
	int64_t n;
	int *types;
	void **names;
	void **values;
} xla_attributes;

typedef struct {
	int type;
	size_t n;
	void *data;
} xla_numbers;

typedef struct {
	size_t size;
	xla_extension *extension;
	const xla_api *api;
	void *context;
	int stage;
	xla_values arguments, results;
	xla_attributes attributes;
} xla_frame;

#endif
