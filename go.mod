module revnum

go 1.26.0

require (
	github.com/james-bowman/sparse v0.0.0-20260216202247-495ee4f84d35
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
	pgregory.net/rapid v1.3.0
)

require (
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // indirect
	golang.org/x/tools v0.52.0 // indirect
)
