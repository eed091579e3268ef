package num

import "sort"

// Order returns the indices of n elements in the order that sort.Slice brings the elements to.
func Order(n int, before func(i, j int) bool) []int { return ordered(n, before, sort.Slice) }

// StableOrder returns the indices of n elements in their order. Of equal ones the first comes first.
func StableOrder(n int, before func(i, j int) bool) []int {
	return ordered(n, before, sort.SliceStable)
}

func ordered(n int, before func(i, j int) bool, sort func(x any, less func(i, j int) bool)) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sort(order, func(i, j int) bool { return before(order[i], order[j]) })
	return order
}
