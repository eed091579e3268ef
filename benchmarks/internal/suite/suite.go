package suite

// Problems returns the problems of the default suite, in the order of the
// table. They are drawn from fixed seeds.
func Problems() []*Problem {
	problems := gmmProblems()
	problems = append(problems, expProblem(1000), expProblem(100000))
	return problems
}
