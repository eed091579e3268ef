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
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=1"},
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=2"},
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=3"},
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=4"},
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=5"},
	{"REVCLUSTER_DIRECT=0", "OMPI_MCA_coll_tuned_use_dynamic_rules=1", "OMPI_MCA_coll_tuned_allreduce_algorithm=6"},
}
