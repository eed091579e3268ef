//go:build !cuda

package cuda

import "fmt"

func openDriver(int) (driver, error) {
	return nil, fmt.Errorf("%w: the package is built without the tag cuda", ErrUnavailable)
}
