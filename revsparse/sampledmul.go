package revsparse

import (
	"revnum/internal/number"
	"revnum/rev"
)

// SampledMul computes a dense product at the entries of a sparse matrix alone. It is the
// kernel
//
//	S_ij += Σ_l A_il·B_jl  at the entries of S
//
// of a sparse S and dense A and B (the sampled dense-dense product): S += A·Bᵀ,
// computed only where S has entries. The derivatives are
//
//	Ā_i += Σ_j S̄_ij·B_j,  B̄_j += Σ_i S̄_ij·A_i,  Ṡ_ij += Ȧ_i·B_j + A_i·Ḃ_j
//
// for rows of A and B, over the entries of S. Entries of the same place get the same
// sum each. The structure of S says what is computed, so it must be there: only S.Data may be
// nil. Otherwise the methods panic.
//
// In floating point a sum of n products is within n·ε·Σ|a_il·b_jl|. It is added in
// parts of 64 products, 128 in float32. Inverse restores S within one unit in the last
// place, of the largest value on the way, for each part. In fixed point each part is
// exact and rounded once. B̄ uses a transposed copy of S̄, as in Mul. The bits do not
// depend on the number of workers.
type SampledMul[T rev.Real, I Index] struct {
	S       CSR[T, I]      `rev:"acc" shape:"m,n"`
	A       rev.General[T] `rev:"in" shape:"m,k"`
	B       rev.General[T] `rev:"in" shape:"n,k"`
	Workers int            // 0 means GOMAXPROCS
}

// sampledMulProduct computes s_ij += sign·a_i·b_j, unless an operand is nil.
func sampledMulProduct[T rev.Real, I Index](k *SampledMul[T, I], sign int, s []T, a, b rev.General[T]) {
	if s == nil || a.Data == nil || b.Data == nil {
		return
	}
	p := pass[T, I]{a: k.S.With(nil), v: a, u: b, ga: s, gamma: number.Signed(sign, number.One[T]()), workers: k.Workers}
	p.run()
}

// sampledMulAddGradient adds to ga and gb the cotangents of a and b for the cotangent gs of S. It leaves
// out what is nil.
func sampledMulAddGradient[T rev.Real, I Index](k *SampledMul[T, I], gs []T, a, b, ga, gb rev.General[T]) {
	if b.Data == nil {
		ga.Data = nil
	}
	if a.Data == nil {
		gb.Data = nil
	}
	if gs == nil || ga.Data == nil && gb.Data == nil {
		return
	}
	p := pass[T, I]{a: k.S.With(gs), workers: k.Workers}
	if ga.Data != nil {
		p.u, p.out, p.alpha = b, ga, number.One[T]()
	}
	if gb.Data != nil {
		p.v, p.w, p.beta = a, gb, number.One[T]()
	}
	p.run()
}

// sampledMulRun is Run of SampledMul. It returns no error.
func sampledMulRun[T rev.Real, I Index](k *SampledMul[T, I], p *rev.Pass[SampledMul[T, I]]) error {
	checkOutput[SampledMul[T, I]](&k.S, "S", k.A.Rows, k.B.Rows)
	g, t, gt := &p.G, &p.T, &p.GT
	sampledMulProduct(k, p.Sign(), k.S.Data, k.A, k.B)
	sampledMulProduct(k, p.Sign(), t.S.Data, t.A, k.B)
	sampledMulProduct(k, p.Sign(), t.S.Data, k.A, t.B)
	sampledMulAddGradient(k, gt.S.Data, k.A, k.B, gt.A, gt.B)
	sampledMulAddGradient(k, g.S.Data, t.A, t.B, gt.A, gt.B)
	sampledMulAddGradient(k, g.S.Data, k.A, k.B, g.A, g.B)
	return nil
}
