//go:build !mpich

package main

// launcher starts ranks. rankVariable says which rank a process is.
var (
	launcher     = []string{"mpirun.openmpi", "--oversubscribe"}
	tags         = ""
	rankVariable = "OMPI_COMM_WORLD_RANK"
)

// algorithms are settings of MPI, each with another algorithm of MPI_Allreduce: linear,
// non-overlapping, recursive doubling, ring, segmented ring, and Rabenseifner's.
var algorithms = [][]string{
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=1"},
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=2"},
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=3"},
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=4"},
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=5"},
	{"OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=6"},
}
