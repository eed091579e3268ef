// Package problem has the problems of ADBench (Srajer, Kukelova and Fitzgibbon, "A
// benchmark of selected algorithmic differentiation tools on some problems in computer
// vision and machine learning", 2018), which GradBench took over. It reads, writes and
// draws them, and makes the objectives that both time.
package problem
