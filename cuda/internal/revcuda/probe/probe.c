// Prints what the driver says of itself and its devices. It needs no header of CUDA, and no driver
// when it is compiled.
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib) {
		printf("none\t%s\n", dlerror());
		return 0;
	}
	int (*init)(unsigned) = dlsym(lib, "cuInit");
	int (*driver)(int *) = dlsym(lib, "cuDriverGetVersion");
	int (*count)(int *) = dlsym(lib, "cuDeviceGetCount");
	int (*name)(char *, int, int) = dlsym(lib, "cuDeviceGetName");
	int (*attribute)(int *, int, int) = dlsym(lib, "cuDeviceGetAttribute");
	if (!init || !driver || !count || !name || !attribute) {
		printf("none\tlibcuda.so.1 lacks functions of CUDA\n");
		return 0;
	}
	int version = 0, devices = 0, r = init(0);
	driver(&version);
	printf("driver\t%d\n", version);
	if (r || (r = count(&devices))) printf("error\t%d\n", r);
	for (int i = 0; i < devices; i++) {
		char called[256] = "";
		int major = 0, minor = 0;
		name(called, sizeof called, i);
		attribute(&major, 75, i); // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
		attribute(&minor, 76, i);
		printf("device\t%d\t%s\n", 10 * major + minor, called);
	}
	return 0;
}
