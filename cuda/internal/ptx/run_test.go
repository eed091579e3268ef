package ptx

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// kernelText returns a kernel of three pointers with a body. %rd1 to %rd3 are the
// pointers, %r1 is the number of the thread.
func kernelText(body string) string {
	return `.version 6.3
.target sm_75
.address_size 64
.weak .shared .align 16 .b8 room[1024];
.const .align 8 .b8 odd[3] = {1};
.const .align 8 .b8 table[16] = {1, 2, 0, 0, 0, 0, 0, 0, 255, 255};
.visible .entry k(
	.param .u64 k_param_0,
	.param .u64 k_param_1,
	.param .u64 k_param_2
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<16>;
	.reg .f32 	%f<9>;
	.reg .b64 	%rd<12>;
	.reg .f64 	%fd<12>;
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u64 	%rd2, [k_param_1];
	ld.param.u64 	%rd3, [k_param_2];
	mov.u32 	%r1, %tid.x;
` + body + `
	ret;
}
`
}

// run runs a kernel over three arrays of that many numbers. The first two are written
// beforehand. It returns the third.
func run(t *testing.T, body string, threads, blocks int, a, b []uint64) ([]uint64, error) {
	t.Helper()
	m, err := Parse("test.ptx", kernelText(body))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	mem := NewMemory(1 << 16)
	var params []uint64
	bytes := make([]byte, 8*len(a))
	for i, data := range [][]uint64{a, b, nil} {
		at, err := mem.Alloc(len(bytes))
		if err != nil {
			t.Fatal(err)
		}
		params = append(params, at)
		if i == 2 {
			break
		}
		for j, v := range data {
			binary.LittleEndian.PutUint64(bytes[8*j:], v)
		}
		if err := mem.Write(at, bytes); err != nil {
			t.Fatal(err)
		}
	}
	machine := Machine{Memory: mem}
	if err := machine.Launch(k, Grid{Blocks: [3]int{blocks, 1, 1}, Threads: [3]int{threads, 1, 1}}, params); err != nil {
		return nil, err
	}
	if err := mem.Read(bytes, params[2]); err != nil {
		t.Fatal(err)
	}
	out := make([]uint64, len(a))
	for j := range out {
		out[j] = binary.LittleEndian.Uint64(bytes[8*j:])
	}
	return out, nil
}

// own is the start of a body. It adds 8 times the number of the thread to the pointers.
const own = `
	mul.wide.u32 	%rd4, %r1, 8;
	add.s64 	%rd1, %rd1, %rd4;
	add.s64 	%rd2, %rd2, %rd4;
	add.s64 	%rd3, %rd3, %rd4;
`

// TestErrors gives the interpreter what hardware would do without a word.
func TestErrors(t *testing.T) {
	const n = 64
	data := make([]uint64, n)
	for name, test := range map[string]struct{ body, want string }{
		"outside":            {"ld.global.u64 	%rd5, [%rd1+512];", "in no allocation"},
		"before":             {"ld.global.u64 	%rd5, [%rd2+-8];", "in no allocation"},
		"not aligned":        {"ld.global.u64 	%rd5, [%rd1+4];", "not aligned"},
		"two, not aligned":   {"ld.global.v2.u64 	{%rd5, %rd6}, [%rd1+8];", "16 bytes at"},
		"nobody wrote":       {own + "ld.global.u64 	%rd5, [%rd3];", "which nobody wrote"},
		"shared, not global": {"ld.shared.u64 	%rd5, [%rd1];", "not in shared memory"},
		"shared not written": {"mov.u64 	%rd5, room;\nld.shared.u64 	%rd6, [%rd5];", "which nobody wrote"},
		"two writers":        {"st.global.u64 	[%rd3], %rd1;", "writes"},
		"read and write":     {own + "ld.global.u64 	%rd5, [%rd1];\nld.param.u64 	%rd6, [k_param_0];\nst.global.u64 	[%rd6], %rd5;", "without a barrier"},
		"no barrier": {`
	shl.b32 	%r2, %r1, 2;
	mov.u32 	%r3, room;
	add.s32 	%r4, %r3, %r2;
	st.shared.u32 	[%r4], %r1;
	ld.shared.u32 	%r5, [room];`, "without a barrier"},
		"barrier of a warp only": {`
	shl.b32 	%r2, %r1, 2;
	mov.u32 	%r3, room;
	add.s32 	%r4, %r3, %r2;
	st.shared.u32 	[%r4], %r1;
	bar.warp.sync 	-1;
	ld.shared.u32 	%r5, [room+128];`, "without a barrier"}, // of the second warp
		"write after other warps": {`
	mov.u32 	%r2, 0;
	mov.u32 	%r3, room;
	setp.ne.u32 	%p1, %r1, 0;
	@%p1 bra 	$L1;
	st.shared.u32 	[room], %r2;
$L1:
	bar.sync 	0;
	ld.shared.u32 	%r5, [room];
	bar.warp.sync 	-1;
	setp.ne.u32 	%p1, %r1, 63;
	@%p1 bra 	$L2;
	st.shared.u32 	[room], %r5;
$L2:`, "without a barrier"},
		"barrier of some": {`
	setp.gt.u32 	%p1, %r1, 3;
	@%p1 bra 	$L1;
	bar.sync 	0;
$L1:
	bar.sync 	0;`, "another barrier than thread"},
		"barrier under a guard": {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 bar.sync 	0;\nbar.sync 	0;", "another barrier than thread"},
		"barrier and shuffle": {`
	setp.gt.u32 	%p1, %r1, 31;
	@%p1 bra 	$L1;
	bar.sync 	0;
	bra.uni 	$L2;
$L1:
	setp.eq.u32 	%p1, %r1, 40;
	@%p1 bra 	$L2;
	shfl.sync.down.b32	%r2, %r1, 1, 31, -1;
$L2:`, "lanes that do not come"},
		"shuffle under a guard": {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 shfl.sync.bfly.b32	%r2, %r1, 1, 31, -1;", "lanes that do not come"},
		"lanes of a barrier":    {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 bra 	$L1;\nbar.warp.sync 	-1;\n$L1:", "lanes that do not come"},
		"first lanes missing":   {"setp.gt.u32 	%p1, %r1, 3;\n@!%p1 bra 	$L1;\nshfl.sync.down.b32	%r2, %r1, 1, 31, -1;\n$L1:", "lanes that do not come"},
		"votes missing":         {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 bra 	$L1;\nvote.sync.any.pred 	%p2, %p1, -1;\n$L1:", "lanes that do not come"},
		"part of a vote":        {"vote.sync.any.pred 	%p2, %p1, 15;", "whole warp"},
		"part of a barrier":     {"bar.warp.sync 	15;", "whole warp"},
		"no end":                {"$L1:\nbra.uni 	$L1;", "does not end"},
		"lanes missing":         {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 bra 	$L1;\nshfl.sync.down.b32	%r2, %r1, 1, 31, -1;\n$L1:", "lanes that do not come"},
		"unknown":               {"brev.b32 	%r2, %r1;", "unknown instruction"},
		"may be fused":          {"mul.f64 	%fd1, %fd2, %fd3;", "unknown instruction"},
		"a sum may be fused":    {"add.f32 	%f1, %f2, %f3;", "unknown instruction"},
		"unknown type":          {"add.s128 	%rd1, %rd1, 1;", "unknown type"},
		"no register":           {"add.s64 	%rd99, %rd1, 1;", "no register"},
		"no label":              {"bra 	$L9;", "no label"},
		"unknown name":          {"mov.u64 	%rd1, nothing;", "unknown operand"},
		"constants":             {"mov.u64 	%rd6, table;\nst.global.u64 	[%rd6], %rd1;", "which is constant"},
		"after constants":       {"ld.const.u64 	%rd1, [table+16];", "not in const memory"},
		"other barrier":         {"bar.sync 	1;", "only barrier 0"},
		"part of a warp":        {"shfl.sync.down.b32	%r2, %r1, 1, 31, 15;", "whole warp"},

		"short product":         {"mma.sync.m16n8k8 	{%fd1, %fd1}, {%fd1}, {%fd1}, {%fd1, %fd1};", "are known"},
		"shape of a product":    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 	{%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r1}, {%r1, %r1, %r1, %r1};", "are known"},
		"wide sums of bytes":    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 	{%rd1, %rd2}, {%r1}, {%r1}, {%r1, %r1};", "type b32, found %rd1"},
		"floats as bytes":       {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 	{%r1, %r2}, {%r1}, {%fd1}, {%r1, %r1};", "type b32, found %fd1"},
		"integers as floats":    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 	{%fd1, %fd2}, {%rd1}, {%fd1}, {%fd1, %fd2};", "type f64, found %rd1"},
		"a number as a product": {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 	{%r1, %r2}, {%r1}, {%r1}, {0, 0};", "type b32, found 0"},
		"wide permutation":      {"prmt.b64 	%rd1, %rd1, %rd1, 3;", "unknown instruction"},
		"mode of a permutation": {"prmt.b32.f4e 	%r1, %r1, %r1, %r1;", "unknown type"},
	} {
		_, err := run(t, test.body, n, 1, data, data)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "test.ptx:") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	for body, want := range map[string]string{
		"ld.global.u64 	%rd5, [%rd1];\nst.global.u64 	[%rd3], %rd5;": "of block 0 writes too",
		// The first block has finished when the second begins.
		"mov.u32 	%r2, %ctaid.x;\nsetp.ne.u32 	%p1, %r2, 0;\n@%p1 ld.global.u64 	%rd5, [%rd1];\n@!%p1 st.global.u64 	[%rd1], %rd2;": "reads",
		"mov.u32 	%r2, %ctaid.x;\nsetp.ne.u32 	%p1, %r2, 0;\n@!%p1 ld.global.u64 	%rd5, [%rd1];\n@%p1 st.global.u64 	[%rd1], %rd2;": "of block 0 reads",
	} {
		if _, err := run(t, body, 1, 2, data, data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("two blocks: %v, want %q", err, want)
		}
	}
	// Half a warp has no lanes to shuffle with.
	if _, err := run(t, "shfl.sync.down.b32	%r2, %r1, 1, 31, -1;", warp/2, 1, data, data); err == nil || !strings.Contains(err.Error(), "lanes that do not come") {
		t.Errorf("half a warp: %v", err)
	}
}

// TestForget reads memory that was written once, then forgotten, and then freed.
func TestForget(t *testing.T) {
	m, err := Parse("test.ptx", kernelText("ld.global.u64 	%rd5, [%rd1];"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	machine := Machine{Memory: NewMemory(1 << 10)}
	at, err := machine.Memory.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	launch := func() error {
		return machine.Launch(k, Grid{Blocks: [3]int{1, 1, 1}, Threads: [3]int{1, 1, 1}}, []uint64{at, at, at})
	}
	if err := errors.Join(machine.Memory.Write(at, make([]byte, 16)), launch(), machine.Memory.Forget(at)); err != nil {
		t.Error(err)
	}
	if err := launch(); err == nil || !strings.Contains(err.Error(), "which nobody wrote") {
		t.Errorf("forgotten: %v", err)
	}
	if err := machine.Memory.Free(at); err != nil {
		t.Error(err)
	}
	if err := launch(); err == nil || !strings.Contains(err.Error(), "in no allocation") {
		t.Errorf("freed: %v", err)
	}
	if machine.Memory.Forget(at) == nil {
		t.Error("freed memory is forgotten")
	}
}

// TestBarrier turns numbers around through shared memory.
func TestBarrier(t *testing.T) {
	const n = 32
	data := make([]uint64, n)
	for i := range data {
		data[i] = uint64(i)
	}
	out, err := run(t, own+`
	ld.global.u64 	%rd5, [%rd1];
	mov.u64 	%rd6, room;
	add.s64 	%rd7, %rd6, %rd4;
	st.shared.u64 	[%rd7], %rd5;
	bar.sync 	0;
	sub.s64 	%rd7, %rd6, %rd4;
	ld.shared.u64 	%rd5, [%rd7+248];
	st.global.u64 	[%rd3], %rd5;`, n, 1, data, data)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v != uint64(n-1-i) {
			t.Errorf("element %d is %d", i, v)
		}
	}
}

// TestWarpBarrier turns the numbers of each warp around, twice in the same shared memory.
func TestWarpBarrier(t *testing.T) {
	data := make([]uint64, 64)
	for i := range data {
		data[i] = uint64(i)
	}
	const turn = `
	st.shared.u32 	[%r4], %r1;
	bar.warp.sync 	-1;
	ld.shared.u32 	%r1, [%r5];
	bar.warp.sync 	-1;`
	out, err := run(t, own+`
	shl.b32 	%r2, %r1, 2;
	mov.u32 	%r3, room;
	add.s32 	%r4, %r3, %r2;
	xor.b32 	%r5, %r1, 31;
	shl.b32 	%r5, %r5, 2;
	add.s32 	%r5, %r3, %r5;`+turn+`
	add.s32 	%r1, %r1, 100;`+turn+`
	cvt.u64.u32 	%rd5, %r1;
	st.global.u64 	[%rd3], %rd5;`, 64, 1, data, data)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v != uint64(100+i) {
			t.Errorf("element %d is %d", i, v)
		}
	}
}

// TestTraffic loads neighbours, and stores numbers that are 32 bytes apart.
func TestTraffic(t *testing.T) {
	m, err := Parse("test.ptx", kernelText(`
	mov.u32 	%r2, %ctaid.x;
	shl.b32 	%r2, %r2, 6;
	add.s32 	%r1, %r1, %r2;
	mul.wide.u32 	%rd4, %r1, 8;
	add.s64 	%rd1, %rd1, %rd4;
	mul.wide.u32 	%rd4, %r1, 32;
	add.s64 	%rd2, %rd2, %rd4;
	ld.global.u64 	%rd5, [%rd1];
	st.global.u64 	[%rd2], %rd5;`))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	machine := Machine{Memory: NewMemory(1 << 16), Traffic: map[string]Traffic{}}
	var params [3]uint64
	for i, bytes := range []int{128 * 8, 128 * 32, 8} {
		if params[i], err = machine.Memory.Alloc(bytes); err != nil {
			t.Fatal(err)
		}
		if err := machine.Memory.Write(params[i], make([]byte, bytes)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := machine.Launch(k, Grid{Blocks: [3]int{2, 1, 1}, Threads: [3]int{64, 1, 1}}, params[:]); err != nil {
			t.Fatal(err)
		}
	}
	want := Traffic{Loaded: 2 * 128 * 8, Stored: 2 * 128 * 8, LoadedSectors: 2 * 128 * 8, StoredSectors: 2 * 128 * 32}
	if got := machine.Traffic["k"]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for cached, loaded := range map[int]int{128*8 - 1: 128 * 8, 128 * 8: 0} {
		machine.Cached, machine.Traffic = cached, map[string]Traffic{}
		if err := machine.Launch(k, Grid{Blocks: [3]int{2, 1, 1}, Threads: [3]int{64, 1, 1}}, params[:]); err != nil {
			t.Fatal(err)
		}
		if got := machine.Traffic["k"]; got.LoadedSectors != loaded || got.StoredSectors != 128*32 {
			t.Errorf("a cache of pieces of %d bytes: %+v, want %d bytes loaded", cached, got, loaded)
		}
	}
}

// TestShuffle sums over the lanes of two warps.
func TestShuffle(t *testing.T) {
	const n = 64
	data := make([]uint64, n)
	body := own
	for by := 16; by > 0; by /= 2 {
		body += "shfl.sync.down.b32	%r2, %r1, " + big.NewInt(int64(by)).String() + ", 31, -1;\nadd.s32 	%r1, %r1, %r2;\n"
	}
	out, err := run(t, body+"cvt.u64.u32 	%rd5, %r1;\nst.global.u64 	[%rd3], %rd5;", n, 1, data, data)
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != 31*32/2 || out[32] != 63*64/2-31*32/2 {
		t.Errorf("sums %d and %d", out[0], out[32])
	}
}

// TestSignedLoad loads a negative number of 32 bits into registers of 64 and of 32 bits.
func TestSignedLoad(t *testing.T) {
	data := []uint64{1<<32 - 7}
	for load, want := range map[string]uint64{
		"ld.global.s32 	%rd5, [%rd1];":                         ^uint64(6),
		"ld.global.s8 	%rd5, [%rd1];":                          ^uint64(6),
		"ld.global.u32 	%rd5, [%rd1];":                         1<<32 - 7,
		"ld.global.s32 	%r2, [%rd1];\ncvt.u64.u32 	%rd5, %r2;": 1<<32 - 7,
	} {
		out, err := run(t, own+load+"\nst.global.u64 	[%rd3], %rd5;", 1, 1, data, data)
		if err != nil {
			t.Fatal(err)
		}
		if out[0] != want {
			t.Errorf("%s loads %#x, want %#x", load, out[0], want)
		}
	}
}

// TestMultiply multiplies tiles of 8×4 and 4×8 elements.
func TestMultiply(t *testing.T) {
	const n = 32
	a, b := make([]uint64, n), make([]uint64, n)
	for i := range a {
		a[i], b[i] = b64(float64(i+1)), b64(float64(3*i*i-50))
	}
	const body = own + `
	ld.global.f64 	%fd1, [%rd1];
	ld.global.f64 	%fd2, [%rd2];
	mov.f64 	%fd3, 0d3FF0000000000000;
	mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd4, %fd5}, {%fd1}, {%fd2}, {%fd3, %fd3};
	sub.rn.f64 	%fd6, %fd4, %fd5;
	st.global.f64 	[%rd3], %fd6;`
	out, err := run(t, body, n, 1, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		var want [2]float64
		for h := range want {
			for k := range 4 {
				want[h] += f64(a[i/4*4+k]) * f64(b[(i%4*2+h)*4+k]) // b is stored by columns
			}
		}
		if got := f64(v); got != want[0]-want[1] {
			t.Errorf("lane %d has %v, want %v", i, got, want[0]-want[1])
		}
	}
	if _, err := run(t, body, n/2, 1, a, b); err == nil {
		t.Error("half a warp multiplies")
	}
}

// TestMultiplyLarge multiplies tiles of 16×8 and 8×8 elements: a lane has those of A in rows i and
// i + 8 and columns j and j + 4, and those of B in rows j and j + 4.
func TestMultiplyLarge(t *testing.T) {
	const n = 32
	a, b := make([]uint64, n), make([]uint64, n)
	for i := range a {
		a[i], b[i] = b64(float64(i+1)), b64(float64(3*i*i-50))
	}
	A := func(r, c int) float64 { return float64(1+r/8+2*(c/4)) * f64(a[r%8*4+c%4]) }
	B := func(r, c int) float64 { return float64(1+r/4) * f64(b[c*4+r%4]) }
	out, err := run(t, own+`
	ld.global.f64 	%fd1, [%rd1];
	add.rn.f64 	%fd2, %fd1, %fd1;
	add.rn.f64 	%fd3, %fd1, %fd2;
	add.rn.f64 	%fd4, %fd2, %fd2;
	ld.global.f64 	%fd5, [%rd2];
	add.rn.f64 	%fd6, %fd5, %fd5;
	mov.f64 	%fd7, 0d0000000000000000;
	mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%fd8, %fd9, %fd10, %fd11}, {%fd1, %fd2, %fd3, %fd4}, {%fd5, %fd6}, {%fd7, %fd7, %fd7, %fd7};
	sub.rn.f64 	%fd8, %fd8, %fd9;
	fma.rn.f64 	%fd8, %fd10, %fd2, %fd8;
	fma.rn.f64 	%fd8, %fd11, %fd3, %fd8;
	st.global.f64 	[%rd3], %fd8;`, n, 1, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		var d [4]float64
		for h := range d {
			for k := range 8 {
				d[h] += A(i/4+8*(h/2), k) * B(k, i%4*2+h%2)
			}
		}
		own := f64(a[i])
		if got, want := f64(v), d[0]-d[1]+d[2]*2*own+d[3]*3*own; got != want {
			t.Errorf("lane %d has %v, want %v", i, got, want)
		}
	}
}

// TestMultiplyBytes multiplies tiles of 16×32 and 32×8 bytes, and of 8×16 and 16×8, with and without signs.
func TestMultiplyBytes(t *testing.T) {
	const n = 32
	a, b := make([]uint64, n), make([]uint64, n)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range a {
		a[i], b[i] = rnd.Uint64(), rnd.Uint64()
	}
	value := func(v uint64, p int, sign string) int32 {
		if sign == "s8" {
			return int32(int8(v >> (8 * p)))
		}
		return int32(uint8(v >> (8 * p)))
	}
	for _, sign := range [][2]string{{"u8", "u8"}, {"u8", "s8"}, {"s8", "u8"}, {"s8", "s8"}} {
		types := strings.Join(sign[:], ".")
		// The low half of a number is in rows 0 to 7 of A, or in the first 16 rows of B. Of the large tile, the second half of the
		// columns of A is exchanged with the first.
		out, err := run(t, own+`
	ld.global.v2.u32 	{%r1, %r2}, [%rd1];
	ld.global.v2.u32 	{%r3, %r4}, [%rd2];
	mov.u32 	%r5, 7;
	mma.sync.aligned.m16n8k32.row.col.s32.`+types+`.s32 {%r6, %r7, %r8, %r9}, {%r1, %r2, %r2, %r1}, {%r3, %r4}, {%r5, %r5, %r5, %r5};
	mma.sync.aligned.m8n8k16.row.col.s32.`+types+`.s32 {%r10, %r11}, {%r1}, {%r4}, {%r5, %r5};
	mul.lo.s32 	%r7, %r7, 3;
	mul.lo.s32 	%r8, %r8, 5;
	mul.lo.s32 	%r9, %r9, 7;
	mul.lo.s32 	%r10, %r10, 11;
	mul.lo.s32 	%r11, %r11, 13;
	add.s32 	%r6, %r6, %r7;
	add.s32 	%r6, %r6, %r8;
	add.s32 	%r6, %r6, %r9;
	add.s32 	%r6, %r6, %r10;
	add.s32 	%r6, %r6, %r11;
	cvt.u64.u32 	%rd4, %r6;
	st.global.u64 	[%rd3], %rd4;`, n, 1, a, b)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			row, column := i/4, i%4*2
			var want int32
			for e, factor := range []int32{1, 3, 5, 7, 11, 13} {
				s := int32(7)
				for k := range 32 {
					lane, p := k%16/4, k%4
					switch {
					case e < 4: // upper rows have the low half of the first columns, lower rows that of the others
						half := 32 * (e/2 ^ k/16)
						s += value(a[row*4+lane]>>half, p, sign[0]) * value(b[(column+e%2)*4+lane]>>(k/16*32), p, sign[1])
					case k < 16:
						s += value(a[row*4+lane], p, sign[0]) * value(b[(column+e%2)*4+lane]>>32, p, sign[1])
					}
				}
				want += factor * s
			}
			if uint32(v) != uint32(want) {
				t.Errorf("%s: lane %d has %d, want %d", types, i, int32(v), want)
			}
		}
	}
}

// TestPermute chooses bytes of two numbers, or their signs.
func TestPermute(t *testing.T) {
	out, err := run(t, own+`
	ld.global.v2.u32 	{%r1, %r2}, [%rd1];
	prmt.b32 	%r3, %r1, %r2, 0x9D42;
	cvt.u64.u32 	%rd4, %r3;
	st.global.u64 	[%rd3], %rd4;`, 1, 1, []uint64{0x8899aa7700112233}, []uint64{0})
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(0x00ff7711); out[0] != want {
		t.Errorf("%#x, want %#x", out[0], want)
	}
}

// TestAsync copies to shared memory, and finds who does not wait for the copies, or not at a barrier.
func TestAsync(t *testing.T) {
	const n = 64
	a := make([]uint64, n)
	for i := range a {
		a[i] = uint64(i + 1)
	}
	// A thread copies two numbers and reads those of another warp. The last one of a warp copies one.
	const place, other = `
	mov.u32 	%r1, %tid.x;
	and.b32 	%r2, %r1, 31;
	setp.eq.s32 	%p1, %r2, 31;
	selp.b32 	%r3, 8, 16, %p1;
	mov.u64 	%rd6, room;
	cvt.u64.u32 	%rd7, %r1;
	shl.b64 	%rd7, %rd7, 4;
	add.s64 	%rd7, %rd6, %rd7;
	cvt.u32.u64 	%r4, %rd7;
	and.b64 	%rd8, %rd1, -16;
	cp.async.cg.shared.global [%r4], [%rd8], 16, %r3;
	cp.async.commit_group;`, `
	xor.b32 	%r5, %r1, 32;
	cvt.u64.u32 	%rd9, %r5;
	shl.b64 	%rd9, %rd9, 4;
	add.s64 	%rd9, %rd6, %rd9;
	ld.shared.u64 	%rd10, [%rd9];
	ld.shared.u64 	%rd11, [%rd9+8];
	add.s64 	%rd10, %rd10, %rd11;
	st.global.u64 	[%rd3], %rd10;`
	for _, c := range []struct{ wait, fault string }{
		{"cp.async.wait_group 0;\nbar.sync 0;", ""},
		{"bar.sync 0;", "nobody wrote"},
		{"cp.async.wait_group 1;\nbar.sync 0;", "nobody wrote"},
		{"cp.async.wait_group 0;", "nobody wrote"},
	} {
		out, err := run(t, own+place+"\n"+c.wait+other, n, 1, a, a)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: error %v, want %q", c.wait, err, c.fault)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			j := (i ^ 32) / 2 * 2
			want := a[j] + a[j+1]
			if (i^32)%32 == 31 {
				want = a[j]
			}
			if v != want {
				t.Errorf("thread %d has %d, want %d", i, v, want)
			}
		}
	}
}

// TestArithmetic compares instructions with other computations of the same.
func TestArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 256
	random := func() []uint64 {
		x := make([]uint64, n)
		for i := range x {
			switch rnd.IntN(3) {
			case 0:
				x[i] = math.Float64bits(rnd.NormFloat64())
			case 1:
				x[i] = uint64(rnd.IntN(7) - 3)
			default:
				x[i] = rnd.Uint64()
			}
		}
		return x
	}
	wide := func(a, b uint64) *big.Int { return new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b))) }
	for body, want := range map[string]func(a, b uint64) uint64{
		"mul.hi.s64 	%rd7, %rd5, %rd6;":                        func(a, b uint64) uint64 { return uint64(new(big.Int).Rsh(wide(a, b), 64).Int64()) },
		"mul.lo.s64 	%rd7, %rd5, %rd6;":                        func(a, b uint64) uint64 { return a * b },
		"add.cc.s64 	%rd7, %rd5, %rd6;\naddc.s64 	%rd7, 0, 0;": func(a, b uint64) uint64 { return b1(a+b < a) },
		"shr.s64 	%rd7, %rd5, 7;":                              func(a, _ uint64) uint64 { return uint64(int64(a) >> 7) },
		"and.b64 	%rd7, %rd5, 8;\nmov.u64 	%rd6, table;\nadd.s64 	%rd7, %rd7, %rd6;\nld.const.u64 	%rd7, [%rd7];": func(a, _ uint64) uint64 { return 0x201 + a>>3&1*(0xffff-0x201) },
		"bfe.u64 	%rd7, %rd5, 3, 12;": func(a, _ uint64) uint64 { return a >> 3 & 0xfff },
		"bfe.s64 	%rd7, %rd5, 3, 12;": func(a, _ uint64) uint64 { return uint64(int64(a) << 49 >> 52) },
		"{ .reg .b32 tmp; cvt.u32.u64 	tmp, %rd5; bfe.s32 	tmp, tmp, 20, 3; cvt.u64.u32 	%rd7, tmp; }": func(a, _ uint64) uint64 { return uint64(uint32(int32(a) << 9 >> 29)) },
		"{ .reg .b32 tmp; cvt.u32.u64 	tmp, %rd5; bfe.s32 	tmp, tmp, 30, 3; cvt.u64.u32 	%rd7, tmp; }": func(a, _ uint64) uint64 { return uint64(uint32(int32(a) >> 30)) },
		"setp.ge.s64 	%p1, %rd5, 0;\nvote.sync.any.pred 	%p2, %p1, -1;\nselp.b64 	%rd7, 1, 0, %p2;":    func(_, _ uint64) uint64 { return 1 },
		"setp.ne.s64 	%p1, %rd5, %rd5;\nvote.sync.any.pred 	%p2, %p1, -1;\nselp.b64 	%rd7, 1, 0, %p2;": func(_, _ uint64) uint64 { return 0 },
		"bfe.s64 	%rd7, %rd5, 60, 12;":                                                                    func(a, _ uint64) uint64 { return uint64(int64(a) >> 60) },
		"shl.b64 	%rd7, %rd5, 65;":                                                                        func(_, _ uint64) uint64 { return 0 },
		"setp.lt.s64 	%p1, %rd5, %rd6;\nselp.b64 	%rd7, 1, 0, %p1;":                                       func(a, b uint64) uint64 { return b1(int64(a) < int64(b)) },
		"setp.lt.u64 	%p1, %rd5, %rd6;\nselp.b64 	%rd7, 1, 0, %p1;":                                       func(a, b uint64) uint64 { return b1(a < b) },
		"mov.pred 	%p1, -1;\nnot.pred 	%p2, %p1;\nselp.b64 	%rd7, 1, 0, %p2;":                             func(_, _ uint64) uint64 { return 0 },
		"min.s64 	%rd7, %rd5, %rd6;":                                                                      func(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) },
		"cvt.s64.s32 	%rd7, %rd5;":                                                                        func(a, _ uint64) uint64 { return uint64(int64(int32(a))) },
		"mov.b64 	%fd1, %rd5;\nmov.b64 	%fd2, %rd6;\nmul.rn.f64 	%fd3, %fd1, %fd2;\nmov.b64 	%rd7, %fd3;": func(a, b uint64) uint64 { return b64(f64(a) * f64(b)) },
		"mov.b64 	%fd1, %rd5;\nmov.b64 	%fd2, %rd6;\ndiv.rn.f64 	%fd3, %fd1, %fd2;\nmov.b64 	%rd7, %fd3;": func(a, b uint64) uint64 { return b64(f64(a) / f64(b)) },
		"mov.b64 	%fd1, %rd5;\ncvt.rzi.s64.f64 	%rd7, %fd1;": func(a, _ uint64) uint64 {
			v := f64(a)
			switch {
			case math.IsNaN(v):
				return 1 << 63
			case v >= 1<<63:
				return math.MaxInt64
			case v < -1<<63:
				return 1 << 63
			}
			return uint64(int64(v))
		},
		"cvt.rn.f64.s64 	%fd1, %rd5;\nmov.b64 	%rd7, %fd1;":                     func(a, _ uint64) uint64 { return b64(float64(int64(a))) },
		"{ .reg .b32 tmp; mov.b64 {tmp, %r5}, %rd5; }\ncvt.u64.u32 	%rd7, %r5;": func(a, _ uint64) uint64 { return a >> 32 },
	} {
		a, b := random(), random()
		got, err := run(t, own+"ld.global.u64 	%rd5, [%rd1];\nld.global.u64 	%rd6, [%rd2];\n"+body+"\nst.global.u64 	[%rd3], %rd7;", n, 1, a, b)
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range got {
			if w := want(a[i], b[i]); got[i] != w && !(math.IsNaN(f64(w)) && math.IsNaN(f64(got[i])) && strings.Contains(body, "rn.f64")) {
				t.Errorf("%s of %#x and %#x: %#x, want %#x", body, a[i], b[i], got[i], w)
			}
		}
	}
}

// TestReciprocalRoot takes 1/√x of the upper halves of numbers.
func TestReciprocalRoot(t *testing.T) {
	data := []uint64{math.Float64bits(0.25), math.Float64bits(3), math.Float64bits(3) + 12345, 0}
	out, err := run(t, own+`
	ld.global.f64 	%fd1, [%rd1];
	rsqrt.approx.ftz.f64 	%fd2, %fd1;
	st.global.f64 	[%rd3], %fd2;`, 4, 1, data, data)
	if err != nil {
		t.Fatal(err)
	}
	three := out[1]
	if out[0] != math.Float64bits(2) || out[3] != math.Float64bits(math.Inf(1)) || out[2] != three || three&(1<<32-1) != 0 ||
		math.Abs(math.Float64frombits(three)*math.Sqrt(3)-1) > 1e-6 {
		t.Errorf("1/√x of 1/4, 3, and a number near to it, and 0 are %x", out)
	}
}

// TestReciprocal has numbers of all magnitudes. The lower half of an approximation is zero.
func TestReciprocal(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), 0x1p-1023, math.Inf(-1), 0x1p1023, 1, -3, 0x1.fffffffffffffp+1, 1e-300, 1e300}
	want := []float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Copysign(0, -1), 0, 1, -1 / 3., 0.25, 1e300, 1e-300}
	in := make([]uint64, len(x))
	for i, v := range x {
		in[i] = b64(v)
	}
	out, err := run(t, own+"ld.global.f64 	%fd1, [%rd1];\nrcp.approx.ftz.f64 	%fd2, %fd1;\nst.global.f64 	[%rd3], %fd2;", len(x), 1, in, in)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range out {
		if v, w := f64(b), want[i]; b<<32 != 0 || v != w && !(math.Abs(v-w) < 0x1p-18*math.Abs(w)) || math.Signbit(v) != math.Signbit(w) {
			t.Errorf("the reciprocal of %v is %v (%#x), want about %v", x[i], v, b, w)
		}
	}
}

// TestFMA32 compares with sums that are exact before they are rounded.
func TestFMA32(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		a, b := float32(rnd.NormFloat64()), float32(rnd.NormFloat64())
		c := float32(math.Ldexp(rnd.NormFloat64(), rnd.IntN(80)-40))
		if rnd.IntN(4) == 0 {
			c = -a * b
		}
		exact := new(big.Float).SetPrec(400).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		exact.Add(exact, big.NewFloat(float64(c)))
		want, _ := exact.Float32()
		if got := fma32(a, b, c); got != want {
			t.Fatalf("%v·%v + %v is %v, want %v", a, b, c, got, want)
		}
	}
}

// TestSharedOfKernel has variables that do not fit together. A kernel has those that it
// uses.
func TestSharedOfKernel(t *testing.T) {
	const big = ".shared .align 8 .b8 one[40000];\n.shared .align 8 .b8 other[40000];\n"
	for body, fits := range map[string]bool{
		"mov.u64 	%rd5, one;\nst.shared.u64 	[other], %rd5;": false,
		"st.shared.u64 	[other+39992], %rd1;":                true,
	} {
		m, err := Parse("test.ptx", big+kernelText("setp.ne.u32 	%p1, %r1, 0;\n@%p1 bra 	$L1;\n"+body+"\n$L1:"))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		machine := Machine{Memory: NewMemory(1 << 10)}
		err = machine.Launch(k, Grid{Blocks: [3]int{1, 1, 1}, Threads: [3]int{32, 1, 1}}, make([]uint64, 3))
		if (err == nil) != fits {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// TestGrid has grids at the limits of cards and beyond them.
func TestGrid(t *testing.T) {
	m, err := Parse("test.ptx", kernelText("setp.ne.u32 	%p1, %r1, 0;"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	machine := Machine{Memory: NewMemory(1 << 10)}
	for g, fits := range map[Grid]bool{
		{[3]int{1 << 16, 1, 1}, [3]int{1, 1, 1}}:   true,
		{[3]int{1, 1<<16 - 1, 1}, [3]int{1, 1, 1}}: true,
		{[3]int{1, 1 << 16, 1}, [3]int{1, 1, 1}}:   false,
		{[3]int{1, 1, 1 << 16}, [3]int{1, 1, 1}}:   false,
		{[3]int{1 << 31, 1, 1}, [3]int{1, 1, 1}}:   false,
		{[3]int{1, 0, 1}, [3]int{1, 1, 1}}:         false,
		{[3]int{1, 1, 1}, [3]int{16, 1, 64}}:       true,
		{[3]int{1, 1, 1}, [3]int{8, 1, 65}}:        false,
		{[3]int{1, 1, 1}, [3]int{33, 32, 1}}:       false,
	} {
		if err := machine.Launch(k, g, make([]uint64, 3)); (err == nil) != fits {
			t.Errorf("%v: %v", g, err)
		}
	}
	m, err = Parse("test.ptx", strings.Replace(kernelText(""), ")\n{", ")\n.maxntid 8, 4, 1\n.minnctapersm 2\n{", 1))
	if err != nil {
		t.Fatal(err)
	}
	if k, err = m.Kernel("k"); err != nil {
		t.Fatal(err)
	}
	for threads, fits := range map[int]bool{32: true, 33: false} {
		if err := machine.Launch(k, Grid{[3]int{1, 1, 1}, [3]int{threads, 1, 1}}, make([]uint64, 3)); (err == nil) != fits {
			t.Errorf("%d threads where 32 are the bound: %v", threads, err)
		}
	}
}
