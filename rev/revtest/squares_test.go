package revtest_test

import (
	"testing"

	"revnum/rev/revtest"
)

func TestLogistic(t *testing.T) { revtest.Kernel(t, logistic) }

func TestSquares(t *testing.T) { revtest.Kernel(t, revtest.Spec[Squares[float64]]{}) }
