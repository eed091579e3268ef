//go:build mpich

package main

// launcher starts ranks. rankVariable says which rank a process is.
var (
	launcher     = []string{"mpirun.mpich"}
	tags         = "mpich"
	rankVariable = "PMI_RANK"
)

// algorithms are settings of MPI, each with another algorithm of MPI_Allreduce.
var algorithms = [][]string{
	{"REVCLUSTER_DIRECT=0", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb"},
	{"REVCLUSTER_DIRECT=0", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp"},
	{"REVCLUSTER_DIRECT=0", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling"},
	{"REVCLUSTER_DIRECT=0", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather"},
}
