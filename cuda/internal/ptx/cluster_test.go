package ptx

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// runTeams runs a kernel with clusters of so many blocks of 32 threads. %r2 is the number of the block in its cluster, %r8 that of the next one
// there, and %rd6 the place of the thread in shared memory, and %rd7 that in the shared memory of the next block. It returns what the kernel
// leaves in an array of 8 bytes for each thread of four blocks, whose part of a thread is at %rd3.
func runTeams(t *testing.T, body string, team, blocks int) ([]uint64, error) {
	t.Helper()
	text := kernelText(fmt.Sprintf(`
	mov.u32 	%%r2, %%cluster_ctarank;
	mov.u32 	%%r3, %%ctaid.x;
	shl.b32 	%%r3, %%r3, 5;
	add.s32 	%%r3, %%r3, %%r1;
	mul.wide.u32 	%%rd4, %%r3, 8;
	add.s64 	%%rd3, %%rd3, %%rd4;
	mul.wide.u32 	%%rd5, %%r1, 8;
	mov.u64 	%%rd6, room;
	add.s64 	%%rd6, %%rd6, %%rd5;
	add.s32 	%%r8, %%r2, 1;
	rem.u32 	%%r8, %%r8, %d;
	cvta.shared.u64 	%%rd7, %%rd6;
	mapa.u64 	%%rd7, %%rd7, %%r8;
`, team) + body)
	m, err := Parse("test.ptx", strings.Replace(text, ")\n{", fmt.Sprintf(")\n.explicitcluster\n.reqnctapercluster %d\n{", team), 1))
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	mem := NewMemory(1 << 12)
	at, err := mem.Alloc(8 * 32 * 4)
	if err != nil {
		t.Fatal(err)
	}
	machine := Machine{Memory: mem, Traffic: map[string]Traffic{}}
	if err := machine.Launch(k, Grid{[3]int{blocks, 1, 1}, [3]int{32, 1, 1}}, []uint64{at, at, at}); err != nil {
		return nil, err
	}
	bytes := make([]byte, 8*32*4)
	if err := mem.Read(bytes, at); err != nil {
		t.Fatal(err)
	}
	out := make([]uint64, 32*4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(bytes[8*i:])
	}
	return out, nil
}

const together = "\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"

// TestCluster has two clusters of two blocks, which give each other numbers through shared memory, and then through global memory.
func TestCluster(t *testing.T) {
	out, err := runTeams(t, together+"st.u64 	[%rd7], %rd4;"+together+`
	ld.shared.u64 	%rd8, [%rd6];
	st.global.u64 	[%rd3], %rd8;`+together+`
	xor.b32 	%r3, %r3, 32;
	mul.wide.u32 	%rd4, %r3, 8;
	ld.param.u64 	%rd9, [k_param_2];
	add.s64 	%rd9, %rd9, %rd4;
	ld.global.u64 	%rd8, [%rd9];`+together+`
	st.global.u64 	[%rd3], %rd8;`, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v != uint64(8*i) {
			t.Errorf("number %d is %d", i, v)
		}
	}
}

// TestClusterErrors does what clusters must not.
func TestClusterErrors(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"before others begin":     {"st.u64 	[%rd7], %rd4;" + together, "may not have begun"},
		"after others end":        {together + "st.u64 	[%rd7], %rd4;", "ends, but others"},
		"no barrier":              {together + "st.u64 	[%rd7], %rd4;\nld.shared.u64 	%rd8, [%rd6];" + together, "nobody wrote"},
		"written too":             {together + "st.u64 	[%rd7], %rd4;\nst.shared.u64 	[%rd6], %rd4;" + together, "without a barrier"},
		"read too":                {"st.shared.u64 	[%rd6], %rd4;" + together + "ld.u64 	%rd8, [%rd7];\nst.shared.u64 	[%rd6], %rd4;" + together, "without a barrier"},
		"barrier of a block only": {together + "st.u64 	[%rd7], %rd4;\nbar.sync 	0;\nld.shared.u64 	%rd8, [%rd6];" + together, "nobody wrote"},
		"global":                  {"ld.param.u64 	%rd9, [k_param_2];\nadd.s64 	%rd9, %rd9, %rd5;\nst.global.u64 	[%rd9], %rd4;" + together, "without a barrier"},
		"some wait for others":    {"setp.eq.u32 	%p1, %r2, 0;\n@%p1 bra 	$L1;" + together + "bra.uni 	$L2;\n$L1:" + together + "$L2:", "another barrier than block"},
		"lanes that do not come":  {"setp.gt.u32 	%p1, %r1, 3;\n@%p1 bra 	$L1;" + together + "$L1:\nbar.sync 	0;", "another barrier than thread"},
		"not shared":              {"cvta.shared.u64 	%rd7, %rd3;\nmapa.u64 	%rd7, %rd7, %r8;", "not in shared memory"},
		"no generic address":      {"mapa.u64 	%rd7, %rd6, %r8;", "no result of cvta.shared"},
		"no such block":           {"mov.u32 	%r8, 2;\ncvta.shared.u64 	%rd7, %rd6;\nmapa.u64 	%rd7, %rd7, %r8;", "block 2 of 2"},
		"outside":                 {together + "st.u64 	[%rd7+1024], %rd4;" + together, "are not in"},
		"as own memory":           {together + "st.shared.u64 	[%rd7], %rd4;" + together, "not in shared memory"},
		"arrival alone":           {"barrier.cluster.arrive.aligned;\nbar.sync 	0;\nbarrier.cluster.wait.aligned;", "after each other"},
		"wait alone":              {"barrier.cluster.wait.aligned;", "after each other"},
		"arrival at the end":      {"barrier.cluster.arrive.aligned;\n}", "after each other"},
		"label between":           {"barrier.cluster.arrive.aligned;\n$L1:\nbarrier.cluster.wait.aligned;", "after each other"},
		"relaxed":                 {"barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;", "without guards are known"},
		"not aligned":             {"barrier.cluster.arrive;\nbarrier.cluster.wait;", "without guards are known"},
		"guard":                   {"setp.eq.u32 	%p1, %r2, 0;\n@%p1 barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;", "without guards are known"},
		"guarded wait":            {"setp.eq.u32 	%p1, %r2, 0;\nbarrier.cluster.arrive.aligned;\n@%p1 barrier.cluster.wait.aligned;", "without guards are known"},
		"operand":                 {"barrier.cluster.arrive.aligned 	0;\nbarrier.cluster.wait.aligned;", "without guards are known"},
		"part of a warp":          {"redux.sync.max.u32 	%r4, %r1, 15;", "whole warp"},
	} {
		if _, err := runTeams(t, test.body, 2, 4); err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "test.ptx:") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	// Blocks of other clusters are not waited for.
	const turn = together + "ld.param.u64 	%rd9, [k_param_2];\nadd.s64 	%rd9, %rd9, %rd5;\nsetp.ne.u32 	%p1, %r3, %r1;\n@!%p1 ld.global.u64 	%rd8, [%rd9];" + together + "@%p1 st.global.u64 	[%rd9], %rd4;"
	if _, err := runTeams(t, "st.global.u64 	[%rd3], %rd4;"+turn, 2, 2); err != nil {
		t.Errorf("a cluster: %v", err)
	}
	if _, err := runTeams(t, "st.global.u64 	[%rd3], %rd4;"+turn, 2, 4); err == nil || !strings.Contains(err.Error(), "without a barrier") {
		t.Errorf("two clusters: %v", err)
	}
	// An arrival at the end of one kernel is none of the next, and a wait may not be the first instruction.
	const head = ".visible .entry k()\n{\n"
	if _, err := Parse("test.ptx", head+"barrier.cluster.wait.aligned;\n}"); err == nil || !strings.Contains(err.Error(), "after each other") {
		t.Errorf("a wait at the beginning: %v", err)
	}
	if _, err := runTeams(t, "", 2, 3); err == nil || !strings.Contains(err.Error(), "are not clusters of 2") {
		t.Errorf("three blocks: %v", err)
	}
	if _, err := runTeams(t, "", 9, 9); err == nil || !strings.Contains(err.Error(), "want up to 8 blocks") {
		t.Errorf("a cluster of 9: %v", err)
	}
}

// TestReduce looks for the largest and the smallest number of a warp.
func TestReduce(t *testing.T) {
	data := make([]uint64, 64)
	out, err := run(t, own+`
	xor.b32 	%r2, %r1, -5;
	redux.sync.max.u32 	%r3, %r2, -1;
	redux.sync.min.u32 	%r4, %r2, -1;
	mov.b64 	%rd5, {%r3, %r4};
	st.global.u64 	[%rd3], %rd5;`, 64, 1, data, data)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		most, least := ^uint32(0), uint32(1<<32-1-31)
		if i >= 32 {
			most, least = most-32, least-32
		}
		if uint32(v) != most || uint32(v>>32) != least {
			t.Errorf("lane %d: %#x and %#x, want %#x and %#x", i, uint32(v), uint32(v>>32), most, least)
		}
	}
}
