//go:build !cuda

package cuda

import "fmt"

var errNoTag = fmt.Errorf("%w: the package is built without the tag cuda", ErrUnavailable)

func countDevices() (int, error) { return 0, errNoTag }

func openDriver(int) (driver, error) { return nil, errNoTag }
