//go:build !amd64 || noasm

package simd

func (s *SpGEMM[T, I]) rows(lo, hi int) int { return 0 }
