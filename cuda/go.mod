module revnum/cuda

go 1.26.0

require (
	gonum.org/v1/gonum v0.17.0
	gorgonia.org/cu v0.9.6
	revnum v0.0.0
)

require (
	github.com/google/uuid v1.1.1 // indirect
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

replace revnum => ../
