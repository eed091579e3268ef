# The kernels of revnum as rules of ChainRules, over the library of ports/capi.
#
# Written by a test of package rules from the registry. Not run: it was written where there
# was no Julia.
#
#     ENV["REVNUM_LIBRARY"] = "/path/to/librevnum.so"
#     include("Revnum.jl")
#     y = Revnum.revlinalg_Norm2(x)
#
# A function takes the operands that are read, in the order of docs/rules.json, as arrays of
# Float64, and parameters by name, and returns the outputs. Matrices are stored by columns in
# Julia and by rows in the library, so they are copied on the way in and out. An operand
# that may be left out may be nothing. The end of the file lists the kernels that are not
# here, and why.
module Revnum

import ChainRulesCore
using ChainRulesCore: NoTangent, unthunk

const library = get(ENV, "REVNUM_LIBRARY", "librevnum.so")

# An argument of rev_call, as revnum.h lays it out.
struct Arg
    data::Ptr{Cvoid}
    len::Int64
    shape::NTuple{2,Int64}
    stride::NTuple{2,Int64}
    ptr::Ptr{Int64}
    ind::Ptr{Int64}
    ptr_len::Int64
    ind_len::Int64
    value::Float64
    part::Int32
    index::Int32
    type::Int32
    axes::Int32
end

const FORWARD, ADJOINT, GRADIENT = Int32(0), Int32(2), Int32(5)

function argument(part, index, type, axes, a)
    shape = axes == 0 ? (1, 1) : axes == 1 ? (length(a), 0) : (size(a, 2), size(a, 1)) # stored transposed
    stride = axes == 2 ? (max(1, size(a, 1)), 1) : (1, 1)
    Arg(Ptr{Cvoid}(pointer(a)), length(a), shape, stride, C_NULL, C_NULL, 0, 0, 0.0, part, index, type, axes)
end

parameter(index, value) = Arg(C_NULL, 0, (0, 0), (0, 0), C_NULL, C_NULL, 0, 0, Float64(value), 4, index, 0, 0)

byrows(T, a::Number) = fill(T(a))
byrows(T, a::AbstractVector) = Vector{T}(a)
byrows(T, a::AbstractMatrix) = Matrix{T}(transpose(a))
elements(type) = type == 5 ? Int64 : Float64
bycolumns(a::AbstractArray{<:Any,0}) = a[]
bycolumns(a::AbstractVector) = a
bycolumns(a::AbstractMatrix) = collect(transpose(a))

function pass(kernel, which, arrays, args)
    @ccall(library.rev_abi_version()::Int32) == 7 || error("revnum: the library has another version of the interface")
    GC.@preserve arrays begin
        id = @ccall library.rev_kernel(kernel::Cstring)::Int32
        status = @ccall library.rev_call(id::Int32, which::Int32, args::Ptr{Arg}, length(args)::Int64)::Int32
    end
    status == 0 || error(unsafe_string(@ccall library.rev_last_error()::Cstring))
end

# A kernel: its operands as (index, axes, type) and its outputs as (index, axes, shape).
function value(kernel, inputs, outputs, x, settings)
    given = [input for (input, a) in zip(inputs, x) if a !== nothing]
    held = Any[byrows(elements(t), a) for ((_, _, t), a) in zip(inputs, x) if a !== nothing]
    out = Any[zeros(reverse(s)) for (_, _, s) in outputs]
    args = Arg[argument(0, i, t, n, a) for ((i, n, t), a) in zip(given, held)]
    append!(args, [argument(0, i, 1, n, a) for ((i, n, _), a) in zip(outputs, out)])
    append!(args, settings)
    pass(kernel, FORWARD, (held, out), args)
    y = map(bycolumns, out)
    length(y) == 1 ? y[1] : Tuple(y)
end

function gradient(kernel, inputs, outputs, x, settings, ybar)
    given = [input for (input, a) in zip(inputs, x) if a !== nothing]
    held = Any[byrows(elements(t), a) for ((_, _, t), a) in zip(inputs, x) if a !== nothing]
    ct = Any[byrows(Float64, c isa Union{NoTangent,ChainRulesCore.ZeroTangent} ? zeros(s) : c) for ((_, _, s), c) in zip(outputs, ybar)]
    grads = Any[zero(a) for a in held]
    args = Arg[argument(0, i, t, n, a) for ((i, n, t), a) in zip(given, held)]
    append!(args, [argument(1, i, 1, n, a) for ((i, n, _), a) in zip(outputs, ct)])
    append!(args, [argument(1, i, t, n, a) for ((i, n, t), a) in zip(given, grads) if t == 1])
    append!(args, settings)
    pass(kernel, GRADIENT, (held, ct, grads), args)
    at = Dict(i => bycolumns(g) for ((i, _, t), g) in zip(given, grads) if t == 1)
    [get(at, i, NoTangent()) for (i, _, _) in inputs]
end

# y += W·x + b
function revlinalg_Affine(W, X, B=nothing)
    m_ = size(W, 1)
    n_ = size(W, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (m_,))]
    settings = Arg[]
    value("revlinalg.Affine[float64]", inputs, outputs, (W, X, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Affine), W, X, B=nothing)
    m_ = size(W, 1)
    n_ = size(W, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (m_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Affine[float64]", inputs, outputs, (W, X, B,), settings, (unthunk(ybar),))...)
    value("revlinalg.Affine[float64]", inputs, outputs, (W, X, B,), settings), pullback
end

# C += op(A)·op(B)
function revlinalg_MatMul(A, B; TransA=false, TransB=false, Workers=0)
    if TransA; k_ = size(A, 1); end
    if TransA; m_ = size(A, 2); end
    if !TransA; m_ = size(A, 1); end
    if !TransA; k_ = size(A, 2); end
    if TransB; n_ = size(B, 1); end
    if TransB; k_ = size(B, 2); end
    if !TransB; k_ = size(B, 1); end
    if !TransB; n_ = size(B, 2); end
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[parameter(0, TransA), parameter(1, TransB), parameter(2, Workers)]
    value("revlinalg.MatMul[float64]", inputs, outputs, (A, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_MatMul), A, B; TransA=false, TransB=false, Workers=0)
    if TransA; k_ = size(A, 1); end
    if TransA; m_ = size(A, 2); end
    if !TransA; m_ = size(A, 1); end
    if !TransA; k_ = size(A, 2); end
    if TransB; n_ = size(B, 1); end
    if TransB; k_ = size(B, 2); end
    if !TransB; k_ = size(B, 1); end
    if !TransB; n_ = size(B, 2); end
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[parameter(0, TransA), parameter(1, TransB), parameter(2, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.MatMul[float64]", inputs, outputs, (A, B,), settings, (unthunk(ybar),))...)
    value("revlinalg.MatMul[float64]", inputs, outputs, (A, B,), settings), pullback
end

# y += α·x
function revlinalg_Axpy(Alpha, X)
    n_ = size(X, 1)
    inputs = [(1, 0, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[]
    value("revlinalg.Axpy[float64]", inputs, outputs, (Alpha, X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Axpy), Alpha, X)
    n_ = size(X, 1)
    inputs = [(1, 0, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Axpy[float64]", inputs, outputs, (Alpha, X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Axpy[float64]", inputs, outputs, (Alpha, X,), settings), pullback
end

# r += Σ conj(x_i)·y_i
function revlinalg_Dot(X, Y)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Dot[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Dot), X, Y)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Dot[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Dot[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# r += Σ x_i
function revlinalg_Sum(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Sum[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Sum), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Sum[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Sum[float64]", inputs, outputs, (X,), settings), pullback
end

# r += Σ x_i²
function revlinalg_SumSquares(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.SumSquares[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_SumSquares), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.SumSquares[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.SumSquares[float64]", inputs, outputs, (X,), settings), pullback
end

# r += ‖x‖
function revlinalg_Norm2(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Norm2[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Norm2), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Norm2[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Norm2[float64]", inputs, outputs, (X,), settings), pullback
end

# r += ‖A‖_F
function revlinalg_Frobenius(A)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Frobenius[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Frobenius), A)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Frobenius[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Frobenius[float64]", inputs, outputs, (A,), settings), pullback
end

# r += ‖x‖₁
function revlinalg_Norm1(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Norm1[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Norm1), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Norm1[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Norm1[float64]", inputs, outputs, (X,), settings), pullback
end

# r += ‖x‖_∞
function revlinalg_NormInf(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.NormInf[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_NormInf), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.NormInf[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.NormInf[float64]", inputs, outputs, (X,), settings), pullback
end

# A += α·x·yᵀ
function revlinalg_Outer(Alpha, X, Y)
    m_ = size(X, 1)
    n_ = size(Y, 1)
    inputs = [(1, 0, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[]
    value("revlinalg.Outer[float64]", inputs, outputs, (Alpha, X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Outer), Alpha, X, Y)
    m_ = size(X, 1)
    n_ = size(Y, 1)
    inputs = [(1, 0, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Outer[float64]", inputs, outputs, (Alpha, X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Outer[float64]", inputs, outputs, (Alpha, X, Y,), settings), pullback
end

# r += mean of x
function revlinalg_Mean(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Mean[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Mean), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Mean[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Mean[float64]", inputs, outputs, (X,), settings), pullback
end

# r += variance of x
function revlinalg_Variance(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.Variance[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Variance), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Variance[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Variance[float64]", inputs, outputs, (X,), settings), pullback
end

# C += covariance of the columns of X
function revlinalg_Covariance(X; Workers=0)
    n_ = size(X, 1)
    k_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (k_,k_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Covariance[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Covariance), X; Workers=0)
    n_ = size(X, 1)
    k_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (k_,k_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Covariance[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Covariance[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += exp x_i
function revlinalg_Exp(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Exp[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Exp), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Exp[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Exp[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += log x_i
function revlinalg_Log(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Log[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Log), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Log[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Log[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += √x_i
function revlinalg_Sqrt(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Sqrt[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Sqrt), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Sqrt[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Sqrt[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += sin x_i
function revlinalg_Sin(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Sin[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Sin), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Sin[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Sin[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += cos x_i
function revlinalg_Cos(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Cos[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Cos), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Cos[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Cos[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += tan x_i
function revlinalg_Tan(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Tan[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Tan), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Tan[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Tan[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += exp(x_i) - 1
function revlinalg_Expm1(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Expm1[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Expm1), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Expm1[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Expm1[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += log(1 + x_i)
function revlinalg_Log1p(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Log1p[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Log1p), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Log1p[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Log1p[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += erf x_i
function revlinalg_Erf(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Erf[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Erf), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Erf[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Erf[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += abs x_i
function revlinalg_Abs(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Abs[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Abs), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Abs[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Abs[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += x_i²
function revlinalg_Square(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Square[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Square), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Square[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Square[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += 1/x_i
function revlinalg_Recip(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Recip[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Recip), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Recip[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Recip[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += min(max(x_i, Lo), Hi)
function revlinalg_Clip(X; Lo=0, Hi=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Lo), parameter(1, Hi), parameter(2, Workers)]
    value("revlinalg.Clip[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Clip), X; Lo=0, Hi=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Lo), parameter(1, Hi), parameter(2, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Clip[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.Clip[float64]", inputs, outputs, (X,), settings), pullback
end

# z_i += max(x_i, y_i)
function revlinalg_MaxElem(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.MaxElem[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_MaxElem), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.MaxElem[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.MaxElem[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += min(x_i, y_i)
function revlinalg_MinElem(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.MinElem[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_MinElem), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.MinElem[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.MinElem[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += x_i where c_i > 0, and y_i elsewhere
function revlinalg_Where(C, X, Y; Workers=0)
    n_ = size(C, 1)
    inputs = [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Where[float64]", inputs, outputs, (C, X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Where), C, X, Y; Workers=0)
    n_ = size(C, 1)
    inputs = [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Where[float64]", inputs, outputs, (C, X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Where[float64]", inputs, outputs, (C, X, Y,), settings), pullback
end

# y_i += Σ_{j≤i} x_j
function revlinalg_CumSum(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[]
    value("revlinalg.CumSum[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_CumSum), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.CumSum[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlinalg.CumSum[float64]", inputs, outputs, (X,), settings), pullback
end

# z_i += x_i·y_i
function revlinalg_MulElem(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.MulElem[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_MulElem), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.MulElem[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.MulElem[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += x_i × y_i
function revlinalg_Cross(X, Y)
    n_ = size(X, 1)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[]
    value("revlinalg.Cross[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Cross), X, Y)
    n_ = size(X, 1)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Cross[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Cross[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += x_i/y_i
function revlinalg_DivElem(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.DivElem[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_DivElem), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.DivElem[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.DivElem[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += atan2(x_i, y_i)
function revlinalg_Atan2(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Atan2[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Atan2), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Atan2[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Atan2[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# z_i += x_i^y_i
function revlinalg_Pow(X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Pow[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Pow), X, Y; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Pow[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.Pow[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# y_i += J_ν(x_i)
function revmath_Bessel(X; Nu=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Nu)]
    value("revmath.Bessel[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revmath_Bessel), X; Nu=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Nu)]
    pullback(ybar) = (NoTangent(), gradient("revmath.Bessel[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revmath.Bessel[float64]", inputs, outputs, (X,), settings), pullback
end

# z += normal numbers of uniform ones u
function revmath_BoxMuller(U1, U2)
    n_ = size(U1, 1)
    inputs = [(2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,)), (1, 1, (n_,))]
    settings = Arg[]
    value("revmath.BoxMuller[float64]", inputs, outputs, (U1, U2,), settings)
end

function ChainRulesCore.rrule(::typeof(revmath_BoxMuller), U1, U2)
    n_ = size(U1, 1)
    inputs = [(2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,)), (1, 1, (n_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revmath.BoxMuller[float64]", inputs, outputs, (U1, U2,), settings, map(unthunk, Tuple(ybar)))...)
    value("revmath.BoxMuller[float64]", inputs, outputs, (U1, U2,), settings), pullback
end

# u += uniform numbers of normal ones z
function revmath_BoxMullerInverse(Z1, Z2)
    n_ = size(Z1, 1)
    inputs = [(2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,)), (1, 1, (n_,))]
    settings = Arg[]
    value("revmath.BoxMullerInverse[float64]", inputs, outputs, (Z1, Z2,), settings)
end

function ChainRulesCore.rrule(::typeof(revmath_BoxMullerInverse), Z1, Z2)
    n_ = size(Z1, 1)
    inputs = [(2, 1, 1), (3, 1, 1)]
    outputs = [(0, 1, (n_,)), (1, 1, (n_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revmath.BoxMullerInverse[float64]", inputs, outputs, (Z1, Z2,), settings, map(unthunk, Tuple(ybar)))...)
    value("revmath.BoxMullerInverse[float64]", inputs, outputs, (Z1, Z2,), settings), pullback
end

# L += chol(A)
function revlinalg_Cholesky(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Cholesky[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Cholesky), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Cholesky[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Cholesky[float64]", inputs, outputs, (A,), settings), pullback
end

# Q += Q(A), R += R(A), by reflections
function revlinalg_QR(A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(2, 2, 1)]
    outputs = [(0, 2, (m_,n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.QR[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_QR), A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(2, 2, 1)]
    outputs = [(0, 2, (m_,n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.QR[float64]", inputs, outputs, (A,), settings, map(unthunk, Tuple(ybar)))...)
    value("revlinalg.QR[float64]", inputs, outputs, (A,), settings), pullback
end

# the same, R with a positive diagonal
function revlinalg_GramSchmidt(A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(2, 2, 1)]
    outputs = [(0, 2, (m_,n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.GramSchmidt[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_GramSchmidt), A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(2, 2, 1)]
    outputs = [(0, 2, (m_,n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.GramSchmidt[float64]", inputs, outputs, (A,), settings, map(unthunk, Tuple(ybar)))...)
    value("revlinalg.GramSchmidt[float64]", inputs, outputs, (A,), settings), pullback
end

# X += op(A)⁻¹·B, A triangular
function revlinalg_TriSolve(A, B; Upper=false, TransA=false, Unit=false, Workers=0)
    n_ = size(A, 1)
    m_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Upper), parameter(1, TransA), parameter(2, Unit), parameter(3, Workers)]
    value("revlinalg.TriSolve[float64]", inputs, outputs, (A, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_TriSolve), A, B; Upper=false, TransA=false, Unit=false, Workers=0)
    n_ = size(A, 1)
    m_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Upper), parameter(1, TransA), parameter(2, Unit), parameter(3, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.TriSolve[float64]", inputs, outputs, (A, B,), settings, (unthunk(ybar),))...)
    value("revlinalg.TriSolve[float64]", inputs, outputs, (A, B,), settings), pullback
end

# X += op(A)⁻¹·B
function revlinalg_Solve(A, B; TransA=false, Workers=0)
    n_ = size(A, 1)
    m_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, TransA), parameter(1, Workers)]
    value("revlinalg.Solve[float64]", inputs, outputs, (A, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Solve), A, B; TransA=false, Workers=0)
    n_ = size(A, 1)
    m_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, TransA), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Solve[float64]", inputs, outputs, (A, B,), settings, (unthunk(ybar),))...)
    value("revlinalg.Solve[float64]", inputs, outputs, (A, B,), settings), pullback
end

# X += argmin_Y ‖A·Y - B‖
function revlinalg_LeastSquares(A, B; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    k_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,k_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.LeastSquares[float64]", inputs, outputs, (A, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_LeastSquares), A, B; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    k_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (n_,k_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.LeastSquares[float64]", inputs, outputs, (A, B,), settings, (unthunk(ybar),))...)
    value("revlinalg.LeastSquares[float64]", inputs, outputs, (A, B,), settings), pullback
end

# X += A⁺, the pseudo-inverse
function revlinalg_Pinv(A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Pinv[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Pinv), A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Pinv[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Pinv[float64]", inputs, outputs, (A,), settings), pullback
end

# Y += exp(A) of a matrix
function revlinalg_Expm(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Expm[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Expm), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Expm[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Expm[float64]", inputs, outputs, (A,), settings), pullback
end

# B += A⁻¹
function revlinalg_Inv(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Inv[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Inv), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Inv[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Inv[float64]", inputs, outputs, (A,), settings), pullback
end

# r += det A
function revlinalg_Det(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.Det[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_Det), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.Det[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.Det[float64]", inputs, outputs, (A,), settings), pullback
end

# r += det A, by minors
function revlinalg_DetMinors(A)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlinalg.DetMinors[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_DetMinors), A)
    n_ = size(A, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.DetMinors[float64]", inputs, outputs, (A,), settings, (unthunk(ybar),))...)
    value("revlinalg.DetMinors[float64]", inputs, outputs, (A,), settings), pullback
end

# r += log abs(det A), s += sign(det A)
function revlinalg_LogDet(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(2, 2, 1)]
    outputs = [(0, 0, ()), (1, 0, ())]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.LogDet[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_LogDet), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(2, 2, 1)]
    outputs = [(0, 0, ()), (1, 0, ())]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.LogDet[float64]", inputs, outputs, (A,), settings, map(unthunk, Tuple(ybar)))...)
    value("revlinalg.LogDet[float64]", inputs, outputs, (A,), settings), pullback
end

# w += w(A), V += V(A), A = V·diag(w)·Vᵀ
function revlinalg_SymEig(A; Workers=0)
    n_ = size(A, 1)
    inputs = [(2, 2, 1)]
    outputs = [(0, 1, (n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.SymEig[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_SymEig), A; Workers=0)
    n_ = size(A, 1)
    inputs = [(2, 2, 1)]
    outputs = [(0, 1, (n_,)), (1, 2, (n_,n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.SymEig[float64]", inputs, outputs, (A,), settings, map(unthunk, Tuple(ybar)))...)
    value("revlinalg.SymEig[float64]", inputs, outputs, (A,), settings), pullback
end

# U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ
function revlinalg_SVD(A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(3, 2, 1)]
    outputs = [(0, 2, (m_,min(m_,n_),)), (1, 1, (min(m_,n_),)), (2, 2, (n_,min(m_,n_),))]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.SVD[float64]", inputs, outputs, (A,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_SVD), A; Workers=0)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(3, 2, 1)]
    outputs = [(0, 2, (m_,min(m_,n_),)), (1, 1, (min(m_,n_),)), (2, 2, (n_,min(m_,n_),))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.SVD[float64]", inputs, outputs, (A,), settings, map(unthunk, Tuple(ybar)))...)
    value("revlinalg.SVD[float64]", inputs, outputs, (A,), settings), pullback
end

# r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)²
function revlinalg_PolyLeastSquares(C, X, Y; Workers=0)
    m_ = size(C, 1)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    value("revlinalg.PolyLeastSquares[float64]", inputs, outputs, (C, X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revlinalg_PolyLeastSquares), C, X, Y; Workers=0)
    m_ = size(C, 1)
    n_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revlinalg.PolyLeastSquares[float64]", inputs, outputs, (C, X, Y,), settings, (unthunk(ybar),))...)
    value("revlinalg.PolyLeastSquares[float64]", inputs, outputs, (C, X, Y,), settings), pullback
end

# Y += X·W + 1·bᵀ
function revnn_AffineBatch(X, W, B=nothing; Workers=0)
    n_ = size(X, 1)
    k_ = size(X, 2)
    m_ = size(W, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.AffineBatch[float64]", inputs, outputs, (X, W, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_AffineBatch), X, W, B=nothing; Workers=0)
    n_ = size(X, 1)
    k_ = size(X, 2)
    m_ = size(W, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,m_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.AffineBatch[float64]", inputs, outputs, (X, W, B,), settings, (unthunk(ybar),))...)
    value("revnn.AffineBatch[float64]", inputs, outputs, (X, W, B,), settings), pullback
end

# Y += W * X + b, the convolution of images X with filters W
function revnn_Conv2D(X, W, B=nothing; Channels=0, Height=0, Width=0, KernelHeight=0, KernelWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, DilationHeight=0, DilationWidth=0, Groups=0, Workers=0)
    n_ = size(X, 1)
    f_ = size(W, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,f_*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)÷StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, KernelHeight), parameter(4, KernelWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, DilationHeight), parameter(10, DilationWidth), parameter(11, Groups), parameter(12, Workers)]
    value("revnn.Conv2D[float64]", inputs, outputs, (X, W, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Conv2D), X, W, B=nothing; Channels=0, Height=0, Width=0, KernelHeight=0, KernelWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, DilationHeight=0, DilationWidth=0, Groups=0, Workers=0)
    n_ = size(X, 1)
    f_ = size(W, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,f_*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)÷StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, KernelHeight), parameter(4, KernelWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, DilationHeight), parameter(10, DilationWidth), parameter(11, Groups), parameter(12, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Conv2D[float64]", inputs, outputs, (X, W, B,), settings, (unthunk(ybar),))...)
    value("revnn.Conv2D[float64]", inputs, outputs, (X, W, B,), settings), pullback
end

# Y += Wᵀ * X + b, the transposed convolution of images X with filters W
function revnn_ConvTranspose2D(X, W, B=nothing; Channels=0, Height=0, Width=0, KernelHeight=0, KernelWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, DilationHeight=0, DilationWidth=0, Groups=0, Workers=0)
    n_ = size(X, 1)
    f_ = size(W, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,Channels*Height*Width,))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, KernelHeight), parameter(4, KernelWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, DilationHeight), parameter(10, DilationWidth), parameter(11, Groups), parameter(12, Workers)]
    value("revnn.ConvTranspose2D[float64]", inputs, outputs, (X, W, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_ConvTranspose2D), X, W, B=nothing; Channels=0, Height=0, Width=0, KernelHeight=0, KernelWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, DilationHeight=0, DilationWidth=0, Groups=0, Workers=0)
    n_ = size(X, 1)
    f_ = size(W, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,Channels*Height*Width,))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, KernelHeight), parameter(4, KernelWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, DilationHeight), parameter(10, DilationWidth), parameter(11, Groups), parameter(12, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.ConvTranspose2D[float64]", inputs, outputs, (X, W, B,), settings, (unthunk(ybar),))...)
    value("revnn.ConvTranspose2D[float64]", inputs, outputs, (X, W, B,), settings), pullback
end

# Y += maxima over windows of images X
function revnn_MaxPool(X; Channels=0, Height=0, Width=0, WindowHeight=0, WindowWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,Channels*((Height+2*PadHeight-WindowHeight)÷StrideHeight+1)*((Width+2*PadWidth-WindowWidth)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, WindowHeight), parameter(4, WindowWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, Workers)]
    value("revnn.MaxPool[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_MaxPool), X; Channels=0, Height=0, Width=0, WindowHeight=0, WindowWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,Channels*((Height+2*PadHeight-WindowHeight)÷StrideHeight+1)*((Width+2*PadWidth-WindowWidth)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, WindowHeight), parameter(4, WindowWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.MaxPool[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.MaxPool[float64]", inputs, outputs, (X,), settings), pullback
end

# Y += means over windows of images X
function revnn_MeanPool(X; Channels=0, Height=0, Width=0, WindowHeight=0, WindowWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,Channels*((Height+2*PadHeight-WindowHeight)÷StrideHeight+1)*((Width+2*PadWidth-WindowWidth)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, WindowHeight), parameter(4, WindowWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, Workers)]
    value("revnn.MeanPool[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_MeanPool), X; Channels=0, Height=0, Width=0, WindowHeight=0, WindowWidth=0, StrideHeight=0, StrideWidth=0, PadHeight=0, PadWidth=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,Channels*((Height+2*PadHeight-WindowHeight)÷StrideHeight+1)*((Width+2*PadWidth-WindowWidth)÷StrideWidth+1),))]
    settings = Arg[parameter(0, Channels), parameter(1, Height), parameter(2, Width), parameter(3, WindowHeight), parameter(4, WindowWidth), parameter(5, StrideHeight), parameter(6, StrideWidth), parameter(7, PadHeight), parameter(8, PadWidth), parameter(9, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.MeanPool[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.MeanPool[float64]", inputs, outputs, (X,), settings), pullback
end

# Y_i += X_{Index[i]}, of rows i
function revnn_Gather(X, Index; Workers=0)
    r_ = size(X, 1)
    d_ = size(X, 2)
    n_ = size(Index, 1)
    inputs = [(1, 2, 1), (2, 1, 5)]
    outputs = [(0, 2, (n_,d_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.Gather[float64]", inputs, outputs, (X, Index .- 1,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Gather), X, Index; Workers=0)
    r_ = size(X, 1)
    d_ = size(X, 2)
    n_ = size(Index, 1)
    inputs = [(1, 2, 1), (2, 1, 5)]
    outputs = [(0, 2, (n_,d_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Gather[float64]", inputs, outputs, (X, Index .- 1,), settings, (unthunk(ybar),))...)
    value("revnn.Gather[float64]", inputs, outputs, (X, Index .- 1,), settings), pullback
end

# y_i += max(x_i, 0)
function revnn_ReLU(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.ReLU[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_ReLU), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.ReLU[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.ReLU[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += max(x_i, 0) + Slope·min(x_i, 0)
function revnn_LeakyReLU(X; Slope=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Slope), parameter(1, Workers)]
    value("revnn.LeakyReLU[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_LeakyReLU), X; Slope=0, Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Slope), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.LeakyReLU[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.LeakyReLU[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += 1/(1 + exp -x_i)
function revnn_Sigmoid(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.Sigmoid[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Sigmoid), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Sigmoid[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.Sigmoid[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += tanh x_i
function revnn_Tanh(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.Tanh[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Tanh), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Tanh[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.Tanh[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += log(1 + exp x_i)
function revnn_Softplus(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.Softplus[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Softplus), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Softplus[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.Softplus[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += x_i·Φ(x_i)
function revnn_GELU(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.GELU[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_GELU), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.GELU[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.GELU[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += x_i/(1 + exp -x_i)
function revnn_SiLU(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.SiLU[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_SiLU), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.SiLU[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.SiLU[float64]", inputs, outputs, (X,), settings), pullback
end

# y += softmax x
function revnn_Softmax(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.Softmax[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Softmax), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Softmax[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.Softmax[float64]", inputs, outputs, (X,), settings), pullback
end

# Y_i += softmax X_i, of rows i
function revnn_SoftmaxRows(X; Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.SoftmaxRows[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_SoftmaxRows), X; Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.SoftmaxRows[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.SoftmaxRows[float64]", inputs, outputs, (X,), settings), pullback
end

# r += log Σ exp x_i
function revnn_LogSumExp(X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    value("revnn.LogSumExp[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_LogSumExp), X; Workers=0)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.LogSumExp[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.LogSumExp[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i += log Σ_j exp X_ij
function revnn_LogSumExpRows(X; Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    value("revnn.LogSumExpRows[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_LogSumExpRows), X; Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1)]
    outputs = [(0, 1, (n_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.LogSumExpRows[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revnn.LogSumExpRows[float64]", inputs, outputs, (X,), settings), pullback
end

# r += cross-entropy of softmax x_i, for rows i
function revnn_CrossEntropy(X, P=nothing, Labels=nothing; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 5)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    value("revnn.CrossEntropy[float64]", inputs, outputs, (X, P, isnothing(Labels) ? nothing : Labels .- 1,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_CrossEntropy), X, P=nothing, Labels=nothing; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 5)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.CrossEntropy[float64]", inputs, outputs, (X, P, isnothing(Labels) ? nothing : Labels .- 1,), settings, (unthunk(ybar),))...)
    value("revnn.CrossEntropy[float64]", inputs, outputs, (X, P, isnothing(Labels) ? nothing : Labels .- 1,), settings), pullback
end

# Y_i += γ·X_i/rms(X_i) of rows i
function revnn_RMSNorm(X, Gain=nothing; Epsilon=0, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Epsilon), parameter(1, Workers)]
    value("revnn.RMSNorm[float64]", inputs, outputs, (X, Gain,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_RMSNorm), X, Gain=nothing; Epsilon=0, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Epsilon), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.RMSNorm[float64]", inputs, outputs, (X, Gain,), settings, (unthunk(ybar),))...)
    value("revnn.RMSNorm[float64]", inputs, outputs, (X, Gain,), settings), pullback
end

# Y_i += γ·(X_i - mean)/deviation + β of rows i
function revnn_LayerNorm(X, Gain=nothing, Bias=nothing; Epsilon=0, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Epsilon), parameter(1, Workers)]
    value("revnn.LayerNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_LayerNorm), X, Gain=nothing, Bias=nothing; Epsilon=0, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,c_,))]
    settings = Arg[parameter(0, Epsilon), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.LayerNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings, (unthunk(ybar),))...)
    value("revnn.LayerNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings), pullback
end

# Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances
function revnn_BatchNorm(X, Gain=nothing, Bias=nothing; Channels=0, Epsilon=0, Workers=0)
    n_ = size(X, 1)
    p_ = size(X, 2)
    inputs = [(3, 2, 1), (4, 1, 1), (5, 1, 1)]
    outputs = [(0, 2, (n_,p_,)), (1, 1, (Channels,)), (2, 1, (Channels,))]
    settings = Arg[parameter(0, Channels), parameter(1, Epsilon), parameter(2, Workers)]
    value("revnn.BatchNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_BatchNorm), X, Gain=nothing, Bias=nothing; Channels=0, Epsilon=0, Workers=0)
    n_ = size(X, 1)
    p_ = size(X, 2)
    inputs = [(3, 2, 1), (4, 1, 1), (5, 1, 1)]
    outputs = [(0, 2, (n_,p_,)), (1, 1, (Channels,)), (2, 1, (Channels,))]
    settings = Arg[parameter(0, Channels), parameter(1, Epsilon), parameter(2, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.BatchNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings, map(unthunk, Tuple(ybar)))...)
    value("revnn.BatchNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings), pullback
end

# Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i
function revnn_GroupNorm(X, Gain=nothing, Bias=nothing; Channels=0, Groups=0, Epsilon=0, Workers=0)
    n_ = size(X, 1)
    p_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,p_,))]
    settings = Arg[parameter(0, Channels), parameter(1, Groups), parameter(2, Epsilon), parameter(3, Workers)]
    value("revnn.GroupNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_GroupNorm), X, Gain=nothing, Bias=nothing; Channels=0, Groups=0, Epsilon=0, Workers=0)
    n_ = size(X, 1)
    p_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 1, 1), (3, 1, 1)]
    outputs = [(0, 2, (n_,p_,))]
    settings = Arg[parameter(0, Channels), parameter(1, Groups), parameter(2, Epsilon), parameter(3, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.GroupNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings, (unthunk(ybar),))...)
    value("revnn.GroupNorm[float64]", inputs, outputs, (X, Gain, Bias,), settings), pullback
end

# Y += softmax(α·Q·Kᵀ)·V, of rows
function revnn_Attention(Q, K, V; Heads=0, Sequences=0, Scale=0, Causal=false, Workers=0)
    n_ = size(Q, 1)
    c_ = size(Q, 2)
    m_ = size(K, 1)
    e_ = size(V, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1)]
    outputs = [(0, 2, (n_,e_,))]
    settings = Arg[parameter(0, Heads), parameter(1, Sequences), parameter(2, Scale), parameter(3, Causal), parameter(4, Workers)]
    value("revnn.Attention[float64]", inputs, outputs, (Q, K, V,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Attention), Q, K, V; Heads=0, Sequences=0, Scale=0, Causal=false, Workers=0)
    n_ = size(Q, 1)
    c_ = size(Q, 2)
    m_ = size(K, 1)
    e_ = size(V, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1)]
    outputs = [(0, 2, (n_,e_,))]
    settings = Arg[parameter(0, Heads), parameter(1, Sequences), parameter(2, Scale), parameter(3, Causal), parameter(4, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Attention[float64]", inputs, outputs, (Q, K, V,), settings, (unthunk(ybar),))...)
    value("revnn.Attention[float64]", inputs, outputs, (Q, K, V,), settings), pullback
end

# Y_t += h_t, C += c_T of long short-term memory over sequences X
function revnn_LSTM(X, H0, C0, WX, WH, BX=nothing, BH=nothing; Sequences=0, Workers=0)
    n_ = size(X, 1)
    d_ = size(X, 2)
    h_ = size(WH, 2)
    inputs = [(2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 2, 1), (6, 2, 1), (7, 1, 1), (8, 1, 1)]
    outputs = [(0, 2, (n_,h_,)), (1, 2, (max(1,Sequences),h_,))]
    settings = Arg[parameter(0, Sequences), parameter(1, Workers)]
    value("revnn.LSTM[float64]", inputs, outputs, (X, H0, C0, WX, WH, BX, BH,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_LSTM), X, H0, C0, WX, WH, BX=nothing, BH=nothing; Sequences=0, Workers=0)
    n_ = size(X, 1)
    d_ = size(X, 2)
    h_ = size(WH, 2)
    inputs = [(2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 2, 1), (6, 2, 1), (7, 1, 1), (8, 1, 1)]
    outputs = [(0, 2, (n_,h_,)), (1, 2, (max(1,Sequences),h_,))]
    settings = Arg[parameter(0, Sequences), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.LSTM[float64]", inputs, outputs, (X, H0, C0, WX, WH, BX, BH,), settings, map(unthunk, Tuple(ybar)))...)
    value("revnn.LSTM[float64]", inputs, outputs, (X, H0, C0, WX, WH, BX, BH,), settings), pullback
end

# Y_t += h_t of gated recurrent units over sequences X
function revnn_GRU(X, H0, WX, WH, BX=nothing, BH=nothing; Sequences=0, Workers=0)
    n_ = size(X, 1)
    d_ = size(X, 2)
    h_ = size(WH, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 1, 1), (6, 1, 1)]
    outputs = [(0, 2, (n_,h_,))]
    settings = Arg[parameter(0, Sequences), parameter(1, Workers)]
    value("revnn.GRU[float64]", inputs, outputs, (X, H0, WX, WH, BX, BH,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_GRU), X, H0, WX, WH, BX=nothing, BH=nothing; Sequences=0, Workers=0)
    n_ = size(X, 1)
    d_ = size(X, 2)
    h_ = size(WH, 2)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1), (5, 1, 1), (6, 1, 1)]
    outputs = [(0, 2, (n_,h_,))]
    settings = Arg[parameter(0, Sequences), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.GRU[float64]", inputs, outputs, (X, H0, WX, WH, BX, BH,), settings, (unthunk(ybar),))...)
    value("revnn.GRU[float64]", inputs, outputs, (X, H0, WX, WH, BX, BH,), settings), pullback
end

# r += Σ (x_ij - y_ij)²
function revnn_SquaredError(X, Y; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    value("revnn.SquaredError[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_SquaredError), X, Y; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.SquaredError[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revnn.SquaredError[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# r += Σ of Huber's function of x_ij - y_ij
function revnn_Huber(X, Y; Delta=0, Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Delta), parameter(1, Mean), parameter(2, Workers)]
    value("revnn.Huber[float64]", inputs, outputs, (X, Y,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_Huber), X, Y; Delta=0, Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Delta), parameter(1, Mean), parameter(2, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.Huber[float64]", inputs, outputs, (X, Y,), settings, (unthunk(ybar),))...)
    value("revnn.Huber[float64]", inputs, outputs, (X, Y,), settings), pullback
end

# r += binary cross-entropy of σ(x_ij)
function revnn_BinaryCrossEntropy(X, P; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    value("revnn.BinaryCrossEntropy[float64]", inputs, outputs, (X, P,), settings)
end

function ChainRulesCore.rrule(::typeof(revnn_BinaryCrossEntropy), X, P; Mean=false, Workers=0)
    n_ = size(X, 1)
    c_ = size(X, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Mean), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revnn.BinaryCrossEntropy[float64]", inputs, outputs, (X, P,), settings, (unthunk(ybar),))...)
    value("revnn.BinaryCrossEntropy[float64]", inputs, outputs, (X, P,), settings), pullback
end

# r += Σ_i min_k ‖x_i - c_k‖²
function kmeans_Cost(Centroids, X; Workers=0)
    K_ = size(Centroids, 1)
    D_ = size(Centroids, 2)
    N_ = size(X, 1)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    value("kmeans.Cost[float64]", inputs, outputs, (Centroids, X,), settings)
end

function ChainRulesCore.rrule(::typeof(kmeans_Cost), Centroids, X; Workers=0)
    K_ = size(Centroids, 1)
    D_ = size(Centroids, 2)
    N_ = size(X, 1)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("kmeans.Cost[float64]", inputs, outputs, (Centroids, X,), settings, (unthunk(ybar),))...)
    value("kmeans.Cost[float64]", inputs, outputs, (Centroids, X,), settings), pullback
end

# C_ij += max_l A_il + B_lj
function revtropical_MatMul(A, B; Min=false, Workers=0)
    m_ = size(A, 1)
    k_ = size(A, 2)
    n_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[parameter(0, Min), parameter(1, Workers)]
    value("revtropical.MatMul[float64]", inputs, outputs, (A, B,), settings)
end

function ChainRulesCore.rrule(::typeof(revtropical_MatMul), A, B; Min=false, Workers=0)
    m_ = size(A, 1)
    k_ = size(A, 2)
    n_ = size(B, 2)
    inputs = [(1, 2, 1), (2, 2, 1)]
    outputs = [(0, 2, (m_,n_,))]
    settings = Arg[parameter(0, Min), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("revtropical.MatMul[float64]", inputs, outputs, (A, B,), settings, (unthunk(ybar),))...)
    value("revtropical.MatMul[float64]", inputs, outputs, (A, B,), settings), pullback
end

# R += measured points - points of a posed hand
function hand_Residuals(Theta, UV, Points, Correspondences, Parents, Relative, InverseBase, Positions, Weights, Triangles=nothing; Surface=false)
    if Surface; n_ = size(UV, 1); end
    n_ = size(Points, 1)
    b_ = size(Parents, 1)
    v_ = size(Positions, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 1, 5), (5, 1, 5), (6, 2, 1), (7, 2, 1), (8, 2, 1), (9, 2, 1), (10, 2, 5)]
    outputs = [(0, 1, (3*n_,))]
    settings = Arg[parameter(0, Surface)]
    value("hand.Residuals[float64]", inputs, outputs, (Theta, UV, Points, Correspondences .- 1, Parents .- 1, Relative, InverseBase, Positions, Weights, isnothing(Triangles) ? nothing : Triangles .- 1,), settings)
end

function ChainRulesCore.rrule(::typeof(hand_Residuals), Theta, UV, Points, Correspondences, Parents, Relative, InverseBase, Positions, Weights, Triangles=nothing; Surface=false)
    if Surface; n_ = size(UV, 1); end
    n_ = size(Points, 1)
    b_ = size(Parents, 1)
    v_ = size(Positions, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 1, 5), (5, 1, 5), (6, 2, 1), (7, 2, 1), (8, 2, 1), (9, 2, 1), (10, 2, 5)]
    outputs = [(0, 1, (3*n_,))]
    settings = Arg[parameter(0, Surface)]
    pullback(ybar) = (NoTangent(), gradient("hand.Residuals[float64]", inputs, outputs, (Theta, UV, Points, Correspondences .- 1, Parents .- 1, Relative, InverseBase, Positions, Weights, isnothing(Triangles) ? nothing : Triangles .- 1,), settings, (unthunk(ybar),))...)
    value("hand.Residuals[float64]", inputs, outputs, (Theta, UV, Points, Correspondences .- 1, Parents .- 1, Relative, InverseBase, Positions, Weights, isnothing(Triangles) ? nothing : Triangles .- 1,), settings), pullback
end

# r += log loss of a recurrent network
function lstm_Loss(Main, Extra, State, Sequence)
    M_ = size(Main, 1)
    B_ = size(Extra, 2)
    C_ = size(Sequence, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("lstm.Loss[float64]", inputs, outputs, (Main, Extra, State, Sequence,), settings)
end

function ChainRulesCore.rrule(::typeof(lstm_Loss), Main, Extra, State, Sequence)
    M_ = size(Main, 1)
    B_ = size(Extra, 2)
    C_ = size(Sequence, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("lstm.Loss[float64]", inputs, outputs, (Main, Extra, State, Sequence,), settings, (unthunk(ybar),))...)
    value("lstm.Loss[float64]", inputs, outputs, (Main, Extra, State, Sequence,), settings), pullback
end

# R += reprojection errors, cameras of 9 parameters
function ba_Snavely(Cameras, Points, Features, Camera, Point; Workers=0)
    n_ = size(Cameras, 1)
    m_ = size(Points, 1)
    p_ = size(Features, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 1, 5), (5, 1, 5)]
    outputs = [(0, 1, (2*p_,))]
    settings = Arg[parameter(0, Workers)]
    value("ba.Snavely[float64]", inputs, outputs, (Cameras, Points, Features, Camera .- 1, Point .- 1,), settings)
end

function ChainRulesCore.rrule(::typeof(ba_Snavely), Cameras, Points, Features, Camera, Point; Workers=0)
    n_ = size(Cameras, 1)
    m_ = size(Points, 1)
    p_ = size(Features, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 2, 1), (4, 1, 5), (5, 1, 5)]
    outputs = [(0, 1, (2*p_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("ba.Snavely[float64]", inputs, outputs, (Cameras, Points, Features, Camera .- 1, Point .- 1,), settings, (unthunk(ybar),))...)
    value("ba.Snavely[float64]", inputs, outputs, (Cameras, Points, Features, Camera .- 1, Point .- 1,), settings), pullback
end

# R += weighted ones, cameras of 11 parameters; Z += 1 - w²
function ba_Weighted(Cameras, Points, Weights, Features, Camera, Point; Workers=0)
    n_ = size(Cameras, 1)
    m_ = size(Points, 1)
    p_ = size(Weights, 1)
    inputs = [(2, 2, 1), (3, 2, 1), (4, 1, 1), (5, 2, 1), (6, 1, 5), (7, 1, 5)]
    outputs = [(0, 1, (2*p_,)), (1, 1, (p_,))]
    settings = Arg[parameter(0, Workers)]
    value("ba.Weighted[float64]", inputs, outputs, (Cameras, Points, Weights, Features, Camera .- 1, Point .- 1,), settings)
end

function ChainRulesCore.rrule(::typeof(ba_Weighted), Cameras, Points, Weights, Features, Camera, Point; Workers=0)
    n_ = size(Cameras, 1)
    m_ = size(Points, 1)
    p_ = size(Weights, 1)
    inputs = [(2, 2, 1), (3, 2, 1), (4, 1, 1), (5, 2, 1), (6, 1, 5), (7, 1, 5)]
    outputs = [(0, 1, (2*p_,)), (1, 1, (p_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("ba.Weighted[float64]", inputs, outputs, (Cameras, Points, Weights, Features, Camera .- 1, Point .- 1,), settings, map(unthunk, Tuple(ybar)))...)
    value("ba.Weighted[float64]", inputs, outputs, (Cameras, Points, Weights, Features, Camera .- 1, Point .- 1,), settings), pullback
end

# r += log posterior of a Gaussian mixture
function gmm_LogPosterior(Alpha, Means, Factors, X; Prior_Gamma=0, Prior_M=0, Prior_Sign=0, Workers=0)
    K_ = size(Alpha, 1)
    D_ = size(Means, 2)
    N_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Prior_Gamma), parameter(1, Prior_M), parameter(2, Prior_Sign), parameter(3, Workers)]
    value("gmm.LogPosterior[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings)
end

function ChainRulesCore.rrule(::typeof(gmm_LogPosterior), Alpha, Means, Factors, X; Prior_Gamma=0, Prior_M=0, Prior_Sign=0, Workers=0)
    K_ = size(Alpha, 1)
    D_ = size(Means, 2)
    N_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Prior_Gamma), parameter(1, Prior_M), parameter(2, Prior_Sign), parameter(3, Workers)]
    pullback(ybar) = (NoTangent(), gradient("gmm.LogPosterior[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings, (unthunk(ybar),))...)
    value("gmm.LogPosterior[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings), pullback
end

# Q += dt·V, positions of bodies
function nbody_Drift(V; Dt=0)
    n_ = size(V, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[parameter(0, Dt)]
    value("nbody.Drift[float64]", inputs, outputs, (V,), settings)
end

function ChainRulesCore.rrule(::typeof(nbody_Drift), V; Dt=0)
    n_ = size(V, 1)
    inputs = [(1, 2, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[parameter(0, Dt)]
    pullback(ybar) = (NoTangent(), gradient("nbody.Drift[float64]", inputs, outputs, (V,), settings, (unthunk(ybar),))...)
    value("nbody.Drift[float64]", inputs, outputs, (V,), settings), pullback
end

# V += dt·attraction at Q
function nbody_Kick(Q, Mu; Dt=0, Softening=0, Workers=0)
    n_ = size(Q, 1)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[parameter(0, Dt), parameter(1, Softening), parameter(2, Workers)]
    value("nbody.Kick[float64]", inputs, outputs, (Q, Mu,), settings)
end

function ChainRulesCore.rrule(::typeof(nbody_Kick), Q, Mu; Dt=0, Softening=0, Workers=0)
    n_ = size(Q, 1)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 2, (n_,3,))]
    settings = Arg[parameter(0, Dt), parameter(1, Softening), parameter(2, Workers)]
    pullback(ybar) = (NoTangent(), gradient("nbody.Kick[float64]", inputs, outputs, (Q, Mu,), settings, (unthunk(ybar),))...)
    value("nbody.Kick[float64]", inputs, outputs, (Q, Mu,), settings), pullback
end

# r += energy of bodies
function nbody_Energy(Q, V, Mu; Softening=0, Workers=0)
    n_ = size(Q, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Softening), parameter(1, Workers)]
    value("nbody.Energy[float64]", inputs, outputs, (Q, V, Mu,), settings)
end

function ChainRulesCore.rrule(::typeof(nbody_Energy), Q, V, Mu; Softening=0, Workers=0)
    n_ = size(Q, 1)
    inputs = [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[parameter(0, Softening), parameter(1, Workers)]
    pullback(ybar) = (NoTangent(), gradient("nbody.Energy[float64]", inputs, outputs, (Q, V, Mu,), settings, (unthunk(ybar),))...)
    value("nbody.Energy[float64]", inputs, outputs, (Q, V, Mu,), settings), pullback
end

# r *= Π x_i
function revlog_Prod(X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    value("revlog.Prod[float64]", inputs, outputs, (X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlog_Prod), X)
    n_ = size(X, 1)
    inputs = [(1, 1, 1)]
    outputs = [(0, 0, ())]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlog.Prod[float64]", inputs, outputs, (X,), settings, (unthunk(ybar),))...)
    value("revlog.Prod[float64]", inputs, outputs, (X,), settings), pullback
end

# y_i *= Π_j x_j^a_ij
function revlog_Powers(A, X)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 1, (m_,))]
    settings = Arg[]
    value("revlog.Powers[float64]", inputs, outputs, (A, X,), settings)
end

function ChainRulesCore.rrule(::typeof(revlog_Powers), A, X)
    m_ = size(A, 1)
    n_ = size(A, 2)
    inputs = [(1, 2, 1), (2, 1, 1)]
    outputs = [(0, 1, (m_,))]
    settings = Arg[]
    pullback(ybar) = (NoTangent(), gradient("revlog.Powers[float64]", inputs, outputs, (A, X,), settings, (unthunk(ybar),))...)
    value("revlog.Powers[float64]", inputs, outputs, (A, X,), settings), pullback
end

# R_ik *= responsibility of component k for point i
function gmm_LogResponsibilities(Alpha, Means, Factors, X; Workers=0)
    K_ = size(Alpha, 1)
    D_ = size(Means, 2)
    N_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 2, (N_,K_,))]
    settings = Arg[parameter(0, Workers)]
    value("gmm.LogResponsibilities[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings)
end

function ChainRulesCore.rrule(::typeof(gmm_LogResponsibilities), Alpha, Means, Factors, X; Workers=0)
    K_ = size(Alpha, 1)
    D_ = size(Means, 2)
    N_ = size(X, 1)
    inputs = [(1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 2, 1)]
    outputs = [(0, 2, (N_,K_,))]
    settings = Arg[parameter(0, Workers)]
    pullback(ybar) = (NoTangent(), gradient("gmm.LogResponsibilities[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings, (unthunk(ybar),))...)
    value("gmm.LogResponsibilities[float64]", inputs, outputs, (Alpha, Means, Factors, X,), settings), pullback
end

end

# Not here:
#   revlinalg.Unitary: an operand is transformed in place
#   revlinalg.GivensQR: an operand is transformed in place
#   revsparse.Mul: A is of kind sparse matrix
#   revsparse.Dot: A is of kind sparse matrix
#   revsparse.SampledMul: S is of kind sparse matrix
#   revsparse.SpGEMM: C is of kind sparse matrix
#   revsparse.SymmetricMul: A is of kind sparse matrix
#   revtropical.SparseMul: A is of kind sparse matrix
#   graphembed.Loss: Graph is of kind edges
#   revsparse.TriSolve: A is of kind sparse matrix
#   revsparse.Solve: A is of kind sparse matrix
#   revsparse.CG: A is of kind sparse matrix
#   revsparse.DominantEig: A is of kind sparse matrix
#   revsparse.OperatorEig: Op is a revsparse.Operator
#   nbody.Steps: an operand is transformed in place
#   wave.Steps: an operand is transformed in place
#   revlog.Sum: an operand is transformed in place
#   revlog.Dot: an operand is transformed in place
#   revlog.MatMul: an operand is transformed in place
#   revsparse.LogMul: an operand is transformed in place
#   revlog.MulElem: an operand is transformed in place
