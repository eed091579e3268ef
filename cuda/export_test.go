package cuda

import "testing"

// Interpreter returns an interpreted device for tests of what imports this package, and a function
// that tells how many bytes of its memory are in use.
func Interpreter(t testing.TB, bytes int) (dev *Device, used func() int) {
	t.Helper()
	d := interpret(t, bytes)
	return must(newDevice(0, d))(t), d.machine.Memory.Used
}
