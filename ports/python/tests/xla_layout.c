/* That ports/capi/xla.h is what jaxlib's header says. */
#include "xla/ffi/api/c_api.h"

#include "xla.h"

#define SAME(ours, our_field, theirs, their_field) \
	_Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && sizeof(((ours *)0)->our_field) == sizeof(((theirs *)0)->their_field), #ours "." #our_field)

SAME(xla_extension, size, XLA_FFI_Extension_Base, struct_size);
SAME(xla_extension, type, XLA_FFI_Extension_Base, type);
SAME(xla_extension, next, XLA_FFI_Extension_Base, next);
SAME(xla_version, size, XLA_FFI_Api_Version, struct_size);
SAME(xla_version, extension, XLA_FFI_Api_Version, extension_start);
SAME(xla_version, major, XLA_FFI_Api_Version, major_version);
SAME(xla_version, minor, XLA_FFI_Api_Version, minor_version);
SAME(xla_metadata_of_handler, version, XLA_FFI_Metadata, api_version);
SAME(xla_metadata_of_handler, traits, XLA_FFI_Metadata, traits);
SAME(xla_metadata_extension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME(xla_metadata_extension, metadata, XLA_FFI_Metadata_Extension, metadata);
SAME(xla_new_error, message, XLA_FFI_Error_Create_Args, message);
SAME(xla_new_error, code, XLA_FFI_Error_Create_Args, errc);
SAME(xla_api, new_error, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME(xla_buffer, type, XLA_FFI_Buffer, dtype);
SAME(xla_buffer, data, XLA_FFI_Buffer, data);
SAME(xla_buffer, rank, XLA_FFI_Buffer, rank);
SAME(xla_buffer, dims, XLA_FFI_Buffer, dims);
SAME(xla_values, n, XLA_FFI_Args, size);
SAME(xla_values, values, XLA_FFI_Args, args);
SAME(xla_values, n, XLA_FFI_Rets, size);
SAME(xla_values, values, XLA_FFI_Rets, rets);
SAME(xla_attributes, n, XLA_FFI_Attrs, size);
SAME(xla_attributes, types, XLA_FFI_Attrs, types);
SAME(xla_attributes, values, XLA_FFI_Attrs, attrs);
SAME(xla_numbers, type, XLA_FFI_Array, dtype);
SAME(xla_numbers, n, XLA_FFI_Array, size);
SAME(xla_numbers, data, XLA_FFI_Array, data);
SAME(xla_frame, extension, XLA_FFI_CallFrame, extension_start);
SAME(xla_frame, api, XLA_FFI_CallFrame, api);
SAME(xla_frame, stage, XLA_FFI_CallFrame, stage);
SAME(xla_frame, arguments, XLA_FFI_CallFrame, args);
SAME(xla_frame, results, XLA_FFI_CallFrame, rets);
SAME(xla_frame, attributes, XLA_FFI_CallFrame, attrs);

_Static_assert(xla_major == XLA_FFI_API_MAJOR && xla_minor <= XLA_FFI_API_MINOR, "version");
_Static_assert((int)xla_metadata == XLA_FFI_Extension_Metadata && (int)xla_array == XLA_FFI_AttrType_ARRAY, "kinds");
