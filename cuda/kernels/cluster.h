// Clusters of blocks that run together, which cards of compute capability 9.0 and later have.
#pragma once
#include "number.h"

// A cluster has so many blocks. CLUSTER begins a kernel of clusters. Clang 19 only has an attribute for the most blocks of a
// cluster, and compile.sh writes into the PTX that a cluster has exactly so many.
constexpr int clusterBlocks = 8;
#define CLUSTER KERNEL __attribute__((launch_bounds(maxThreads, 1, clusterBlocks)))

// Threads have up to ownRows rows of a panel of up to panelCols columns, of which they hold partCols in registers.
constexpr int panelCols = 64, partCols = 16, ownRows = 4, mostWarps = maxThreads / lanes; // as in cuda/solve.go

DEVICE int clusterRank() { return __nvvm_read_ptx_sreg_cluster_ctarank(); }

// warpMost and warpLeast return the largest and the smallest number of the lanes.
DEVICE unsigned warpMost(unsigned v) {
	asm volatile("redux.sync.max.u32 %0, %1, -1;" : "=r"(v) : "r"(v));
	return v;
}
DEVICE unsigned warpLeast(unsigned v) {
	asm volatile("redux.sync.min.u32 %0, %1, -1;" : "=r"(v) : "r"(v));
	return v;
}

// clusterBarrier waits for all threads of the cluster, and what they wrote.
DEVICE void clusterBarrier() { asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory"); }

// OF_BLOCK declares shared memory that other blocks of the cluster use, too. On the host their threads are beside
// each other.
#ifdef __CUDA__
#define OF_BLOCK(T, name) SHARED T name
#else
#define OF_BLOCK(T, name) static T name##OfAll[clusterBlocks]; T &name = name##OfAll[clusterRank()]
#endif

// ofBlock returns the m of a block.
template <class M> DEVICE M &ofBlock(M &m, int rank) {
	M *to;
	asm("mapa.u64 %0, %1, %2;" : "=l"(to) : "l"(&m), "r"(rank));
	return *to;
}
