package revtest_test

import (
	"testing"

	"revnum/rev/revtest"
)

func TestSquares(t *testing.T) { revtest.Kernel(t, squares) }

func TestLogistic(t *testing.T) { revtest.Kernel(t, logistic) }
