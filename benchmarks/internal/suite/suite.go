package suite

// Problems returns the problems of the default suite, in the order of the
// table. They are drawn from fixed seeds.
func Problems() []*Problem {
	one, both := []int{1}, []int{1, 2}
	return append(gmmProblems(),
		llsqProblem(4096, 8, one),
		llsqProblem(4096, 32, one),
		llsqProblem(4096, 128, one),
		llsqProblem(16392, 128, both),
		lseProblem(1000, one),
		lseProblem(100000, one),
		lseProblem(1280000, both),
		lseProblem(largeVector, one),
		dotProblem(1000),
		dotProblem(100000),
		dotProblem(largeVector),
		norm2Problem(1000),
		norm2Problem(100000),
		affineProblem(100),
		affineProblem(1000),
		expProblem(1000),
		expProblem(100000),
	)
}
