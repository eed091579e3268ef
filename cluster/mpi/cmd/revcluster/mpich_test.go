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
	{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=nb"},
	{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=smp"},
	{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling"},
	{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=reduce_scatter_allgather"},
}
