// The cuda.h of the toolkit, for gorgonia.org/cu. CUDA 13 gives five names to functions with other
// parameters than those that cu passes. Here they name the functions of CUDA 12 again, which the
// driver keeps. This folder comes before that of the toolkit.
#include_next <cuda.h>

#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);

#undef cuMemAdvise
CUresult CUDAAPI cuMemAdvise(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice device);

#undef cuMemPrefetchAsync
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr at, size_t bytes, CUdevice to, CUstream stream);

#undef cuGraphAddDependencies
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n);

#undef cuGraphGetEdges
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n);
#endif
