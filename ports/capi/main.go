// The shared library of revnum.h: the kernels for programs in C, and for bindings.
//
//	go build -buildmode=c-shared -o librevnum.so ./ports/capi
//
// It is a command of the main module, so this one line suffices. Without a C compiler
// cgo is off, the package has no files, and go build ./... skips it.
package main

/*
#cgo CFLAGS: -std=c11 -Wall -Wextra
#cgo windows CFLAGS: -DREV_BUILD
#cgo linux LDFLAGS: ${SRCDIR}/exports.so -lm
#include "revnum.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"revnum/internal/parallel"
	"revnum/rev"
	"revnum/rules"
)

func main() {}

// An arguments holds the arguments of a call.
type arguments struct {
	parts  [4][]rules.Buffer
	params []float64
}

var calls = sync.Pool{New: func() any { return new(arguments) }}

var errArgument = errors.New("revnum")

// guard turns the error or panic of a function into a status and a message.
func guard(message *C.char, size C.int64_t, f func() error) (status C.int32_t) {
	debug.SetPanicOnFault(true) // a bad pointer then panics
	parallel.Begin()
	defer parallel.End()
	defer func() {
		if v := recover(); v != nil {
			status = C.REV_INTERNAL
			if err, ok := v.(error); ok && (errors.As(err, new(*rev.OperandError)) || errors.Is(err, parallel.ErrInterrupted)) {
				status = statusOf(err)
			}
			report(message, size, fmt.Sprintf("revnum: %v", v))
		}
	}()
	err := f()
	if err == nil {
		return C.REV_OK
	}
	report(message, size, err.Error())
	return statusOf(err)
}

func statusOf(err error) C.int32_t {
	var wrong *rev.OperandError
	var panicked *rules.PanicError
	switch {
	case errors.As(err, &wrong), errors.Is(err, rules.ErrArgument), errors.Is(err, errArgument):
		return C.REV_ARGUMENT
	case errors.Is(err, rev.ErrUnsupported):
		return C.REV_UNSUPPORTED
	case errors.Is(err, context.Canceled), errors.Is(err, parallel.ErrInterrupted):
		return C.REV_INTERRUPTED
	case errors.As(err, &panicked):
		return C.REV_INTERNAL
	}
	return C.REV_NO_RESULT
}

// report copies a message to a buffer of C, as far as it fits, with a zero at the end.
func report(message *C.char, size C.int64_t, text string) {
	if message == nil || size <= 0 {
		return
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(message)), size)
	n := copy(to[:size-1], text)
	to[n] = 0
}

//export goRulesJSON
func goRulesJSON(buf *C.char, size C.int64_t) C.int64_t {
	text := rules.JSON()
	if buf != nil && int64(len(text)) < int64(size) {
		report(buf, size, string(text))
	}
	return C.int64_t(len(text))
}

//export goRulesHash
func goRulesHash() C.int64_t {
	h := fnv.New64a()
	_, _ = h.Write(rules.JSON()) // never fails
	_, _ = h.Write([]byte{C.REV_ABI_VERSION})
	return C.int64_t(h.Sum64() | 1) // not 0, which stands for unknown
}

var kernels = sync.OnceValue(func() map[string]C.int32_t {
	m := make(map[string]C.int32_t)
	for i, r := range rules.All() {
		m[r.Name] = C.int32_t(i)
	}
	return m
})

//export goKernel
func goKernel(name, message *C.char, size C.int64_t) C.int32_t {
	text := textOf(name)
	id, ok := kernels()[text]
	if !ok {
		report(message, size, fmt.Sprintf("revnum: no kernel %q", text))
		return -1
	}
	return id
}

// textOf returns a string of C without copying it.
func textOf(s *C.char) string {
	if s == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(unsafe.Pointer(s)), n)
}

// goCall makes a pass for each of count problems. Argument i of a problem is moves[i] bytes
// after that of the problem before, and is set to zero first if its value is not 0. A nil moves is for count 1.
//
//export goCall
func goCall(kernel, pass C.int32_t, args *C.rev_arg, n, count C.int64_t, moves *C.int64_t, message *C.char, size C.int64_t) (status C.int32_t) {
	return guard(message, size, func() error {
		all := rules.All()
		if kernel < 0 || int(kernel) >= len(all) {
			return fmt.Errorf("%w: no kernel %d", errArgument, int(kernel))
		}
		a := calls.Get().(*arguments)
		defer a.release()
		if err := a.set(args, n, moves); err != nil {
			return err
		}
		if moves == nil {
			return all[kernel].Call(rules.Pass(pass), a.args())
		}
		return all[kernel].CallEach(rules.Pass(pass), a.args(), int(count))
	})
}

// A kept is a call that C makes again on other memory.
type kept struct {
	call *rules.Moving
	at   []int // where the address of each argument belongs in data; -1 for parameters
	data []unsafe.Pointer
	pin  runtime.Pinner // while C has the address
}

// held are the calls that C has. A Pinner does not keep them.
var held struct {
	sync.Mutex
	calls map[*kept]struct{}
}

// goKeep prepares a call like this one. It returns 0 if it cannot be kept.
//
//export goKeep
func goKeep(kernel, pass C.int32_t, args *C.rev_arg, n C.int64_t) (call C.uintptr_t) {
	guard(nil, 0, func() error {
		all := rules.All()
		if kernel < 0 || int(kernel) >= len(all) {
			return errArgument
		}
		a := calls.Get().(*arguments)
		defer a.release()
		if err := a.set(args, n, nil); err != nil {
			return err
		}
		k := &kept{}
		var err error
		if k.call, err = all[kernel].PrepareMoving(rules.Pass(pass), a.args()); err != nil {
			return err
		}
		var starts [len(a.parts)]int
		for i, part := range a.parts {
			starts[i] = len(k.data)
			k.data = append(k.data, make([]unsafe.Pointer, len(part))...)
		}
		for _, c := range unsafe.Slice(args, n) {
			at := -1
			if c.part != C.REV_PARAMETER {
				at = starts[c.part] + int(c.index)
			}
			k.at = append(k.at, at)
		}
		k.pin.Pin(k)
		held.Lock()
		defer held.Unlock()
		if held.calls == nil {
			held.calls = make(map[*kept]struct{})
		}
		held.calls[k] = struct{}{}
		call = C.uintptr_t(uintptr(unsafe.Pointer(k)))
		return nil
	})
	return call
}

// goCallKept makes a call of goKeep with the data of its arguments at these addresses. No other call of it may be in
// progress.
//
//export goCallKept
func goCallKept(call unsafe.Pointer, data *unsafe.Pointer, message *C.char, size C.int64_t) C.int32_t {
	return guard(message, size, func() error {
		k := (*kept)(call)
		defer clear(k.data)
		given := unsafe.Slice(data, len(k.at))
		for i, at := range k.at {
			if at >= 0 {
				k.data[at] = given[i]
			}
		}
		return k.call.Call(k.data)
	})
}

// goForget ends the use of a call of goKeep.
//
//export goForget
func goForget(call unsafe.Pointer) {
	k := (*kept)(call)
	k.pin.Unpin()
	held.Lock()
	defer held.Unlock()
	delete(held.calls, k)
}

// goCalls returns the address of parallel.Calls, which C may keep because variables of packages do not
// move.
//
//export goCalls
func goCalls() C.uintptr_t { return C.uintptr_t(uintptr(unsafe.Pointer(&parallel.Calls))) }

func (a *arguments) args() rules.Args {
	return rules.Args{Operands: a.parts[0], Cotangents: a.parts[1], Tangents: a.parts[2], CotangentTangents: a.parts[3], Params: a.params}
}

// release drops all references to memory of the caller.
func (a *arguments) release() {
	for i := range a.parts {
		clear(a.parts[i])
		a.parts[i] = a.parts[i][:0]
	}
	a.params = a.params[:0]
	calls.Put(a)
}

// maxIndex bounds the index of an argument, and maxArgs their number.
const maxIndex, maxArgs = 64, 1 << 10

// set takes the arguments of C, which move from problem to problem unless moves is nil.
func (a *arguments) set(args *C.rev_arg, n C.int64_t, moves *C.int64_t) error {
	if n < 0 || n > maxArgs || args == nil && n > 0 {
		return fmt.Errorf("%w: %d arguments", errArgument, int64(n))
	}
	list := unsafe.Slice(args, n)
	for i := range list {
		c := &list[i]
		part, index := int(c.part), int(c.index)
		if index < 0 || index >= maxIndex || part < C.REV_OPERAND || part > C.REV_PARAMETER {
			return fmt.Errorf("%w: argument %d is number %d of part %d", errArgument, i, index, part)
		}
		if part == C.REV_PARAMETER {
			for len(a.params) <= index {
				a.params = append(a.params, 0)
			}
			a.params[index] = float64(c.value)
			continue
		}
		for len(a.parts[part]) <= index {
			a.parts[part] = append(a.parts[part], rules.Buffer{})
		}
		b := &a.parts[part][index]
		if err := setBuffer(b, c); err != nil {
			return fmt.Errorf("%w: argument %d: %w", errArgument, i, err)
		}
		if moves != nil {
			b.Move, b.Zero = int(unsafe.Slice(moves, n)[i]), c.value != 0
		}
	}
	return nil
}

// maxLen bounds lengths and strides. Their products with the size of an element do not
// overflow.
const maxLen = 1 << 58

// setBuffer sets a buffer to an argument.
func setBuffer(b *rules.Buffer, c *C.rev_arg) error {
	for _, v := range [...]C.int64_t{c.len, c.shape[0], c.shape[1], c.ptr_len, c.ind_len} {
		if uint64(v) > maxLen {
			return fmt.Errorf("has a length of %d", int64(v))
		}
	}
	for _, v := range c.stride {
		if v < -maxLen || v > maxLen {
			return fmt.Errorf("has a stride of %d", int64(v))
		}
	}
	*b = rules.Buffer{
		Data: c.data, Len: int(c.len), Type: rules.Type(c._type), Axes: int(c.axes),
		Shape: [2]int{int(c.shape[0]), int(c.shape[1])}, Stride: [2]int{int(c.stride[0]), int(c.stride[1])},
	}
	if c.data == nil {
		b.Len = 0
	}
	if c.ptr != nil {
		if c.ind == nil && c.ind_len > 0 {
			return errors.New("has no column indices")
		}
		b.Sparse = true
		b.Ptr = unsafe.Slice((*int)(unsafe.Pointer(c.ptr)), c.ptr_len)
		b.Ind = unsafe.Slice((*int)(unsafe.Pointer(c.ind)), c.ind_len)
	}
	return nil
}

//export goBlock
func goBlock(weighted C.int32_t, feature *C.double, parameters **C.double, residuals *C.double, jacobians **C.double, message *C.char, size C.int64_t) C.int32_t {
	return guard(message, size, func() error {
		if parameters == nil {
			return fmt.Errorf("%w: no parameters", errArgument)
		}
		blocks := &snavelyBlocks
		if weighted != 0 {
			blocks = &weightedBlocks
		}
		b := blocks.Get().(*block)
		defer blocks.Put(b)
		rows, n := len(b.residuals), len(b.inputs)-1
		var inputs, matrices [4][]float64
		inputs[0] = slice(feature, len(b.inputs[0]))
		for i, x := range b.inputs[1:] {
			inputs[i+1] = slice(unsafe.Slice(parameters, n)[i], len(x))
			if jacobians != nil {
				matrices[i] = slice(unsafe.Slice(jacobians, n)[i], rows*len(x))
			}
		}
		if err := b.compute(inputs[:n+1], slice(residuals, rows), matrices[:n]); err != nil {
			return fmt.Errorf("%w: %w", errArgument, err)
		}
		return nil
	})
}

// slice returns n numbers in memory of C, or nil.
func slice(x *C.double, n int) []float64 {
	if x == nil {
		return nil
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(x)), n)
}
